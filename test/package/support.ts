import { execFile } from 'node:child_process'
import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Ran {
  stdout: string
  stderr: string
  status: number
}

/** Runs a program; a status other than 0 is a result, not an error. */
export async function runIn(cwd: string, command: string, args: string[]): Promise<Ran> {
  try {
    const { stdout, stderr } = await run(command, args, { cwd, maxBuffer: 1 << 24 })
    return { stdout, stderr, status: 0 }
  } catch (error) {
    const { stdout, stderr, code } = error as Ran & { code: number }
    if (typeof code !== 'number') throw error
    return { stdout, stderr, status: code }
  }
}

export async function runNode(cwd: string, ...args: string[]): Promise<Ran> {
  return runIn(cwd, process.execPath, args)
}

export function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'mirrorpid-test-'))
}

/** An empty project with the packed tarball installed, as a user would have it: nothing comes from the source tree. */
export async function installedPackage(): Promise<{ project: string; files: string[] }> {
  const project = await temporaryDirectory()
  const packed = await runIn(root, 'npm', [
    'pack',
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    project,
  ])
  if (packed.status !== 0) throw new Error(packed.stderr)
  const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz'))
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type: 'module' }),
  )
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', `./${tarball}`]
  const installed = await runIn(project, 'npm', args)
  if (installed.status !== 0) throw new Error(installed.stderr)
  const [listing] = JSON.parse(packed.stdout) as { files: { path: string }[] }[]
  return { project, files: listing!.files.map((file) => file.path) }
}

/** A program that rewrites one batch by whatever core it is given and prints what a test can check. */
export function program(core: string): string {
  return `${core}
const batch = new Uint8Array(61)
batch[11] = 49
batch[16] = 2
batch[50] = 5
new DataView(batch.buffer).setUint32(17, core.crc32c(batch.subarray(21)))
const { rewritten } = core.rewrite(batch, { crc: 'verify' })
const pid = new DataView(batch.buffer).getBigInt64(43)
console.log(core.backend, rewritten, String(pid), core.verify(batch).corrupt.length)
`
}

export const WASM_PROGRAM = program(`import { loadCore } from 'mirrorpid'\nconst core = await loadCore()`)
export const JS_PROGRAM = program(`import { jsCore } from 'mirrorpid/js'\nconst core = jsCore()`)
export const WASM_OUTPUT = 'wasm 1 -7 0\n'
export const JS_OUTPUT = 'js 1 -7 0\n'
