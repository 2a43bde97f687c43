import { oneOf } from '../core/arguments.ts'

/**
 * Where an append comes from, which decides what is checked: a client's produce request (everything), a transaction or
 * group coordinator (epochs), replication (next to nothing: followers, recovery, loading) or a mirror's fetch from
 * another cluster (as replication).
 *
 * @see Kafka's AppendOrigin; `mirror` is KIP-1279's
 */
export type AppendOrigin = 'client' | 'coordinator' | 'replication' | 'mirror'

const ORIGINS: readonly AppendOrigin[] = ['client', 'coordinator', 'replication', 'mirror']

export function checkOrigin(origin: AppendOrigin): AppendOrigin {
  return oneOf('origin', origin, ORIGINS)
}

/** Whether a leader takes the batch as new, and so may refuse it. What is in a log already is never refused for its epoch. */
export function isLeaderAppend(origin: AppendOrigin): boolean {
  return origin === 'client' || origin === 'coordinator'
}
