import type { Command } from 'commander'
import type { DumpFormat } from '../dump/dumpFormat.ts'
import { type DumpOptions, NO_LIMIT } from '../dump/dumpOptions.ts'
import { DECODER_CLASSES, type FieldDecoder, fieldDecoderOf } from '../dump/fieldDecoders.ts'
import type { FileReport, FindingKind } from '../dump/fileReport.ts'
import type { MessageDecoder } from '../dump/messages/messageDecoder.ts'
import { TextFormat } from '../dump/textFormat.ts'
import type { CodecOf } from '../formats/compression/codec.ts'
import { type DumpListener, type DumpTotals, dumpPaths } from '../node/dump/dumpPaths.ts'
import { commandCore } from './commandCore.ts'
import type { DumpFlags } from './dump.ts'
import { writeGroups } from './dumpGroups.ts'
import { OutputFailed, StdoutSink } from './dumpOutput.ts'
import {
  count,
  describeFailure,
  EXIT_FAILED,
  EXIT_FINDINGS,
  EXIT_FINE,
  exitStatusOf,
  writeError,
} from './output.ts'
import { ON_STOCK_BROKERS } from './stockBrokers.ts'

export async function runDump(paths: string[], flags: DumpFlags, command: Command): Promise<void> {
  const listed = flags.files?.split(',').filter((path) => path !== '') ?? []
  const all = [...listed, ...paths]
  if (all.length === 0) command.error("error: give at least one path, or '--files <list>'")
  const options = await dumpOptions(flags, command)
  const listener = new Listener(flags)
  try {
    const { core } = commandCore()
    const totals = await dumpPaths(
      all,
      await formatOf(flags, options),
      options,
      new StdoutSink(),
      listener,
      core,
    )
    listener.end(totals)
    process.exitCode = exitStatusOf(totals.errors) || (totals.findings > 0 ? EXIT_FINDINGS : EXIT_FINE)
  } catch (error) {
    if (!(error instanceof OutputFailed)) throw error
    // a reader that has seen enough, such as `head`, wants no more; what was found so far still counts. Other failures
    // are told by whoever listens to stdout.
    process.exitCode = error.isReaderGone ? listener.status : EXIT_FAILED
  }
}

// What most runs have no use for is loaded when it is wanted: a dump of a small file is over in the time that takes.

async function formatOf({ json, quiet }: DumpFlags, options: DumpOptions): Promise<DumpFormat> {
  if (json) return new (await import('../dump/jsonFormat.ts')).JsonFormat(options, !quiet)
  if (quiet) return new (await import('../dump/quietFormat.ts')).QuietFormat()
  return new TextFormat(options)
}

/** The decoder of Kafka's first option, where more than one is given. */
async function messageDecoderOf(flags: DumpFlags): Promise<MessageDecoder | null> {
  if (flags.offsetsDecoder) return (await import('../dump/messages/offsets.ts')).offsetsDecoder()
  if (flags.transactionLogDecoder) {
    return (await import('../dump/messages/transactionLog.ts')).transactionLogDecoder()
  }
  if (flags.clusterMetadataDecoder) {
    return new (await import('../dump/messages/clusterMetadata.ts')).ClusterMetadataDecoder()
  }
  if (flags.remoteLogMetadataDecoder) {
    return new (await import('../dump/messages/remoteLogMetadata.ts')).RemoteLogMetadataDecoder()
  }
  if (flags.shareGroupStateDecoder) {
    return (await import('../dump/messages/shareGroupState.ts')).shareGroupStateDecoder()
  }
  return null
}

function lazyCodecs(): CodecOf {
  let codecs: CodecOf | null = null
  return (compressionType) => {
    if (codecs !== null) return codecs(compressionType)
    return import('../node/segments/nativeCodecs.ts').then(({ nativeCodecs }) => {
      codecs ??= nativeCodecs()
      return codecs(compressionType)
    })
  }
}

