import type { RecordBatch } from '../../formats/recordBatch.ts'
import { isSameProducer, type Ledger, nameOf } from './ledger.ts'
import type { RealProducer } from './scenario.ts'
import type { SimulatedCluster } from './simulatedCluster.ts'
import type { Collision } from './simulationResult.ts'

/** A producer that comes to an id, and who has it. */
export interface Meeting {
  cluster: string
  offset: bigint
  producerId: bigint
  holder: RealProducer
  comer: RealProducer
}

/** Gathers where two producers are under one id, each case once. */
export class Collisions {
  readonly found: Collision[] = []
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Whom the state of a partition would take a batch for that is about to be appended; null where that is right. */
  meeting({ name, log }: SimulatedCluster, batch: RecordBatch): Meeting | null {
    const { producerId } = batch
    const comer = this.#ledger.writerOf(batch)
    const entry = log.producerState.producers.get(producerId)
    if (comer === null || entry === undefined) return null
    const holder = this.#ledger.holderOf(log, entry)
    if (holder === null || isSameProducer(holder, comer)) return null
    return { cluster: name, offset: log.logEndOffset, producerId, holder, comer }
  }

  add(step: number, { holder, comer, ...place }: Meeting, effect: Collision['effect'], detail = ''): void {
    const producers: Collision['producers'] = [holder, comer]
    const isKnown = this.found.some(
      (known) =>
        known.cluster === place.cluster &&
        known.producerId === place.producerId &&
        known.effect === effect &&
        known.producers.every((one) => producers.some((other) => isSameProducer(one, other))),
    )
    if (isKnown) return
    const message = `${place.cluster}, offset ${place.offset}: ${describe(place.producerId, holder, comer, effect)}${detail}`
    this.found.push({ step, ...place, producers, effect, message })
  }
}

function describe(
  producerId: bigint,
  holder: RealProducer,
  comer: RealProducer,
  effect: Collision['effect'],
): string {
  const [first, second] = [nameOf(holder), nameOf(comer)]
  switch (effect) {
    case 'shared':
      return `${producerId} stands for ${first} and for ${second}`
    case 'marker':
      return `a marker of ${second} meets the state of ${first} under ${producerId}`
    case 'duplicate':
      return `a write of ${second} under ${producerId} is taken for one of ${first}, acknowledged, and lost`
    case 'refused':
      return `a write of ${second} under ${producerId} is refused because of ${first}`
  }
}
