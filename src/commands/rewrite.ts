import { type Command, Option } from 'commander'
import type { CrcMode } from '../core/core.ts'
import { type JobsFlags, jobsOption } from './jobs.ts'
import { ON_STOCK_BROKERS, paragraph } from './stockBrokers.ts'

/** The options as commander gives them. */
export interface RewriteFlags extends JobsFlags {
  out?: string
  inPlace?: true
  resume?: true
  ignoreBroker?: true
  crc: CrcMode
  unmap?: true
  force?: true
  dryRun?: true
  json?: true
  quiet?: true
}

const HELP = `
PATH is a segment file (.log), a partition directory or a log directory. Of a partition, the segments are rewritten;
with --out the other files are copied as they are, but for producer snapshots and indexes: those are left out (in place:
removed), so that a broker recovers the log and builds them anew. No producer under a negative id may stand in them: a
broker would load it from a snapshot, and hold the last stable offset back for its open transaction for ever. With
--unmap snapshots and transaction indexes are restored; where there is no snapshot, the indexes go too. A partition with
damage in it is not written and the others are; with --crc patch, damage that leaves the batches readable is no
hindrance, and stays visible. Nothing appears under its final name before it is complete.

Partitions of __transaction_state and __cluster_metadata, whose record values hold producer ids, are left out of a log
directory, and refused where a PATH names one.

Where two producers of a partition would come under one id (5 and -7, which is where 5 is mapped to), the partition is
refused: exit status 1, both ids and their first offsets named. A barrier (MIRROR_PID_RESET) between them is fine, as in
every log that failed over; with --unmap it is not, as stock brokers know none. --force goes on; it overrides no damage.

In place, only headers change in segments. What is to change is written to a journal first, beside each segment and
named after it (.mirrorpid-journal); no broker takes that for data. A run that is killed leaves it behind, and the next
one on the same path finishes the work and removes it; until then every other command says so. Ctrl-C names the journals
that it leaves, and how to go on. With --resume, a run over single segment files is finished in those alone, and one
over a partition in all of it, each in its own mode. A segment that has other names (hard links) is replaced by a copy
instead, and those keep the old bytes. Modification times stay as they were, where the user owns the files. The
directory is locked meanwhile (.mirrorpid-lock) against other runs of mirrorpid, not against brokers: a running one that
is seen to hold the .lock of the log directory (on Linux, in /proc/locks) is named, and nothing is done (a dry run does
not ask). Where a broker has added to a half rewritten segment, the journal is finished and what was added is rewritten
too. A small file of the broker (a checkpoint, meta.properties, partition.metadata) that is there and cannot be read is
named, and nothing is done, not even a dry run.

CRC modes:
  patch      (default) computes the new CRC from the old one and the changed id; a batch that was damaged before still
             fails its check afterwards
  verify     the same, and checks every CRC first: a damaged batch is reported and nothing is written
  recompute  makes a fresh CRC for each rewritten batch: a repair, and the only mode that can hide damage

${paragraph(`Which brokers may serve the result: ${ON_STOCK_BROKERS}`)}
--unmap is the way back, to the cluster that the ids are from.

Examples:
  $ mirrorpid rewrite /kafka/orders-0 --out /mapped
  $ mirrorpid rewrite /kafka --out /mapped --crc verify
  $ mirrorpid rewrite 00000000000000000000.log --out /mapped --json
  $ mirrorpid rewrite /mapped/orders-0 --in-place --unmap
  $ mirrorpid rewrite /mapped/orders-0 --in-place --dry-run
  $ mirrorpid rewrite /mapped/orders-0 --in-place --resume`

export function addRewriteCommand(program: Command): void {
  program
    .command('rewrite')
    .summary('map producer ids to -(id + 2), or restore them')
    .description(
      'Maps producer ids p >= 0 to -(p + 2), so that they collide with none of the target cluster; with --unmap, ' +
        'restores them.',
    )
    .argument('<path...>', 'segment files, partition directories or log directories')
    .addOption(
      new Option('--out <dir>', 'write to this directory; made if missing, never overwrites').conflicts(
        'inPlace',
      ),
    )
    .option('--in-place', 'rewrite the files where they are, once all of their partition is found fine')
    .addOption(
      new Option(
        '--resume',
        'with --in-place: only finish what runs that were killed had begun, as those would have',
      ).conflicts(['out', 'unmap', 'crc']),
    )
    .addOption(
      new Option('--crc <mode>', 'patch, verify or recompute (which alone can hide damage), see below')
        .choices(['patch', 'verify', 'recompute'])
        .default('patch'),
    )
    .option(
      '--ignore-broker',
      'with --in-place: go on although a running broker holds the lock of the log directory',
    )
    .option('--unmap', 'restore mapped ids instead of mapping, for the cluster that they are from')
    .addOption(new Option('--dry-run', 'change nothing, and tell what would be').conflicts('resume'))
    .option('--force', 'go on where two producers of a partition would come under one id')
    .addOption(jobsOption())
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only errors and warnings')
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: RewriteFlags, command: Command) => {
      const { runRewrite } = await import('./rewriteRun.ts')
      await runRewrite(paths, flags, command)
    })
}