async function dumpOptions(flags: DumpFlags, command: Command): Promise<DumpOptions> {
  const messageDecoder = await messageDecoderOf(flags)
  const { keyDecoderClass, valueDecoderClass } = flags
  const printsData =
    flags.printDataLog === true ||
    messageDecoder !== null ||
    keyDecoderClass !== undefined ||
    valueDecoderClass !== undefined
  return {
    isDeep: printsData || flags.deepIteration === true,
    printsData,
    skipsRecordMetadata: flags.skipRecordMetadata === true,
    verifiesIndexOnly: flags.verifyIndexOnly === true,
    checksIndexSanity: flags.indexSanityCheck === true,
    maxBytes: flags.maxBytes ?? NO_LIMIT,
    keyDecoder: fieldDecoder('--key-decoder-class', keyDecoderClass, command),
    valueDecoder: fieldDecoder('--value-decoder-class', valueDecoderClass, command),
    messageDecoder,
    isExplained: flags.explain === true,
    mappedNote: ON_STOCK_BROKERS,
    maxBatchBytes: flags.maxBatchBytes,
    codecs: lazyCodecs(),
  }
}

function fieldDecoder(option: string, name: string | true | undefined, command: Command): FieldDecoder {
  if (name === undefined || name === true) return 'string'
  const decoder = fieldDecoderOf(name)
  if (decoder !== null) return decoder
  return command.error(
    `error: option '${option}': the class ${name} is not there, since Java classes cannot be loaded; there are ` +
      DECODER_CLASSES.join(', '),
  )
}

/** Says on stderr what Kafka's tool says there, and findings and notes as they come up. */
class Listener implements DumpListener {
  status = EXIT_FINE
  readonly #isQuiet: boolean
  readonly #isJson: boolean
  readonly #reports: FileReport[] = []
  readonly #counts = new Map<FindingKind, number>()

  constructor({ quiet, json }: DumpFlags) {
    this.#isQuiet = quiet === true
    this.#isJson = json === true
  }

  finding(path: string, { kind, message }: { kind: FindingKind; message: string }): void {
    if (this.status === EXIT_FINE) this.status = EXIT_FINDINGS
    if (this.#isJson) return
    // the batch's line says "isvalid: false"
    if (kind === 'crc' && !this.#isQuiet) return
    writeError(`${path}: ${message}`)
  }

  note(path: string, message: string): void {
    if (!this.#isQuiet && !this.#isJson) writeError(`note: ${path}: ${message}`)
  }

  unknownFile(path: string): void {
    process.stderr.write(`Ignoring unknown file ${path}\n`)
  }

  failed(error: Error): void {
    this.status = EXIT_FAILED
    writeError(describeFailure(error))
  }

  done(report: FileReport): void {
    for (const [kind, number] of report.counts) {
      this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + number)
    }
    if (hasGroups(report)) this.#reports.push(report)
  }

  end({ findings }: DumpTotals): void {
    if (this.#isJson) return
    writeGroups(this.#reports, !this.#isQuiet)
    if (findings === 0) return
    const kinds = [...this.#counts].map(([kind, number]) => `${number} ${KINDS[kind]}`)
    writeError(`${count(findings, 'finding', 'findings')}: ${kinds.join(', ')}`)
  }
}

const KINDS: Record<FindingKind, string> = {
  crc: 'with a wrong CRC',
  unreadable: 'where no batch can be read',
  trailing: 'at the end of a file',
  records: 'in records',
  control: 'in control records',
  index: 'in indexes',
  companion: 'in snapshots or transaction indexes',
}

/** The others need not be kept: a log directory may have very many files. */
function hasGroups(report: FileReport): boolean {
  const { gaps, mismatches, timestampMismatches, outOfOrderTimestamps, offsetsNotFound } = report
  const lists = [gaps.pairs, mismatches, timestampMismatches, outOfOrderTimestamps, offsetsNotFound]
  return lists.some((list) => list.count > 0)
}
