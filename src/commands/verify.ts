import type { Command } from 'commander'
import { type JobsFlags, jobsOption } from './jobs.ts'

/** The options as commander gives them. */
export interface VerifyFlags extends JobsFlags {
  json?: true
  quiet?: true
}

const HELP = `
PATH is a segment file (.log), a partition directory or a log directory. Checked are: sizes and magics of batches, their
CRCs, and that offsets go up from the number in the file's name; of producer snapshots the CRC and the entry count, of
transaction indexes the versions. Nothing is changed.

A segment in which a rewrite in place was killed is not looked at, which is an error: finish that first.

An incomplete last batch is a finding. Zeros at the end are a note: a preallocated segment has them.

Examples:
  $ mirrorpid verify /kafka/orders-0
  $ mirrorpid verify /kafka --quiet
  $ mirrorpid verify 00000000000000000000.log --json`

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .summary('check CRCs, sizes and offsets')
    .description('Checks batches: their sizes, CRCs and offsets.')
    .argument('<path...>', 'segment files, partition directories or log directories')
    .addOption(jobsOption())
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only findings and errors')
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: VerifyFlags) => {
      const { runVerify } = await import('./verifyRun.ts')
      await runVerify(paths, flags)
    })
}
