import { spawnSync } from 'node:child_process'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mainScript, runCommand, temporaryDirectories, writeTree } from '../node/support.ts'
import { batch } from '../support/batches.ts'

const newDirectory = temporaryDirectories()

/** util-linux's, which gives a command a terminal. */
const hasScript =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false

function onTerminal(args: string): { status: number | null; text: string } {
  const command = `stty cols 120; '${process.execPath}' '${mainScript}' ${args}`
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' })
  return { status, text: stdout }
}

describe('progress', () => {
  const partition = writeTree(join(newDirectory(), 'orders-0'), { '00000000000000000000.log': batch() })
  // zeros behind the batch that take a while, and no room: the file is sparse
  truncateSync(join(partition, '00000000000000000000.log'), 1024 * 1024 * 1024)

  it.runIf(hasScript)('is shown for the file and for the whole on a terminal, and cleared away', () => {
    const { status, text } = onTerminal(`verify '${partition}'`)
    expect(status).toBe(0)
    expect(text).toMatch(/orders-0\/00000000000000000000\.log +\[[=-]{24}\] \d+% [\d.]+ \w+ of 1\.0 GiB/)
    expect(text).toMatch(/total +\[[=-]{24}\] \d+%/)
    const end = text.slice(text.lastIndexOf('total   '))
    expect(end).toContain('1 batch, fine')
  })

  it.runIf(hasScript).each(['--quiet', '--json'])('is not shown with %s', (flag) => {
    expect(onTerminal(`verify '${partition}' ${flag}`).text).not.toContain('%')
  })

  it('is not shown where stderr is no terminal', () => {
    expect(runCommand(['verify', partition]).stderr).toBe('')
  })
})
