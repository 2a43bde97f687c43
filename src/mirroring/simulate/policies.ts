import type { Core } from '../../core/core.ts'
import { jsCore } from '../../core/jsCore.ts'
import { ATTRIBUTES, CRC, PRODUCER_ID } from '../../core/layout.ts'
import { legacyMapProducerId } from '../../core/producerId.ts'
import { recordBatches } from '../../formats/recordBatches.ts'
import type { ProducerStateManagerOptions } from '../../producers/managerOptions.ts'

/**
 * - `legacy`: the draft's first formula, which maps mapped ids back; no barrier;
 * - `guard`: ids below 0 stay; no barrier;
 * - `stop-only`: and a barrier, which acts where it was written only, as the draft says;
 * - `default`: and the barrier acts wherever it gets to, in log order.
 */
export type SimulationPolicy = 'legacy' | 'guard' | 'stop-only' | 'default'

export const POLICIES: readonly SimulationPolicy[] = ['legacy', 'guard', 'stop-only', 'default']

export interface PolicyRules {
  /** Maps what a mirror fetches. */
  core: Core
  hasBarrier: boolean
  barrierPolicy: NonNullable<ProducerStateManagerOptions['barrierPolicy']>
}

export function rulesOf(policy: SimulationPolicy): PolicyRules {
  if (policy === 'legacy') return { core: legacyCore(), hasBarrier: false, barrierPolicy: 'ignore' }
  if (policy === 'guard') return { core: jsCore(), hasBarrier: false, barrierPolicy: 'ignore' }
  const barrierPolicy = policy === 'stop-only' ? 'stop-only' : 'log-order'
  return { core: jsCore(), hasBarrier: true, barrierPolicy }
}

/** A core that maps as the draft's first formula does. */
function legacyCore(): Core {
  const core = jsCore()
  return {
    ...core,
    rewrite(records) {
      const report = core.verify(records)
      for (const { bytes, isLegacy, producerId } of recordBatches(records)) {
        if (isLegacy) continue
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        view.setBigInt64(PRODUCER_ID, legacyMapProducerId(producerId))
        view.setUint32(CRC, core.crc32c(bytes.subarray(ATTRIBUTES)))
      }
      return report
    },
  }
}
