import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as layout from '../../src/core/layout.ts'
import * as status from '../../src/core/status.ts'
import { REPORT_FIELDS } from '../../src/wasm/exports.ts'

function assemblyConstants(file: string): Record<string, number> {
  const source = readFileSync(new URL(`../../assembly/${file}`, import.meta.url), 'utf8')
  const matches = source.matchAll(/export const (\w+): \w+ = (0x[0-9a-f]+|\d+)/g)
  return Object.fromEntries([...matches].map(([, name, value]) => [name, Number(value)]))
}

describe('the two halves of the core', () => {
  it('agree on every field offset', () => {
    expect(assemblyConstants('layout.ts')).toEqual({ ...layout })
  })

  it('agree on every status code', () => {
    expect(assemblyConstants('status.ts')).toEqual({ ...status })
  })

  it('agree on the report', () => {
    const offsets = Object.values(assemblyConstants('report.ts'))
    expect(offsets).toEqual(REPORT_FIELDS.map((_, index) => index * 4))
    const names = Object.keys(assemblyConstants('report.ts'))
    const camel = names.map((name) =>
      name
        .replace('REPORT_', '')
        .toLowerCase()
        .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    )
    expect(camel).toEqual([...REPORT_FIELDS])
  })

  it('header fields follow one another without gaps', () => {
    const sizes: [number, number][] = [
      [layout.BASE_OFFSET, 8],
      [layout.BATCH_LENGTH, 4],
      [layout.PARTITION_LEADER_EPOCH, 4],
      [layout.MAGIC, 1],
      [layout.CRC, 4],
      [layout.ATTRIBUTES, 2],
      [layout.LAST_OFFSET_DELTA, 4],
      [layout.BASE_TIMESTAMP, 8],
      [layout.MAX_TIMESTAMP, 8],
      [layout.PRODUCER_ID, 8],
      [layout.PRODUCER_EPOCH, 2],
      [layout.BASE_SEQUENCE, 4],
      [layout.RECORDS_COUNT, 4],
    ]
    let end = 0
    for (const [offset, size] of sizes) {
      expect(offset).toBe(end)
      end += size
    }
    expect(end).toBe(layout.HEADER_SIZE)
  })
})
