import { type Command, Option } from 'commander'
import { clusterId } from './optionParsers.ts'

/** The options as commander gives them. */
export interface RecoverFlags {
  clusterId?: string
  producerIdTest?: 'mirror' | 'stock'
  barrierPolicy?: 'log-order' | 'stop-only' | 'ignore'
  barrierScope?: 'mirrored' | 'all'
  write?: true
  ignoreBroker?: true
  json?: true
  quiet?: true
}

const HELP = `
Opens the directory as a broker does after a crash that has lost its recovery point: every segment is checked batch by
batch, the log is cut at the first damage and later segments go, indexes, leader epochs and producer snapshots are built
anew from the batches. Then it prints what such a broker knows: offsets, producers, open transactions, barriers. The
last stable offset is that with all of the log replicated. The log start offset is the greater of the checkpoint's
beside the directory and the one that a PartitionLog has noted within (log-start-offset-checkpoint).

Nothing is changed without --write; all changes stay in memory. With it they are made, under a lock (.mirrorpid-lock)
that keeps other runs of mirrorpid away, and the log is closed as by a clean shutdown, but no producer snapshot is
written while a mapped producer is known: the log is replayed instead. A run with --write that was killed, or
interrupted, must be run again before a broker starts. Stop the broker first: one that is seen to hold the .lock of the
log directory (on Linux, in /proc/locks) is named, and nothing is done. Producers whose batches were all deleted are
known from snapshots alone, and are forgotten by a recovery.

As Apache Kafka up to at least 4.3 sees the log: --producer-id-test stock --barrier-policy ignore.
  --producer-id-test   mirror (default): batches have a producer unless their id is -1; stock: only ids from 0 on count,
                       so that mapped batches have none
  --barrier-policy     when a MIRROR_PID_RESET acts: log-order (default), wherever it stands; stop-only, unless it names
                       --cluster-id as its source; ignore, never
  --barrier-scope      whom it expires: mirrored (default), ids of -2 and below; all

A small file of the broker (a checkpoint, leader epochs, meta.properties, partition.metadata) that is there and cannot
be read is a finding; what it says is then taken for not known. With --write it is refused.

Exit status: 1 where something had to be cut (zeros at the end, as in a preallocated segment, are no damage), where such
a file cannot be read, or where no broker would start on the log, such as a plain batch of a producer whose transaction
is open; 2 for a directory that is no partition's, and I/O errors.

Examples:
  $ mirrorpid recover /kafka/orders-0 --cluster-id B
  $ mirrorpid recover /kafka/orders-0 --producer-id-test stock --barrier-policy ignore
  $ mirrorpid recover /kafka/orders-0 --write --json`

export function addRecoverCommand(program: Command): void {
  program
    .command('recover')
    .summary('replay a partition as a broker does when it starts')
    .description(
      'Recovers a partition directory, in memory or in place, and prints the producer state of its log.',
    )
    .argument('<dir>', 'a partition directory')
    .option('--cluster-id <id>', 'this cluster; only barrier policy stop-only asks for it', clusterId)
    .addOption(
      new Option('--producer-id-test <test>', 'which batches have a producer').choices(['mirror', 'stock']),
    )
    .addOption(
      new Option('--barrier-policy <policy>', 'when a barrier acts').choices([
        'log-order',
        'stop-only',
        'ignore',
      ]),
    )
    .addOption(new Option('--barrier-scope <scope>', 'whom a barrier expires').choices(['mirrored', 'all']))
    .option('--write', 'change the files')
    .option(
      '--ignore-broker',
      'with --write: go on although a running broker holds the lock of the log directory',
    )
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only findings, warnings and errors')
    .addHelpText('after', HELP)
    .action(async (directory: string, flags: RecoverFlags, command: Command) => {
      if (flags.ignoreBroker && !flags.write)
        command.error("error: option '--ignore-broker' goes with '--write'")
      const { runRecover } = await import('./recoverRun.ts')
      await runRecover(directory, flags)
    })
}
