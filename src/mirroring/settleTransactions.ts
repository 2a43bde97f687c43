import { encodeEndTransactionMarker } from '../formats/endTransactionMarker.ts'
import type { Leader } from './leader.ts'
import type { OpenTransactionsMode } from './mirrorState.ts'

/**
 * Ends the transactions that are open when a mirror stops, mirrored and local. Done again, it does the rest.
 *
 * @param end where what was mirrored ends; `truncate` cuts the log to it
 */
export function settleTransactions(
  leader: Leader,
  mode: OpenTransactionsMode,
  end: bigint,
  timestamp: () => bigint,
): void {
  const { log } = leader
  if (mode === 'truncate') {
    if (end < log.logEndOffset) leader.truncateTo(end)
    return
  }
  for (const { producerId, producerEpoch, coordinatorEpoch } of log.producerState.ongoingTransactions) {
    const marker = encodeEndTransactionMarker({
      type: 'ABORT',
      baseOffset: log.logEndOffset,
      leaderEpoch: leader.leaderEpoch,
      timestamp: timestamp(),
      producerId,
      // a source may hold a negative one, which no marker can have; a higher one ends the transaction too
      producerEpoch: Math.max(producerEpoch, 0),
      // that of the coordinator which is known here; a lower one would be fenced
      coordinatorEpoch: Math.max(coordinatorEpoch, 0),
    })
    leader.append(marker, 'coordinator')
  }
}
