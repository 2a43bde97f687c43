import type { Command } from 'commander'
import { type JobsFlags, jobsOption } from './jobs.ts'
import { MAX_INT32, wholeNumber } from './optionParsers.ts'

/** The options as commander gives them. */
export interface VerifyFlags extends JobsFlags {
  records?: true
  maxBatchBytes?: number
  json?: true
  quiet?: true
}

const HELP = `
PATH is a segment file (.log), a partition directory or a log directory. Checked are: sizes and magics of batches, their
CRCs, and that offsets go up from the number in the file's name; of producer snapshots the CRC and the entry count, of
transaction indexes the versions. Nothing is changed.

That finds all damage on disk. With --records the batches with a right CRC are also decompressed and read, which is far
slower and finds what a broken writer has made: another number of records than the batch claims, bytes behind them,
lengths and varints that cannot be, offsets that do not rise or go beyond the batch's last, control records without a
readable key. Entries of magic 0 and 1 are not asked for their records. A batch whose records take more than
--max-batch-bytes, compressed or not, is a finding too.

A segment in which a rewrite in place was killed is not looked at, which is an error: finish that first.

An incomplete last batch is a finding. Zeros at the end are a note: a preallocated segment has them.

Examples:
  $ mirrorpid verify /kafka/orders-0
  $ mirrorpid verify /kafka --quiet
  $ mirrorpid verify /kafka/orders-0 --records
  $ mirrorpid verify 00000000000000000000.log --json`

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .summary('check CRCs, sizes and offsets, and records if asked')
    .description('Checks batches: their sizes, CRCs and offsets, and with --records their records.')
    .argument('<path...>', 'segment files, partition directories or log directories')
    .option('--records', 'check the records too, which is far slower')
    .option(
      '--max-batch-bytes <bytes>',
      'with --records: the most that the records of one batch may take (default: 128 MiB)',
      wholeNumber(0, MAX_INT32),
    )
    .addOption(jobsOption())
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only findings and errors')
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: VerifyFlags) => {
      const { runVerify } = await import('./verifyRun.ts')
      await runVerify(paths, flags)
    })
}
