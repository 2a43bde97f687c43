// Case K-29: a .wasm file looked up beside the module is lost by bundlers. Each bundle is moved away from its sources and
// from node_modules, and must still run. Bundles for pages run here too, and in a browser in browser.test.ts.
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { createServer, build as vite } from 'vite'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { runWebpack } from './bundles.ts'
import {
  fixture,
  placeIn,
  type Ran,
  runNode,
  segmentsModule,
  temporaryDirectory,
  tourSource,
} from './support.ts'
import { TOUR } from './tourOutput.ts'

const FILES = `
import { verifyPaths, rewritePaths } from 'mirrorpid/node'
const [source, outDirectory, jobs] = process.argv.slice(2)
rewritePaths([source], { outDirectory, crc: 'verify', jobs: Number(jobs) })
  .then(({ files, errors, totals }) => console.log(files.length, errors.length, totals.rewritten))
  .then(() => verifyPaths([outDirectory], { jobs: Number(jobs) }))
  .then(({ files }) => console.log(files.every(({ corrupt }) => corrupt.length === 0)))`

/** CommonJS output knows no top-level await. */
const tourOf = (entry: string, name: string, core: string) => `
import * as ${name} from '${entry}'
import { tour } from './tour.js'
import { segments } from './segments.js'
Promise.resolve(${core}).then((core) => tour({ ${name} }, core, segments())).then(console.log)`

let place: string

beforeAll(async () => {
  place = await placeIn(inject('project'), {
    'tour.js': await tourSource(),
    'segments.js': await segmentsModule(),
    'wasm.js': tourOf('mirrorpid', 'mirrorpid', 'mirrorpid.loadCore()'),
    'sync.js': tourOf('mirrorpid', 'mirrorpid', 'mirrorpid.loadCoreSync()'),
    'js.js': tourOf('mirrorpid/js', 'js', 'js.jsCore()'),
    'files.js': FILES,
  })
})

/** Takes a build away from its sources and from node_modules. The wasm is inside, not beside. */
async function movedAway(output: string): Promise<string> {
  const files = await readdir(output, { recursive: true })
  expect(files.filter((file) => file.endsWith('.wasm'))).toEqual([])
  const alone = join(await temporaryDirectory(), 'alone')
  await rename(output, alone)
  return alone
}

const newOutput = () => join(place, `out-${Math.random().toString(36).slice(2)}`)
const fine = (stdout: string): Ran => ({ stdout: `${stdout}\n`, stderr: '', status: 0 })

/** By one thread, and by more: a bundle has no file for a thread, so one does the work. */
async function expectFiles(alone: string, script: string): Promise<void> {
  for (const jobs of ['1', '2']) {
    const out = join(await temporaryDirectory(), 'out')
    expect(await runNode(alone, script, fixture('segments-0'), out, jobs)).toEqual(fine('4 0 16\ntrue'))
  }
}

describe('K-29: esbuild', () => {
  const build = async (entry: string, format: 'esm' | 'cjs', platform: 'node' | 'browser') => {
    const outdir = newOutput()
    await esbuild({
      absWorkingDir: place,
      entryPoints: { bundle: entry },
      outExtension: { '.js': format === 'esm' ? '.mjs' : '.cjs' },
      bundle: true,
      format,
      platform,
      outdir,
      logLevel: 'error',
    })
    return movedAway(outdir)
  }

  it.each([
    ['esm', 'wasm.js', 'node', TOUR.wasm],
    ['esm', 'wasm.js', 'browser', TOUR.wasm],
    ['esm', 'js.js', 'browser', TOUR.js],
    ['cjs', 'sync.js', 'node', TOUR.wasm],
    ['cjs', 'sync.js', 'browser', TOUR.wasm],
    ['cjs', 'js.js', 'node', TOUR.js],
  ] as const)('%s of %s for a %s', async (format, entry, platform, output) => {
    const alone = await build(entry, format, platform)
    expect(await runNode(alone, format === 'esm' ? 'bundle.mjs' : 'bundle.cjs')).toEqual(fine(output))
  })

  it.each(['esm', 'cjs'] as const)('%s of mirrorpid/node', async (format) => {
    await expectFiles(await build('files.js', format, 'node'), format === 'esm' ? 'bundle.mjs' : 'bundle.cjs')
  })
})

describe('K-29: vite', () => {
  const options = { configFile: false, logLevel: 'error', ssr: { noExternal: true } } as const

  it.each([
    ['wasm.js', TOUR.wasm],
    ['js.js', TOUR.js],
  ])('build of %s for pages', async (entry, output) => {
    const outDir = newOutput()
    const lib = { entry, formats: ['es' as const], fileName: () => 'bundle.mjs' }
    await vite({ ...options, root: place, build: { outDir, lib, target: 'es2022' } })
    expect(await runNode(await movedAway(outDir), 'bundle.mjs')).toEqual(fine(output))
  })

  it('build of mirrorpid/node, for a server', async () => {
    const outDir = newOutput()
    const output = { entryFileNames: 'bundle.mjs' }
    await vite({ ...options, root: place, build: { outDir, ssr: 'files.js', rollupOptions: { output } } })
    await expectFiles(await movedAway(outDir), 'bundle.mjs')
  })

  it('development server, for a server', async () => {
    const server = await createServer({
      ...options,
      root: place,
      appType: 'custom',
      server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    })
    try {
      const { tour } = await server.ssrLoadModule('/tour.js')
      const { segments } = await server.ssrLoadModule('/segments.js')
      const mirrorpid = await server.ssrLoadModule('mirrorpid')
      expect(await tour({ mirrorpid }, await mirrorpid.loadCore(), segments())).toBe(TOUR.wasm)
    } finally {
      await server.close()
    }
  })
})

describe('K-29: webpack', () => {
  const build = async (entry: string, target: string) => {
    const path = newOutput()
    await runWebpack({
      target: [target, 'es2022'],
      context: place,
      entry: `./${entry}`,
      output: { path, filename: 'bundle.mjs', chunkFilename: '[id].mjs', module: true },
    })
    return movedAway(path)
  }

  it.each([
    ['wasm.js', 'node', TOUR.wasm],
    ['js.js', 'web', TOUR.js],
  ])('%s for a %s', async (entry, target, output) => {
    expect(await runNode(await build(entry, target), 'bundle.mjs')).toEqual(fine(output))
  })

  it('mirrorpid/node', async () => {
    await expectFiles(await build('files.js', 'node'), 'bundle.mjs')
  })
})
