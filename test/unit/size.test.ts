import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Both builds are embedded in the package, so each byte is loaded by everyone who imports it. */
const LIMIT = 8 * 1024

describe('the compiled core', () => {
  it.each(['core.wasm', 'core.scalar.wasm'])('%s stays below 8 KiB', (file) => {
    const { length } = readFileSync(new URL(`../../dist/${file}`, import.meta.url))
    expect(length).toBeGreaterThan(1024)
    expect(length).toBeLessThan(LIMIT)
  })
})
