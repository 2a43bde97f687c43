// Case K-29: a .wasm file looked up beside the module is lost by bundlers. Each bundle is moved away from its sources and
// from node_modules, and must still run.
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { build as vite } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'
import webpack from 'webpack'
import {
  installedPackage,
  JS_OUTPUT,
  JS_PROGRAM,
  program,
  runNode,
  temporaryDirectory,
  WASM_OUTPUT,
  WASM_PROGRAM,
} from './support.ts'

let project: string

beforeAll(async () => {
  ;({ project } = await installedPackage())
  await writeFile(join(project, 'wasm.mjs'), WASM_PROGRAM)
  await writeFile(join(project, 'js.mjs'), JS_PROGRAM)
  // CommonJS output knows no top-level await
  const sync = program(`import { loadCoreSync } from 'mirrorpid'\nconst core = loadCoreSync()`)
  await writeFile(join(project, 'sync.mjs'), sync)
})

/** Moves the only file of a build to a place of its own and runs it there. */
async function runAlone(directory: string, extension: string) {
  const names = await readdir(directory)
  const scripts = names.filter((name) => /\.(js|mjs|cjs)$/.test(name))
  expect(names, 'one file, nothing beside it').toEqual(scripts)
  expect(scripts).toHaveLength(1)
  const alone = await temporaryDirectory()
  await copyFile(join(directory, scripts[0]!), join(alone, `bundle.${extension}`))
  await rm(directory, { recursive: true })
  return runNode(alone, `bundle.${extension}`)
}

const expected = (stdout: string) => ({ stdout, stderr: '', status: 0 })

describe('K-29: esbuild', () => {
  it.each([
    ['esm', 'wasm.mjs', 'mjs', WASM_OUTPUT],
    ['esm', 'js.mjs', 'mjs', JS_OUTPUT],
    ['cjs', 'sync.mjs', 'cjs', WASM_OUTPUT],
    ['cjs', 'js.mjs', 'cjs', JS_OUTPUT],
  ] as const)('%s of %s', async (format, entry, extension, output) => {
    for (const platform of ['node', 'browser'] as const) {
      const outdir = join(project, 'out')
      await esbuild({
        absWorkingDir: project,
        entryPoints: [entry],
        bundle: true,
        format,
        platform,
        outdir,
        logLevel: 'warning',
      })
      expect(await runAlone(outdir, extension)).toEqual(expected(output))
    }
  })
})

describe('K-29: vite', () => {
  it.each([
    ['wasm.mjs', WASM_OUTPUT],
    ['js.mjs', JS_OUTPUT],
  ])('build of %s', async (entry, output) => {
    const outDir = join(project, 'out')
    await vite({
      root: project,
      configFile: false,
      logLevel: 'warn',
      build: {
        outDir,
        target: 'es2022',
        lib: { entry, formats: ['es'], fileName: 'bundle' },
        emptyOutDir: true,
      },
    })
    expect(await runAlone(outDir, 'mjs')).toEqual(expected(output))
  })
})

describe('K-29: webpack', () => {
  it.each([
    ['node', 'wasm.mjs', WASM_OUTPUT],
    ['web', 'wasm.mjs', WASM_OUTPUT],
    ['web', 'js.mjs', JS_OUTPUT],
  ])('for %s: %s', async (target, entry, output) => {
    const path = join(project, 'out')
    await mkdir(path, { recursive: true })
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
      webpack(
        {
          mode: 'production',
          target: [target, 'es2022'],
          context: project,
          entry: `./${entry}`,
          output: { path, filename: 'bundle.mjs', module: true },
          experiments: { outputModule: true },
        },
        (error, result) => (error ? reject(error) : resolve(result)),
      )
    })
    expect(stats?.toJson({ all: false, errors: true, warnings: true })).toMatchObject({
      errors: [],
      warnings: [],
    })
    expect(await runAlone(path, 'mjs')).toEqual(expected(output))
  })
})
