import * as names from './names.ts'
import type { Results } from './results.ts'

/** Where is another faster than we are? What we are compared with, section by section, and with Kafka's own classes. */

interface Comparison {
  section: string
  ours: string
  /** Of the same section, unless another is named. */
  others: [name: string, section?: string][]
}

const { INSIDE, ON_A_BUFFER, NATIVE, PLATFORMATIC, HASH_WASM } = names
const CRCS: Comparison['others'] = [[NATIVE], [PLATFORMATIC], [HASH_WASM], [names.PLAIN]]
const VERIFIES: Comparison['others'] = [[NATIVE], [names.KAFKA_VERIFY, 'kafka']]
const REWRITES: Comparison['others'] = [
  [names.NATIVE_REWRITE],
  [names.KAFKA_REWRITE, 'kafka'],
  [names.PLAIN_REWRITE],
]
const CHECKED_REWRITES: Comparison['others'] = [
  [names.NATIVE_CHECKED_REWRITE],
  [names.KAFKA_CHECKED_REWRITE, 'kafka'],
]

const COMPARISONS: Comparison[] = [
  { section: 'crc', ours: INSIDE, others: CRCS },
  { section: 'crc', ours: ON_A_BUFFER, others: CRCS },
  { section: 'crc-large', ours: INSIDE, others: CRCS },
  { section: 'crc-large', ours: ON_A_BUFFER, others: CRCS },
  { section: 'verify', ours: INSIDE, others: VERIFIES },
  { section: 'verify', ours: ON_A_BUFFER, others: VERIFIES },
  { section: 'verify-large', ours: INSIDE, others: [[NATIVE]] },
  ...names.PLACES.flatMap((place): Comparison[] => [
    { section: 'rewrite', ours: names.rewriteIn(place, 'patch'), others: REWRITES },
    { section: 'rewrite', ours: names.rewriteIn(place, 'verify'), others: CHECKED_REWRITES },
  ]),
  { section: 'startup', ours: names.LOAD_CORE, others: [[NATIVE], [PLATFORMATIC], [HASH_WASM]] },
]

export function printLosses(results: Results): void {
  const rows: Record<string, string>[] = []
  for (const { section, ours, others } of COMPARISONS) {
    for (const figure of results.by(section, ours)) {
      for (const [name, otherSection = section] of others) {
        const other = results.median(otherSection, figure.case, name)
        if (other === undefined || other >= figure.median) continue
        const times = (figure.median / other).toFixed(1)
        rows.push({ section, case: figure.case, ours, faster: name, by: `${times}x` })
      }
    }
  }
  if (rows.length === 0) return
  console.log('\nWhere others are faster')
  console.table(rows)
}
