import type { DumpFormat } from '../../src/dump/dumpFormat.ts'
import { type DumpOptions, NO_LIMIT } from '../../src/dump/dumpOptions.ts'
import { DumpSession } from '../../src/dump/dumpSession.ts'
import { FileReport, type Finding } from '../../src/dump/fileReport.ts'
import { dumpLog } from '../../src/dump/logDump.ts'
import { TextFormat } from '../../src/dump/textFormat.ts'
import { codecOf } from '../../src/formats/compression/codec.ts'
import { encodeRecordBatch, type RecordBatchSpec } from '../../src/formats/encodeRecordBatch.ts'
import type { ByteSource } from '../../src/log/byteSource.ts'
import { loadCoreSync } from '../../src/wasm/load.ts'

const core = loadCoreSync()

/** Bytes as a file; counts what is read of it. */
export function memorySource(bytes: Uint8Array): ByteSource & { bytesRead: number } {
  const copy = (room: Uint8Array, position: number) => {
    const length = Math.min(room.length, bytes.length - position)
    room.set(bytes.subarray(position, position + length))
    return length
  }
  return {
    size: bytes.length,
    bytesRead: 0,
    async read(room, position) {
      this.bytesRead += room.length
      if (copy(room, position) !== room.length) throw new Error('read beyond the end')
    },
    readNow: copy,
  }
}

export function dumpOptions(options: Partial<DumpOptions> = {}): DumpOptions {
  return {
    isDeep: options.printsData === true,
    printsData: false,
    skipsRecordMetadata: false,
    verifiesIndexOnly: false,
    checksIndexSanity: false,
    maxBytes: NO_LIMIT,
    keyDecoder: 'string',
    valueDecoder: 'string',
    messageDecoder: null,
    isExplained: false,
    maxBatchBytes: 1024 * 1024 * 128,
    codecs: codecOf,
    ...options,
  }
}

export interface Dumped {
  lines: string[]
  findings: Finding[]
  notes: string[]
  report: FileReport
  source: ReturnType<typeof memorySource>
}

/** Prints through a format into memory. */
export async function printed(
  format: DumpFormat,
  options: DumpOptions,
  print: (session: DumpSession, report: FileReport) => Promise<void>,
): Promise<Omit<Dumped, 'source'>> {
  const chunks: Uint8Array[] = []
  const session = new DumpSession(core, format, options, {
    write: async (chunk) => {
      chunks.push(chunk.slice())
    },
  })
  const findings: Finding[] = []
  const notes: string[] = []
  const report = new FileReport('x.log', '/x.log', {
    finding: (_path, finding) => findings.push(finding),
    note: (_path, note) => notes.push(note),
  })
  await print(session, report)
  await session.drain()
  const text = Buffer.concat(chunks).toString('utf8')
  return { lines: text.split('\n').slice(0, -1), findings, notes, report }
}

/** Dumps bytes as a log with base offset 0. */
export async function dumpBytes(bytes: Uint8Array, given: Partial<DumpOptions> = {}): Promise<Dumped> {
  const options = dumpOptions(given)
  const source = memorySource(bytes)
  const result = await printed(new TextFormat(options), options, (session, report) =>
    dumpLog(source, session, report, 0n, 'x.log'),
  )
  return { ...result, source }
}

/** A batch of real records, `count` of them from `baseOffset` on. */
export function dataBatch(
  baseOffset: number,
  count = 2,
  spec: Partial<RecordBatchSpec> = {},
  value = 'some value',
): Buffer {
  return Buffer.from(
    encodeRecordBatch({
      baseOffset: BigInt(baseOffset),
      partitionLeaderEpoch: 0,
      producerId: 5n,
      producerEpoch: 0,
      baseSequence: baseOffset,
      records: Array.from({ length: count }, (_, index) => ({
        timestamp: 1700000000000n + BigInt(index),
        key: Buffer.from(`k${baseOffset + index}`),
        value: Buffer.from(value),
      })),
      ...spec,
    }),
  )
}

/** The positions of the batches whose lines were printed. */
export function positions(lines: readonly string[]): number[] {
  return lines
    .flatMap((line) => /^(?:baseOffset|offset): .* position: (\d+) /.exec(line)?.[1] ?? [])
    .map(Number)
}
