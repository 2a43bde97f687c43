import { execFile } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Ran {
  stdout: string
  stderr: string
  status: number
}

/** Runs a program; a status other than 0 is a result, not an error. */
export async function runIn(
  cwd: string,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  try {
    const options = { cwd, maxBuffer: 1 << 24, env: { ...process.env, ...env } }
    const { stdout, stderr } = await run(command, args, options)
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

/** A place of its own inside a project that has the package, with files to begin with. */
export async function placeIn(project: string, files: Record<string, string> = {}): Promise<string> {
  const place = await mkdtemp(join(project, 'place-'))
  const manifest = JSON.stringify({ private: true, type: 'module' })
  for (const [name, content] of Object.entries({ 'package.json': manifest, ...files })) {
    await writeFile(join(place, name), content)
  }
  return place
}

/** The checks that must pass everywhere, for a program to import. */
export const tourSource = (): Promise<string> => readFile(new URL('tour.js', import.meta.url), 'utf8')

const fixtures = join(root, 'test', 'fixtures', 'kafka-4.3.1')

/** Segments that a broker wrote, by the name of their partition. */
export async function segments(): Promise<Record<string, Buffer>> {
  const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
  const partitions = [...codecs.map((codec) => `idempotent-${codec}-0`), 'transactions-0']
  const read = async (partition: string) =>
    [partition, await readFile(join(fixtures, partition, '00000000000000000000.log'))] as const
  return Object.fromEntries(await Promise.all(partitions.map(read)))
}

export const fixture = (partition: string): string => join(fixtures, partition)

/** A module that exports `segments()`, for programs that have no files. */
export async function segmentsModule(): Promise<string> {
  const texts = Object.entries(await segments()).map(([name, bytes]) => [name, bytes.toString('base64')])
  return `const texts = ${JSON.stringify(Object.fromEntries(texts))}
const decode = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
export const segments = () => Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, decode(text)]))
`
}
