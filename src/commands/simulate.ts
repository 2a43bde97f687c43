import { type Command, Option } from 'commander'
import type { SimulationPolicy } from '../mirroring/simulate/policies.ts'

/** The options as commander gives them. */
export interface SimulateFlags {
  policy: SimulationPolicy
  json?: true
  quiet?: true
}

const HELP = `
Plays a scenario on real partition logs in memory, and shows where two producers come to one id. NAME is one of:
  chain                  A -> B -> C -> D, three hops; then C fails over and writes itself
  local-collision        A -> B -> C, two hops; then C fails over and writes itself
  downstream-failover    A -> B -> C; B fails over and writes itself while C mirrors it; then C does
  failback               A -> B; B fails over and writes; A mirrors B, takes over, and is mirrored by B again
  draft-chain            the draft's first table: chain, and D goes on mirroring C
  draft-local-collision  the draft's second table: downstream-failover, up to what C gets of B

Policies:
  legacy     the draft's first formula, -(id + 2) at every hop; no barrier
  guard      ids below 0 stay as they are; no barrier
  stop-only  and a stop writes a barrier, which acts on the cluster that wrote it
  default    and the barrier acts wherever it gets to, in log order

The drawing has a column for each cluster and a row for each batch, with the producer id that it has there. "reset" is
the barrier. Then comes what happened step by step, with the ids that the cluster's producer state holds after it.

FILE is JSON: { "clusters": ["A", { "name": "B", "replicas": 3 }], "steps": [...] }. Steps, with what may be left out in
brackets; ids and offsets above 2^53 are written as strings:
  { "step": "produce", "cluster", "producerId", ["epoch", "sequence", "records", "transactional", "incarnation"] }
  { "step": "commit" or "abort", "cluster", "producerId", ["epoch", "coordinatorEpoch", "incarnation"] }
  { "step": "mirror", "cluster", "source", ["truncateTo"] }       begins to mirror; cuts what the source has not
  { "step": "fetch", "cluster", ["batches"] }
  { "step": "stop", "cluster", ["openTransactions": "abort" or "truncate"] }
  { "step": "pause", "resume" or "restart", "cluster" }
producerId -1 is a plain batch. A producer goes on with the sequence after its last acknowledged batch, unless told
otherwise. What a step may not do is refused, as in a cluster, and the scenario goes on.

Exit status: 0 fine; 1 collisions, or a state that is not the one of its log; 2 usage or I/O error.

Examples:
  $ mirrorpid simulate chain --policy legacy
  $ mirrorpid simulate downstream-failover --policy guard
  $ mirrorpid simulate failback
  $ mirrorpid simulate my-clusters.json --policy stop-only --json`

export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .summary('play chains of mirrors, step by step')
    .description('Shows what becomes of producer ids in chains of mirrors, in failovers and on the way back.')
    .argument('<scenario>', 'the name of a scenario, or a JSON file')
    .addOption(
      new Option('--policy <policy>', 'how ids are mapped and what a barrier does, see below')
        .choices(['legacy', 'guard', 'stop-only', 'default'])
        .default('default'),
    )
    .option('--json', 'print one JSON document; 64-bit numbers as decimal strings')
    .option('--quiet', 'print only collisions and errors')
    .addHelpText('after', HELP)
    .action(async (scenario: string, flags: SimulateFlags) => {
      const { runSimulate } = await import('./simulateRun.ts')
      runSimulate(scenario, flags)
    })
}
