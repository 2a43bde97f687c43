// The site, out of each bundler: a directory with `page.html`, `worker.html` and what they load.
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { build as vite } from 'vite'
import webpack from 'webpack'

const PAGES = ['page.html', 'worker.html']

async function copyPages(place: string, output: string): Promise<void> {
  await mkdir(output, { recursive: true })
  for (const page of PAGES) await cp(join(place, page), join(output, page))
}

async function withEsbuild(place: string): Promise<string> {
  const outdir = join(place, 'out')
  await copyPages(place, outdir)
  const entryPoints = ['page.js', 'worker.js', 'starter.js']
  const options = { bundle: true, splitting: true, format: 'esm', platform: 'browser' } as const
  await esbuild({ ...options, absWorkingDir: place, entryPoints, outdir, logLevel: 'warning' })
  return outdir
}

async function withVite(place: string): Promise<string> {
  const outDir = join(place, 'out')
  await vite({
    root: place,
    configFile: false,
    logLevel: 'warn',
    base: './',
    worker: { format: 'es' },
    build: { outDir, target: 'es2022', rollupOptions: { input: PAGES.map((page) => join(place, page)) } },
  })
  return outDir
}

async function withWebpack(place: string): Promise<string> {
  const path = join(place, 'out')
  await copyPages(place, path)
  await runWebpack({
    target: ['web', 'es2022'],
    context: place,
    entry: { page: './page.js', starter: './starter.js' },
    output: { path, filename: '[name].js', module: true },
  })
  return path
}

/** A build for production as an ES module. An error or a warning is a failure. */
export async function runWebpack(options: webpack.Configuration): Promise<void> {
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
    const configuration = { mode: 'production', experiments: { outputModule: true }, ...options } as const
    webpack(configuration, (error, result) => (error ? reject(error) : resolve(result)))
  })
  const { errors = [], warnings = [] } = stats!.toJson({ all: false, errors: true, warnings: true })
  const [problem] = [...errors, ...warnings]
  if (problem !== undefined) throw new Error(`webpack: ${problem.message}`)
}

export const bundlers: Record<string, (place: string) => Promise<string>> = {
  esbuild: withEsbuild,
  vite: withVite,
  webpack: withWebpack,
}
