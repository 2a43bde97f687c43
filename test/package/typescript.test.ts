// The types of the installed tarball, under the ways in which projects are set up: each checks the declarations too.
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { placeIn, root, runNode } from './support.ts'

/** For any runtime: what it takes and gives, and what it must not take. */
const UNIVERSAL = `
import { type Core, loadCore, mapProducerId, MirrorPidError, memoryStorage, PartitionLog, rewriteStream } from 'mirrorpid'
import { jsCore, MirrorPidError as SameError } from 'mirrorpid/js'

const id: bigint = mapProducerId(5n)
// @ts-expect-error ids are bigints
mapProducerId(5)
const core: Core = Math.random() < 2 ? jsCore() : await loadCore()
const { rewritten }: { rewritten: number } = core.rewrite(new Uint8Array(0), { crc: 'verify' })
// @ts-expect-error no such mode
core.rewrite(new Uint8Array(0), { crc: 'none' })
const region: Uint8Array<ArrayBuffer> = core.allocate(1).bytes
const error: MirrorPidError = new SameError('OUT_OF_MEMORY', '')
const log = PartitionLog.open(memoryStorage(), { core })
const end: bigint = log.logEndOffset
const report = await rewriteStream({ core }).report
export { end, error, id, region, report, rewritten }
`

const BROWSER = `
import { loadCore, rewriteStream } from 'mirrorpid'
const module: WebAssembly.Module = await WebAssembly.compile(new ArrayBuffer(0))
await loadCore(module)
const mapped: ReadableStream<Uint8Array<ArrayBuffer>> = new Response().body!.pipeThrough(rewriteStream())
export { mapped }
`

const NODE = `
import { rewritePaths, type RewriteResult } from 'mirrorpid/node'
const result: RewriteResult = await rewritePaths(['/data'], { outDirectory: '/mapped', signal: AbortSignal.timeout(1) })
const buffer: Buffer = Buffer.alloc(0)
export { buffer, result }
`

const REQUIRED = `
import mirrorpid = require('mirrorpid')
export const core: mirrorpid.Core = mirrorpid.loadCoreSync()
`

const NODENEXT = { module: 'nodenext' }
const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' }
const PLAIN = { lib: ['es2022'], types: [] }
const DOM = { lib: ['es2022', 'dom', 'dom.iterable'], types: [] }
const NODE_TYPES = { lib: ['es2022'], types: ['node'] }

const setups = [
  ['nodenext, neither browsers nor Node', { ...NODENEXT, ...PLAIN }, ['universal.ts']],
  ['bundler, neither browsers nor Node', { ...BUNDLER, ...PLAIN }, ['universal.ts']],
  ['nodenext, for browsers', { ...NODENEXT, ...DOM }, ['universal.ts', 'browser.ts']],
  ['bundler, for browsers', { ...BUNDLER, ...DOM }, ['universal.ts', 'browser.ts']],
  ['nodenext, for Node', { ...NODENEXT, ...NODE_TYPES }, ['universal.ts', 'node.ts']],
  ['bundler, for Node', { ...BUNDLER, ...NODE_TYPES }, ['universal.ts', 'node.ts']],
] as const

describe.each([
  ['of this project', join(root, 'node_modules', 'typescript', 'lib', 'tsc.js'), setups, ['required.cts']],
  // one of each kind; require() of an ES module is known from 5.8 on
  ['that is the oldest', inject('oldestTypeScript'), [setups[0], setups[3], setups[4]], []],
] as const)('types, for a TypeScript %s', (_, tsc, chosen, required) => {
  let place: string

  beforeAll(async () => {
    place = await placeIn(inject('project'), {
      'universal.ts': UNIVERSAL,
      'browser.ts': BROWSER,
      'node.ts': NODE,
      'required.cts': REQUIRED,
    })
    for (const name of ['@types/node', 'undici-types']) {
      await cp(join(root, 'node_modules', name), join(place, 'node_modules', name), { recursive: true })
    }
  })

  it.each(chosen)('%s', async (_name, setup, files) => {
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false }
    const compilerOptions = { noEmit: true, target: 'es2022', ...strict, ...setup }
    const cts = setup.module === 'nodenext' ? required : []
    await writeFile(
      join(place, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: [...files, ...cts] }),
    )
    expect(await runNode(place, tsc, '-p', '.')).toEqual({ stdout: '', stderr: '', status: 0 })
  })
})
