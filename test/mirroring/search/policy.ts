import type { BarrierRule, ProducerStateManagerOptions } from '../../../src/index.ts'

/** What a search is run under. All but the default are known to break; the search must find out how. */
export interface Policy {
  name: string
  /** `legacy` is the draft's first formula, without the guard. */
  mapping: 'guarded' | 'legacy'
  barrierPolicy: NonNullable<ProducerStateManagerOptions['barrierPolicy']>
  withoutRules: readonly BarrierRule[]
}

const guarded = { mapping: 'guarded', barrierPolicy: 'log-order', withoutRules: [] } as const

export const policies = {
  default: { name: 'default', ...guarded },
  legacy: { ...guarded, name: 'legacy', mapping: 'legacy', barrierPolicy: 'ignore' },
  guard: { ...guarded, name: 'guard', barrierPolicy: 'ignore' },
  'stop-only': { ...guarded, name: 'stop-only', barrierPolicy: 'stop-only' },
  'without-R1': { ...guarded, name: 'without-R1', withoutRules: ['R1'] },
  'without-R2': { ...guarded, name: 'without-R2', withoutRules: ['R2'] },
  'without-R3': { ...guarded, name: 'without-R3', withoutRules: ['R3'] },
} satisfies Record<string, Policy>
