import { type Command, Option } from 'commander'
import { MAX_INT32, wholeNumber } from './optionParsers.ts'

/** The options as commander gives them; those of Kafka's tool have its names. */
export interface DumpFlags {
  files?: string
  printDataLog?: true
  deepIteration?: true
  skipRecordMetadata?: true
  verifyIndexOnly?: true
  indexSanityCheck?: true
  maxMessageSize?: number
  maxBytes?: number
  maxBatchBytes: number
  keyDecoderClass?: string | true
  valueDecoderClass?: string | true
  offsetsDecoder?: true
  transactionLogDecoder?: true
  clusterMetadataDecoder?: true
  remoteLogMetadataDecoder?: true
  shareGroupStateDecoder?: true
  explain?: true
  json?: true
  quiet?: true
}

const DEFAULT_BATCH_BYTES = 128 * 1024 * 1024
const int32 = wholeNumber(0, MAX_INT32) // as Kafka's tool takes them

const HELP = `
Prints what kafka-dump-log (DumpLogSegments of Kafka 4.3) prints, line by line, and takes its options. PATH is a file,
or a partition directory or log directory, of which all these files are dumped in the order of their names:
  .log .checkpoint       batches, and records with --deep-iteration or --print-data-log
  .index .timeindex      entries, each checked against the .log beside it
  .txnindex .snapshot    aborted transactions, producers

Damage does not end it. A batch with a wrong CRC has "isvalid: false". Where no batch can be read, stderr says where and
which was the last good one; then the next batch is searched for and the dump goes on there. Records that cannot be read
end their batch only. MIRROR_PID_RESET records are shown as: MirrorPidReset {"version":0,"sourceClusterId":"..."}

Decoder classes: StringDecoder (the default), IntegerDecoder, LongDecoder and DefaultDecoder (bytes, in hexadecimal),
each with org.apache.kafka.tools.api. before it.

--json prints one document, written as the dump goes on:
  { files: [{ path, kind, baseOffset?, batches: [{ ...the names of the batch line, records?: [{ offset, timestamp,
    keySize, valueSize, sequence, headerKeys, key | keyBase64, value | valueBase64, control? }] }] | entries: [...],
    batchCount?, validBytes?, trailingBytes?, mismatches? and the other lists of Kafka's stderr,
    findings: [{ kind, message, position }], findingCount, notes }], findingCount, errors }
With --quiet it has no batches and entries.

Exit status: 0 fine; 1 findings (a wrong CRC, damage, an index that does not fit); 2 usage or I/O error. Offsets that
are not consecutive are listed as by Kafka's tool, and are no finding: compaction makes such gaps.

Examples:
  $ mirrorpid dump /kafka/orders-0/00000000000000000000.log --print-data-log
  $ mirrorpid dump --files 00000000000000000000.log,00000000000000000000.index
  $ mirrorpid dump /mapped/orders-0 --explain              which producer a mapped id comes from
  $ mirrorpid dump /kafka/orders-0 --quiet                 findings only`

export function addDumpCommand(program: Command): void {
  program
    .command('dump')
    .summary('print batches, records and indexes, as kafka-dump-log does')
    .description('Prints logs, indexes and producer snapshots, as kafka-dump-log does.')
    .argument('[path...]', 'files, partition directories or log directories')
    .option('--files <list>', 'files to dump, separated by commas')
    .option('--print-data-log', 'print keys and values too')
    .option('--deep-iteration', 'print records too')
    .option('--skip-record-metadata', 'of records, print keys and values only')
    .option('--verify-index-only', 'check indexes without printing their entries')
    .option('--index-sanity-check', "make Kafka's sanity check of indexes only")
    .option('--max-message-size <bytes>', "taken as by Kafka's tool; no size needs it here", int32)
    .option('--max-bytes <bytes>', 'read only so much of a log', int32)
    .option('--key-decoder-class [class]', 'show keys as this class decodes them')
    .option('--value-decoder-class [class]', 'show values as this class decodes them')
    .option('--offsets-decoder', 'show records of __consumer_offsets')
    .option('--transaction-log-decoder', 'show records of __transaction_state')
    .option('--cluster-metadata-decoder', 'show records of __cluster_metadata')
    .option('--remote-log-metadata-decoder', 'show records of __remote_log_metadata')
    .option('--share-group-state-decoder', 'show records of __share_group_state')
    .addOption(
      new Option('--max-batch-bytes <bytes>', 'the most that the records of one batch may take, to be shown')
        .argParser(int32)
        .default(DEFAULT_BATCH_BYTES),
    )
    .option('--explain', 'add the source id of mapped producer ids, and what barriers end')
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only findings and errors')
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: DumpFlags, command: Command) => {
      const { runDump } = await import('./dumpRun.ts')
      await runDump(paths, flags, command)
    })
}
