import { type Command, InvalidArgumentError, Option } from 'commander'
import type { AuditSource } from '../node/audit/auditSources.ts'
import { wholeNumber } from './optionParsers.ts'

/** The options as commander gives them. */
export interface AuditFlags {
  source?: AuditSource[]
  transactionTimeout: number
  internalTopic?: true
  maxFindings: number
  json?: true
  quiet?: true
}

const HELP = `
PATH is a segment file (.log), a partition directory (its segments are one log) or a log directory. Found is what
brokers let pass on a mirrored log, with offset, producer id and epoch, and what readers of the log get wrong:
  sequence               in one epoch, a sequence that does not follow: a gap, a repeat, a step back
  epoch                  an epoch below one that the producer had before
  transaction            a marker of another epoch, data of another producer in an open transaction, plain data in one
                         (a broker does not start then), one left open at a barrier, a pair of which one half was mapped
  hanging-transaction    open, and begun behind its own ABORT, or not heard of for longer than a transaction may take
                         by the log's newest timestamp; none later than now, or than its file's last change, counts
  overlap                with --source: ids under which producers of several sources would meet in one log

No finding is: a wrapped sequence, an epoch that starts at 0, what compaction or retention removed, a producer that came
back behind a barrier or after a day, a marker without a transaction, a transaction that came home under its mapped id.
Of __consumer_offsets and the like, sequences are not looked at. Transactions open at the end of the log are listed, and
ids that a rewrite would put under one (5 and -7) are noted.

With --source, nothing is mirrored: what a mirror of these logs would hold is predicted. Ids >= 0 are mapped, others
stay. Of log directories, partitions of the same name go into one log; else all do. A name stands for one cluster.

Damaged batches are left out, said on stderr, and make the exit status 1.

Examples:
  $ mirrorpid audit /kafka/orders-0
  $ mirrorpid audit /kafka --json --quiet
  $ mirrorpid audit --source A=/clusterA/kafka --source B=/clusterB/kafka
  $ mirrorpid audit /kafka/orders-0 --transaction-timeout 3600000       where transaction.max.timeout.ms is an hour`

export function addAuditCommand(program: Command): void {
  program
    .command('audit')
    .summary('find colliding producer ids and hanging transactions')
    .description(
      'Finds producers that collide under one id, and transactions that nothing will end. Changes nothing.',
    )
    .argument('[path...]', 'segment files, partition directories or log directories')
    .option(
      '--source <name=path>',
      'a log that one log is to mirror together with others (repeatable)',
      addSource,
    )
    .addOption(
      new Option('--transaction-timeout <ms>', "the brokers' transaction.max.timeout.ms")
        .argParser(wholeNumber(1))
        .default(900_000),
    )
    .option('--internal-topic', 'a coordinator writes this topic: sequences say nothing')
    .addOption(
      new Option('--max-findings <n>', 'list so many, count the others')
        .argParser(wholeNumber(1))
        .default(1000),
    )
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only findings and errors')
    .addHelpText('after', HELP)
    .action(async (paths: string[], flags: AuditFlags, command: Command) => {
      if (paths.length === 0 && flags.source === undefined) {
        command.error("error: missing required argument 'path' (or --source)")
      }
      const { runAudit } = await import('./auditRun.ts')
      await runAudit(paths, flags)
    })
}

function addSource(text: string, before: AuditSource[] = []): AuditSource[] {
  const at = text.indexOf('=')
  if (at > 0 && at < text.length - 1)
    return [...before, { name: text.slice(0, at), path: text.slice(at + 1) }]
  throw new InvalidArgumentError('It must be NAME=PATH, such as A=/clusterA/kafka.')
}
