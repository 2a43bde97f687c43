// Case K-28: `buf.buffer` without its offset addresses the shared pool: wrong bytes read, neighbours overwritten.
import { describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import { jsCore } from '../../src/js.ts'
import { batch, hasValidCrc, pattern } from '../support/batches.ts'

const original = batch({ producerId: 5n, payload: pattern(200) })
const AT = 3

function filled(memory: Uint8Array): Uint8Array {
  memory.fill(0xaa)
  memory.set(original, AT)
  return memory
}

const memories: [string, () => Uint8Array][] = [
  ['a pooled Buffer', () => filled(Buffer.allocUnsafe(1024))],
  ['a Uint8Array', () => filled(new Uint8Array(1024))],
  ['a SharedArrayBuffer', () => filled(new Uint8Array(new SharedArrayBuffer(1024)))],
  ['a resizable ArrayBuffer', () => filled(new Uint8Array(resizable(1024)))],
]

function resizable(byteLength: number): ArrayBuffer {
  const Resizable = ArrayBuffer as unknown as new (length: number, options: object) => ArrayBuffer
  return new Resizable(byteLength, { maxByteLength: 2 * byteLength })
}

describe.each([loadCoreSync(), jsCore()])('K-28: $backend', (core) => {
  it.each(memories)('%s: the caller’s memory changes, in the twelve bytes only', (_, make) => {
    for (const crc of ['patch', 'verify', 'recompute'] as const) {
      const memory = make()
      core.rewrite(memory.subarray(AT, AT + original.length), { crc })
      const changed = [...memory.keys()].filter((at) => memory[at] !== filled(new Uint8Array(1024))[at])
      for (const at of changed) {
        const field = at - AT
        expect((field >= 17 && field <= 20) || (field >= 43 && field <= 50), `byte ${field}`).toBe(true)
      }
      const after = Buffer.from(memory.subarray(AT, AT + original.length))
      expect(after.readBigInt64BE(43)).toBe(-7n)
      expect(hasValidCrc(after)).toBe(true)
    }
  })

  it.each(memories)('%s through a DataView', (_, make) => {
    const memory = make()
    const view = new DataView(memory.buffer, memory.byteOffset + AT, original.length)
    expect(core.rewrite(view, { crc: 'verify' }).rewritten).toBe(1)
    expect(core.verify(view).corrupt).toEqual([])
    expect(view.getBigInt64(43)).toBe(-7n)
  })

  it('a view of length zero', () => {
    const memory = filled(new Uint8Array(1024))
    expect(core.rewrite(memory.subarray(AT, AT)).batches).toBe(0)
    expect(memory).toEqual(filled(new Uint8Array(1024)))
  })
})
