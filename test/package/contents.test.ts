// What is in the tarball, what its entries import, how large they are, and what the linters of packages say to it.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { publint } from 'publint'
import { describe, expect, inject, it } from 'vitest'
import { placeIn, root, runNode } from './support.ts'

const installed = join(inject('project'), 'node_modules', 'mirrorpid')

describe('the tarball', () => {
  it('holds the build, the documents and nothing else', () => {
    const rooms = [
      'bytes',
      'core',
      'wasm',
      'formats',
      'producers',
      'log',
      'mirroring',
      'dump',
      'node',
      'commands',
    ]
    const scripts = new RegExp(
      `^dist/((${rooms.join('|')})/.+|index|js|simulate|errors|mirrorPidError)\\.(js|d\\.ts)$`,
    )
    const others = inject('files').filter((file) => !scripts.test(file))
    expect(others.sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/core.scalar.wasm',
      'dist/core.wasm',
      'package.json',
    ])
  })

  it('has a declaration for each script', () => {
    const of = (end: string) =>
      inject('files')
        .filter((file) => file.startsWith('dist/') && file.endsWith(end))
        .map((file) => file.slice(0, -end.length))
        .sort()
    expect(of('.d.ts')).toEqual(of('.js'))
  })

  it('is fine by publint', async () => {
    const tarball = await readFile(inject('tarball'))
    const { buffer, byteOffset, byteLength } = tarball
    const pack = { tarball: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer }
    expect((await publint({ pack, strict: true })).messages).toEqual([])
  })

  it('has types that resolve, by arethetypeswrong', async () => {
    const cli = join(root, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js')
    // a wasm file has no types: it is loaded by its address
    const without = ['--exclude-entrypoints', 'core.wasm', 'core.scalar.wasm']
    const { stdout, status } = await runNode(
      root,
      cli,
      inject('tarball'),
      '--profile',
      'esm-only',
      ...without,
    )
    expect(status, stdout).toBe(0)
  })

  it('asks for no install script, and for nothing but what it imports', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(Object.keys(manifest.scripts)).not.toContain(script)
    }
    const files = await readdir(join(installed, 'dist'), { recursive: true })
    const imported = await Promise.all(files.filter((file) => file.endsWith('.js')).map(packagesOf))
    expect(Object.keys(manifest.dependencies).sort()).toEqual([...new Set(imported.flat())].sort())
  })
})

async function packagesOf(file: string): Promise<string[]> {
  const text = await readFile(join(installed, 'dist', file), 'utf8')
  return [...text.matchAll(/(?:from|import|import\()\s*'((?:@[\w-]+\/)?[a-z][\w-]*)'/g)].map(
    ([, name]) => name!,
  )
}

/** Bundles some exports for a page, and tells what of a package is loaded at once, and what later. */
async function bundled(program: string) {
  const place = await placeIn(inject('project'), { 'entry.js': program })
  const { metafile, outputFiles } = await build({
    absWorkingDir: place,
    entryPoints: ['entry.js'],
    outdir: 'out',
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
  })
  const packages = new Map<string, Set<string>>([
    ['at once', new Set()],
    ['later', new Set()],
  ])
  let gzipped = 0
  const atOnce = new Set<string>()
  const follow = (path: string): void => {
    if (atOnce.has(path)) return
    atOnce.add(path)
    for (const { path: next, kind } of metafile.outputs[path]!.imports)
      if (kind !== 'dynamic-import') follow(next)
  }
  follow('out/entry.js')
  for (const [path, { inputs }] of Object.entries(metafile.outputs)) {
    const bytes = outputFiles.find((file) => file.path.endsWith(path))!.contents
    if (atOnce.has(path)) gzipped += gzipSync(bytes, { level: 9 }).length
    for (const input of Object.keys(inputs)) {
      const name = /node_modules\/((?:@[\w-]+\/)?[\w-]+)\//.exec(input)?.[1]
      if (name !== undefined) packages.get(atOnce.has(path) ? 'at once' : 'later')!.add(name)
    }
  }
  return { gzipped, atOnce: [...packages.get('at once')!].sort(), later: [...packages.get('later')!].sort() }
}

describe('what a page loads', () => {
  it('of mirrorpid: nothing else at once, and a gzip codec when a batch needs it', async () => {
    const { atOnce, later } = await bundled("export * from 'mirrorpid'")
    expect({ atOnce, later }).toEqual({ atOnce: ['mirrorpid'], later: ['mirrorpid', 'pako'] })
  })

  it('of mirrorpid/js: nothing else', async () => {
    const { atOnce, later } = await bundled("export * from 'mirrorpid/js'")
    expect({ atOnce, later }).toEqual({ atOnce: ['mirrorpid'], later: [] })
  })

  // bytes after gzip, of what is loaded at once
  it.each([
    ['all of mirrorpid', "export * from 'mirrorpid'", 64 * 1024],
    ['the wasm core', "export { loadCore } from 'mirrorpid'", 14 * 1024],
    ['mirrorpid/js', "export * from 'mirrorpid/js'", 6 * 1024],
  ])('%s is no larger than it may be', async (name, program, limit) => {
    const { gzipped } = await bundled(program)
    console.log(`${name}: ${gzipped} bytes after gzip, of ${limit}`)
    expect(gzipped).toBeLessThanOrEqual(limit)
  })

  it.each(['core.wasm', 'core.scalar.wasm'])('%s is no larger than it may be', async (file) => {
    const bytes = await readFile(join(installed, 'dist', file))
    const gzipped = gzipSync(bytes, { level: 9 }).length
    console.log(`${file}: ${bytes.length} bytes, ${gzipped} after gzip`)
    expect(bytes.length).toBeLessThanOrEqual(8 * 1024)
    expect(gzipped).toBeLessThanOrEqual(4 * 1024)
  })
})
