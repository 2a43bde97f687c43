import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { instantiate } from '@assemblyscript/loader'
import { describe, expect, it, vi } from 'vitest'
import { loadCore, loadCoreSync } from '../../src/index.ts'
import { SCALAR_CORE_BASE64, SIMD_CORE_BASE64 } from '../../src/wasm/embedded.ts'
import { EXPORT_NAMES } from '../../src/wasm/exports.ts'
import { batch } from '../support/batches.ts'

const readWasm = (name: string) => readFileSync(new URL(`../../dist/${name}`, import.meta.url))
const wasmFile = readWasm('core.wasm')
const module = new WebAssembly.Module(wasmFile)

describe.each([
  ['core.wasm', SIMD_CORE_BASE64, true],
  ['core.scalar.wasm', SCALAR_CORE_BASE64, false],
])('%s', (name, embedded, simd) => {
  const file = readWasm(name)
  const compiled = new WebAssembly.Module(file)

  it('is the embedded one', () => {
    expect(file.toString('base64')).toBe(embedded)
  })

  it('imports nothing and exports what the bindings name', () => {
    expect(WebAssembly.Module.imports(compiled)).toEqual([])
    const names = WebAssembly.Module.exports(compiled).map((entry) => entry.name)
    expect(names.sort()).toEqual([...EXPORT_NAMES].sort())
  })

  // loadCore does without it: it makes Node load its fetch, which takes several times as long as the core
  it('loads through @assemblyscript/loader too', async () => {
    const { exports } = await instantiate<{
      crc32c(position: number, byteLength: number, initial: number): number
    }>(file)
    const check = new TextEncoder().encode('123456789')
    const memory = exports.memory
    if (memory === undefined) throw new Error('no memory')
    const region = Number(
      (exports as unknown as { allocate(byteLength: number): number }).allocate(check.length),
    )
    new Uint8Array(memory.buffer).set(check, region)
    expect(exports.crc32c(region, check.length, 0) >>> 0).toBe(0xe3069283)
  })

  it('stays small', () => {
    expect(file.length).toBeLessThan(8192)
  })

  it('says whether it uses SIMD', () => {
    expect(loadCoreSync(compiled).features).toEqual({ simd })
  })
})

describe('loading', () => {
  it('takes a compiled module, one core for each', async () => {
    const core = await loadCore(module)
    expect(core.backend).toBe('wasm')
    expect(loadCoreSync(module)).toBe(core)
    expect(await loadCore(module)).toBe(core)
    expect(core).not.toBe(loadCoreSync())
    expect(core.rewrite(batch({ producerId: 5n }), { crc: 'verify' }).rewritten).toBe(1)
  })

  it('gives one core for a module, also to those who ask at once', async () => {
    const another = new WebAssembly.Module(wasmFile)
    const [first, second] = await Promise.all([loadCore(another), loadCore(another)])
    expect(first).toBe(second)
    expect(loadCoreSync(another)).toBe(first)
  })

  it('takes two cores apart: bytes in the memory of one are outside bytes to the other', () => {
    const [one, other] = [loadCoreSync(module), loadCoreSync()]
    const region = one.allocate(61)
    region.bytes.set(batch({ producerId: 5n }))
    expect(other.rewrite(region.bytes, { crc: 'verify' }).rewritten).toBe(1)
    expect(one.rewrite(region.bytes, { crc: 'verify' }).alreadyMapped).toBe(1)
    region.free()
  })

  it.each([
    ['bytes instead of a module', wasmFile],
    ['an empty object', {}],
    ['null', null],
    ['another module', new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))],
  ])('refuses %s', async (_, value) => {
    const expected = expect.objectContaining({ code: 'INVALID_ARGUMENT' })
    expect(() => loadCoreSync(value as WebAssembly.Module)).toThrow(expected)
    await expect(loadCore(value as WebAssembly.Module)).rejects.toThrow(expected)
  })

  it('takes the build without SIMD where the engine refuses the other', async () => {
    const validate = vi.spyOn(WebAssembly, 'validate').mockReturnValue(false)
    try {
      vi.resetModules()
      const fresh = await import('../../src/wasm/load.ts')
      expect((await fresh.loadCore()).features.simd).toBe(false)
      expect(validate).toHaveBeenCalledOnce()
    } finally {
      validate.mockRestore()
    }
  })

  it('tries again after a load that failed', async () => {
    vi.resetModules()
    const fresh = await import('../../src/wasm/load.ts')
    const instantiate = vi.spyOn(WebAssembly, 'instantiate').mockRejectedValueOnce(new Error('no memory'))
    try {
      await expect(fresh.loadCore()).rejects.toMatchObject({ code: 'WASM_UNAVAILABLE' })
      expect((await fresh.loadCore()).backend).toBe('wasm')
    } finally {
      instantiate.mockRestore()
    }
  })

  it('works in a worker that is sent the compiled module', async () => {
    const entry = new URL('../../dist/index.js', import.meta.url).href
    const worker = new Worker(
      `import { parentPort, workerData } from 'node:worker_threads'
       import { loadCore } from ${JSON.stringify(entry)}
       const core = await loadCore(workerData.module)
       parentPort.postMessage(core.rewrite(workerData.records).rewritten)`,
      {
        eval: true,
        workerData: { module, records: new Uint8Array(batch({ producerId: 5n })) },
        execArgv: [],
      },
    )
    const rewritten = await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    expect(rewritten).toBe(1)
    await worker.terminate()
  })
})
