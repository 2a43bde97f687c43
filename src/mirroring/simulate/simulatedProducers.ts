import { NO_PRODUCER_ID } from '../../core/producerId.ts'
import { encodeRecordBatch } from '../../formats/encodeRecordBatch.ts'
import { encodeEndTransactionMarker } from '../../formats/endTransactionMarker.ts'
import { incrementSequence } from '../../formats/sequence.ts'
import type { EndTransactionStep, ProduceStep, RealProducer } from './scenario.ts'

interface Client {
  epoch: number
  nextSequence: number
}

/** A batch that is about to be written. */
export interface Write {
  bytes: Uint8Array
  writer: RealProducer
  /** In words. */
  what: string
  /** To be called when the write was acknowledged: the client goes on from there. */
  acknowledged(): void
}

/** The clients of all clusters: what they know of their own epochs and sequences. */
export class SimulatedProducers {
  readonly #clients = new Map<string, Client>()

  next(
    step: ProduceStep | EndTransactionStep,
    baseOffset: bigint,
    leaderEpoch: number,
    timestamp: bigint,
  ): Write {
    const { cluster, producerId, incarnation = 0 } = step
    const writer = { cluster, producerId, incarnation }
    const client = this.#client(writer)
    const producerEpoch = producerId === NO_PRODUCER_ID ? -1 : (step.epoch ?? client.epoch)
    const common = { baseOffset, producerId, producerEpoch }
    if (step.step !== 'produce') {
      const type = step.step === 'commit' ? 'COMMIT' : 'ABORT'
      const { coordinatorEpoch = 0 } = step
      const bytes = encodeEndTransactionMarker({ ...common, leaderEpoch, timestamp, coordinatorEpoch, type })
      return { bytes, writer, what: `its ${type} marker`, acknowledged: () => {} }
    }
    const { records = 1, transactional = false } = step
    const follows = producerEpoch === client.epoch ? client.nextSequence : 0
    const baseSequence = producerId === NO_PRODUCER_ID ? -1 : (step.sequence ?? follows)
    const bytes = encodeRecordBatch({
      ...common,
      partitionLeaderEpoch: leaderEpoch,
      baseSequence,
      isTransactional: transactional,
      records: Array.from({ length: records }, () => ({ timestamp })),
    })
    const epoch = producerEpoch === 0 ? '' : `, epoch ${producerEpoch}`
    return {
      bytes,
      writer,
      what: `${transactional ? 'a transactional batch' : 'a batch'} (sequence ${baseSequence}${epoch})`,
      acknowledged: () => {
        client.epoch = producerEpoch
        client.nextSequence = incrementSequence(baseSequence, records)
      },
    }
  }

  #client({ cluster, producerId, incarnation }: RealProducer): Client {
    const key = `${cluster} ${producerId} ${incarnation}`
    const known = this.#clients.get(key) ?? { epoch: 0, nextSequence: 0 }
    this.#clients.set(key, known)
    return known
  }
}
