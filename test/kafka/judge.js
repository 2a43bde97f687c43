import { existsSync } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runJava } from './jvm.js'

const JUDGED = /\.(log|checkpoint|snapshot|txnindex)$/

/** @type {typeof import('./judge.js').judge} */
export async function judge(paths) {
  const files = (await Promise.all(paths.map(expand))).flat()
  if (files.length === 0) throw new Error(`nothing to judge in ${paths.join(', ')}`)
  return JSON.parse(await runJava('mirrorpid.kafka.Judge', ['@-'], `${files.join('\n')}\n`))
}

/** @param {string} path */
async function expand(path) {
  // A file that is missing is for the judge to report.
  const isDirectory = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isDirectory) return [path]
  const names = await readdir(path, { recursive: true })
  return names
    .filter((name) => JUDGED.test(name))
    .sort()
    .map((name) => join(path, name))
}

/** @type {typeof import('./judge.js').kafkaDumps} */
export async function kafkaDumps(jobs, { cwd = '.' } = {}) {
  // The tool makes some paths absolute, with the directory's real name.
  const directory = await realpath(cwd)
  /** @type {import('./judge.js').DumpResult[]} */
  const results = JSON.parse(await runJava('mirrorpid.kafka.Dump', [], JSON.stringify(jobs), directory))
  return results.map(({ stdout, stderr, status }) => ({
    stdout: stdout.replaceAll(`${directory}/`, ''),
    stderr: stderr.replaceAll(`${directory}/`, ''),
    status,
  }))
}

/** @type {typeof import('./judge.js').kafkaDump} */
export async function kafkaDump(args, options) {
  const [result] = await kafkaDumps([args], options)
  if (!result) throw new Error('mirrorpid.kafka.Dump has answered nothing')
  return result
}

/** @type {typeof import('./judge.js').replay} */
export async function replay(directories, { after = 'crash' } = {}) {
  return JSON.parse(await runJava('mirrorpid.kafka.Replay', [after, ...directories], ''))
}

/** @type {typeof import('./judge.js').stateOracle} */
export async function stateOracle(sequences) {
  const input = sequences.map((sequence) => `${JSON.stringify(sequence)}\n`).join('')
  const lines = (await runJava('mirrorpid.kafka.StateOracle', [], input)).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** @type {typeof import('./judge.js').logOracle} */
export async function logOracle(sequences) {
  const input = sequences.map((sequence) => `${JSON.stringify(sequence)}\n`).join('')
  // its files are many and short-lived: in memory, where there is such a place
  const properties = existsSync('/dev/shm') ? { 'java.io.tmpdir': '/dev/shm' } : {}
  const lines = (await runJava('mirrorpid.kafka.LogOracle', [], input, undefined, properties))
    .trimEnd()
    .split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** @type {typeof import('./judge.js').smallFiles} */
export async function smallFiles(files) {
  const input = files.map(({ kind, content }) => {
    const base64 = Buffer.from(content).toString('base64')
    return `${JSON.stringify({ kind, content: base64 })}\n`
  })
  const output = await runJava('mirrorpid.kafka.SmallFiles', [], input.join(''))
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
