import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll } from 'vitest'

/** The built command line; `npm test` builds it. */
export const mainScript = fileURLToPath(new URL('../../dist/commands/main.js', import.meta.url))

/** A directory of the test file's own, removed after its tests. Gives a new empty directory at each call. */
export function temporaryDirectories(): () => string {
  const root = mkdtempSync(join(tmpdir(), 'mirrorpid-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  let number = 0
  return () => {
    const directory = join(root, `${number++}`)
    mkdirSync(directory)
    return directory
  }
}

/** Files by their path below a directory; a nested object is a directory. */
export type Tree = { [name: string]: Uint8Array | string | Tree }

export function writeTree(directory: string, tree: Tree): string {
  mkdirSync(directory, { recursive: true })
  for (const [name, content] of Object.entries(tree)) {
    const path = join(directory, name)
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(path, content)
    else writeTree(path, content)
  }
  return directory
}

/** All files below a directory with their contents in hex, to compare whole trees. */
export function readTree(directory: string): Record<string, string> {
  if (!existsSync(directory)) return {}
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    files.sort().map((path) => [path.slice(directory.length + 1), readFileSync(path).toString('hex')]),
  )
}

export interface CommandOutcome {
  status: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export function runCommand(args: readonly string[], options: { nodeArgs?: string[] } = {}): CommandOutcome {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [...(options.nodeArgs ?? []), mainScript, ...args],
    { encoding: 'utf8', maxBuffer: 1 << 28 },
  )
  return { status, signal, stdout, stderr }
}

/** At which of a command's calls to the file system it gets a signal. */
export interface Moment {
  calls: 'reads' | 'changes'
  /** The number of the call, from 1, of all its threads. */
  at: number
  /** Where only those on some files count: what their paths end in. */
  name?: string
}

/** Runs a command that gets a signal at a moment of its work, not of the clock. */
export function interruptCommand(
  args: readonly string[],
  signal: NodeJS.Signals,
  moment: Moment,
): CommandOutcome {
  const preload = pathToFileURL(join(import.meta.dirname, 'signalAt.mjs'))
  preload.search = `${new URLSearchParams({ signal, ...moment, at: `${moment.at}` })}`
  return runCommand(args, { nodeArgs: ['--import', preload.href] })
}

/** The names of temporary files and directories below a directory. */
export function leftovers(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /\.mirrorpid-[0-9a-f]{8}/.test(name))
}
