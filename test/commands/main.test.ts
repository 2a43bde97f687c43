import { spawnSync } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { mainScript, runCommand, temporaryDirectories, writeTree } from '../node/support.ts'
import { batch } from '../support/batches.ts'

const newDirectory = temporaryDirectories()
const { version } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
)

describe('mirrorpid', () => {
  it('tells its version', () => {
    expect(runCommand(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([
    [['--help'], ['Examples:', 'rewrite', 'verify', 'Exit status', 'Stop the broker first']],
    [
      ['rewrite', '--help'],
      ['Examples:', '--out', '--in-place', '--unmap', '--json', '--quiet', '--crc'],
    ],
    [
      ['rewrite', '--help'],
      ['recompute', 'the only mode that can hide damage'],
    ],
    [
      ['verify', '--help'],
      ['Examples:', '--json', '--quiet', 'incomplete last batch'],
    ],
    [['help', 'rewrite'], ['Usage: mirrorpid rewrite']],
  ])('explains itself: %j', (args, words) => {
    const { status, stdout, stderr } = runCommand(args)
    expect([status, stderr]).toEqual([0, ''])
    const text = stdout.replace(/\s+/g, ' ')
    for (const word of words) expect(text).toContain(word)
  })

  it('explains itself in lines of at most 120 columns, as do all commands', () => {
    const help = (args: string[]) => runCommand([...args, '--help']).stdout
    const commands = [...help([]).matchAll(/^ {2}(\w+) \[options\]/gm)].map(([, name]) => [name!])
    expect(commands.length).toBeGreaterThan(6)
    const lines = [[], ...commands].flatMap((args) => help(args).split('\n'))
    expect(lines.filter((line) => line.length > 120)).toEqual([])
  })

  it.each([
    [[], 'Usage: mirrorpid'],
    [['frobnicate'], 'unknown command'],
    [['--frobnicate'], 'unknown option'],
    [['rewrite'], "missing required argument 'path'"],
    [['rewrite', 'x'], "one of '--out <dir>' and '--in-place' is needed"],
    [['rewrite', 'x', '--out', 'y', '--in-place'], 'cannot be used with'],
    [['rewrite', 'x', '--out'], 'argument missing'],
    [['rewrite', 'x', '--out', ''], 'needs the name of a directory'],
    [['rewrite', 'x', '--out', 'y', '--crc', 'guess'], 'Allowed choices are patch, verify, recompute'],
    [['rewrite', 'x', '--out', 'y', '--frobnicate'], 'unknown option'],
    [['verify'], "missing required argument 'path'"],
    [['verify', 'x', '--out', 'y'], 'unknown option'],
  ])('refuses %j', (args, message) => {
    const { status, stdout, stderr } = runCommand(args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('survives a reader that goes away', () => {
    const directory = writeTree(newDirectory(), { 'x.log': batch() })
    const command = `'${process.execPath}' '${mainScript}' verify '${directory}'; echo "status $?" >&2`
    const { stderr } = spawnSync('/bin/sh', ['-c', `{ ${command}; } | true`], { encoding: 'utf8' })
    expect(stderr).toBe('status 0\n')
  })

  it.runIf(process.platform === 'linux')('fails when its output cannot be written', () => {
    const directory = writeTree(newDirectory(), { 'x.log': batch() })
    const { status, stderr } = spawnSync(process.execPath, [mainScript, 'verify', directory], {
      encoding: 'utf8',
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    })
    expect(status).toBe(2)
    expect(stderr).toContain('cannot write the output')
  })
})
