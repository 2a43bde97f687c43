import { INSIDE } from './crc.ts'
import type { Results } from './results.ts'

/** Where is another faster than we are? What we are compared with, section by section, and with Kafka's own classes. */

interface Comparison {
  section: string
  ours: string
  /** Of the same section, unless another is named. */
  others: [name: string, section?: string][]
}

const NATIVE = '@node-rs/crc32 (native)'
const CRCS: Comparison['others'] = [
  [NATIVE],
  ['@platformatic/wasm-utils'],
  ['hash-wasm'],
  ['plain JavaScript, a table'],
]
const VERIFIES: Comparison['others'] = [[NATIVE], ['Kafka: ensureValid', 'kafka']]
const REWRITES: Comparison['others'] = [
  ['native: recompute'],
  ['Kafka: producer id and Crc32C', 'kafka'],
  ['plain JavaScript: BigInt, full CRC'],
]
const CHECKED_REWRITES: Comparison['others'] = [
  ['native: verify, then recompute'],
  ['Kafka: ensureValid, then producer id and Crc32C', 'kafka'],
]
const ON_A_BUFFER = 'mirrorpid, on a Buffer'

const COMPARISONS: Comparison[] = [
  { section: 'crc', ours: INSIDE, others: CRCS },
  { section: 'crc', ours: ON_A_BUFFER, others: CRCS },
  { section: 'crc-large', ours: INSIDE, others: CRCS },
  { section: 'crc-large', ours: ON_A_BUFFER, others: CRCS },
  { section: 'verify', ours: INSIDE, others: VERIFIES },
  { section: 'verify', ours: ON_A_BUFFER, others: VERIFIES },
  { section: 'verify-large', ours: INSIDE, others: [[NATIVE]] },
  { section: 'rewrite', ours: 'patch, in wasm memory', others: REWRITES },
  { section: 'rewrite', ours: 'patch, on a Buffer', others: REWRITES },
  { section: 'rewrite', ours: 'verify, in wasm memory', others: CHECKED_REWRITES },
  { section: 'rewrite', ours: 'verify, on a Buffer', others: CHECKED_REWRITES },
  { section: 'startup', ours: 'mirrorpid: loadCore', others: [[NATIVE], ...CRCS.slice(1, 3)] },
]

export function printLosses(results: Results): void {
  const rows: Record<string, string>[] = []
  for (const { section, ours, others } of COMPARISONS) {
    for (const figure of results.of(section).filter(({ name }) => name === ours)) {
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
