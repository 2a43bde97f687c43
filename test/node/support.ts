import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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

/** Starts a command and sends it a signal after some milliseconds, or once something has come about. */
export async function interruptCommand(
  args: readonly string[],
  when: number | ((pid: number) => boolean),
  signal: NodeJS.Signals,
): Promise<CommandOutcome> {
  const child = spawn(process.execPath, [mainScript, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome: CommandOutcome = { status: null, signal: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    outcome.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    outcome.stderr += text
  })
  const began = performance.now()
  const isTime = () => {
    if (typeof when === 'number') return performance.now() - began >= when
    try {
      return when(child.pid!)
    } catch {
      return false // what it looks at may be renamed or removed while it looks
    }
  }
  const timer = setInterval(() => {
    if (!isTime()) return
    clearInterval(timer)
    child.kill(signal)
  }, 1)
  return new Promise((resolve) => {
    child.on('close', (status, endSignal) => {
      clearInterval(timer)
      resolve({ ...outcome, status, signal: endSignal })
    })
  })
}

/** Whether a process has a file of a name open: it is at work on it. */
export function hasOpen(pid: number, name: string): boolean {
  const descriptors = `/proc/${pid}/fd`
  return readdirSync(descriptors).some((fd) => {
    try {
      return readlinkSync(join(descriptors, fd)).endsWith(`/${name}`)
    } catch {
      return false // closed meanwhile
    }
  })
}

/** The names of temporary files and directories below a directory. */
export function leftovers(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /\.mirrorpid-[0-9a-f]{8}/.test(name))
}
