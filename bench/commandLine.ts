import { spawnSync } from 'node:child_process'
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
