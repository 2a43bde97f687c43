import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The script of the command, for Node. */
export const main = fileURLToPath(new URL('../../dist/commands/main.js', import.meta.url))

/** What a whole process takes, its output to nowhere. */
export function seconds(command: string, args: readonly string[]): number {
  const start = process.hrtime.bigint()
  const { status, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`)
  return Number(process.hrtime.bigint() - start) / 1e9
}

const peak = new URL('./peak.js', import.meta.url).href

/** What memory a run of the command takes at its peak, all of its process. `file` is for what it writes of itself. */
export function peakMegabytes(args: string[], file: string): number {
  const { status, stderr } = spawnSync(process.execPath, ['--import', peak, main, ...args], {
    encoding: 'utf8',
    env: { ...process.env, MIRRORPID_BENCH_PEAK: file },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // audit has findings: the sequences are made up
  if (status !== 0 && !(status === 1 && args[0] === 'audit'))
    throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return (Number(readFileSync(file, 'utf8')) * 1024) / 1e6
}
