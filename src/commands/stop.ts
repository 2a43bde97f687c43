import { type Command, Option } from 'commander'
import type { OpenTransactionsMode } from '../mirroring/mirrorState.ts'
import { clusterId, MAX_INT32, wholeNumber } from './optionParsers.ts'
import { ON_STOCK_BROKERS, paragraph } from './stockBrokers.ts'

/** The options as commander gives them. */
export interface StopFlags {
  clusterId: string
  sourceClusterId: string
  openTransactions?: OpenTransactionsMode
  leaderEpoch?: number
  again?: true
  unmarked?: true
  dryRun?: true
  ignoreBroker?: true
  json?: true
  quiet?: true
}

const HELP = `
The failover of one mirrored partition, on its files. In this order, each step safe to repeat:
  1. The mirror's state is noted in DIR/mirror-state.json, which brokers leave alone. A directory without one is taken
     to mirror the source cluster that is named.
  2. Open transactions, mirrored and local ones, are settled:
       abort      (default) an ABORT marker ends each; no committed record is lost
       truncate   the log is cut at the first record of the first of them, committed records behind it included
  3. The barrier, a MIRROR_PID_RESET record, is appended. From it on no mirrored producer id is known, on this replica
     and all that read the log.
  4. Indexes, the transaction index and a producer snapshot at the log end are written, as a clean shutdown does.
  5. The state becomes STOPPED. Run again, the command changes nothing, and says where the barrier is.

Stop the brokers first. A run that was killed, or interrupted, must be run again before a broker starts: until then the
end of the log may be half written. A stop that is under way keeps its --open-transactions.

The whole log is replayed, since producer snapshots of Kafka's brokers know no mapped ids. So producers whose batches
were all deleted are forgotten, local ones too: they were known from snapshots alone.

Refused, with no byte changed:
  - a log with damaged records, which opening would cut. What a process that died has left of its last write is cut, and
    said: at the end of the last segment, with no whole batch behind, and not below the recovery point, the high
    watermark, the newest snapshot, or after a clean shutdown;
  - one of which opening would remove records otherwise: by a log start offset, of a checkpoint, above its end, or to
    finish a compaction (.log.swap);
  - a directory whose meta.properties or mirror-state.json names another cluster than --cluster-id, or whose
    mirror-state.json names another source;
  - one without mirror-state.json whose producers are all local, as in the source itself; --unmarked says that it is the
    mirror. A log without producers is taken;
  - one that is STOPPED and does not hold the barrier of that stop (unless all up to there was deleted), and one with
    mapped batches behind it: it was mirrored again, by something that keeps no mirror-state.json. --again stops it
    again, with another barrier; the source may be another one then. Mirrored batches without a producer cannot be seen;
  - one in a log directory whose .lock a running broker is seen to hold (on Linux, in /proc/locks); --ignore-broker goes
    on, and --dry-run does not ask;
  - one with a small file of the broker that is there and cannot be read: a checkpoint, leader epochs, meta.properties,
    partition.metadata. Only a file that is not there means that nothing is known;
  - __cluster_metadata, and directories that a broker deletes, moves or has set aside (-delete, -future, -stray).

Replicas: run it on the copy that will lead, which must hold all that was acknowledged, so on that of the last leader.
The other replicas fetch what was appended. With "truncate", what is written gets a new leader epoch, by which they cut
what the leader has cut; a controller that gives the same epoch to another replica defeats that, and this command knows
no controller. When in doubt, remove the partition's directory from the other brokers while they are down; they fetch it
anew. --leader-epoch sets the epoch, such as the one after the controller's last; with "truncate" one above all others.

The checkpoints of the log directory are not changed. A broker takes the lesser of its recovery point and the log's end,
and of its high watermark and the log's end; a high watermark below the barrier rises once the in-sync replicas have it.

${paragraph(`Note: ${ON_STOCK_BROKERS}`)}

The two offsets that it prints are for a failback, in which the old source mirrors this cluster:
  mirrored end offset    the first offset that the source has not written. Cut the old source's log to it.
  last mirrored offset   the barrier's, which the draft of Cluster Mirroring keeps. The ABORT markers of the stop are
                         below it: cut to it, the old source would keep its own records where this log has them.

Examples:
  $ mirrorpid stop /kafka/orders-0 --cluster-id B --source-cluster-id A --dry-run
  $ mirrorpid stop /kafka/orders-0 --cluster-id B --source-cluster-id A
  $ mirrorpid stop /kafka/orders-0 --cluster-id B --source-cluster-id A --open-transactions truncate --leader-epoch 12`

export function addStopCommand(program: Command): void {
  program
    .command('stop')
    .summary('fail over one partition directory')
    .description(
      'Ends the mirroring of a partition: settles open transactions, writes the barrier, expires mirrored producers.',
    )
    .argument('<dir>', 'a partition directory')
    .requiredOption('--cluster-id <id>', 'this cluster', clusterId)
    .requiredOption('--source-cluster-id <id>', 'the cluster that is mirrored', clusterId)
    .addOption(
      new Option('--open-transactions <mode>', 'truncate or abort (the default), see below').choices([
        'truncate',
        'abort',
      ]),
    )
    .option('--leader-epoch <n>', 'the leader epoch of what is written', wholeNumber(0, MAX_INT32))
    .option('--again', 'stop a mirror that was stopped, and mirrored again since')
    .option('--unmarked', 'the mirror may be one without mapped producer ids')
    .option('--ignore-broker', 'go on although a running broker holds the lock of the log directory')
    .option('--dry-run', 'change nothing; tell what would be done')
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only errors and warnings')
    .addHelpText('after', HELP)
    .action(async (directory: string, flags: StopFlags) => {
      const { runStop } = await import('./stopRun.ts')
      await runStop(directory, flags)
    })
}
