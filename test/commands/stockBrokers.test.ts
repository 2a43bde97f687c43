// What brokers of today make of mapped ids is said wherever a command meets some, in the same words, and unmapping is not advised.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ON_STOCK_BROKERS } from '../../src/commands/stockBrokers.ts'
import { runCommand, type Tree, temporaryDirectories, writeTree } from '../node/support.ts'
import { logOf } from '../producers/logBuilder.ts'

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const NEXT = '00000000000000000002.log'
const data = (pid: number) => ({ kind: 'data', pid, seq: 0 }) as const

const mapped = { [SEGMENT]: logOf([data(-7), data(-8)]).bytes, [NEXT]: logOf([data(-9)], 2n).bytes }
const local = { [SEGMENT]: logOf([data(7)]).bytes }
const stopped = { [SEGMENT]: logOf([{ kind: 'barrier' }]).bytes }

const stop = ['--cluster-id', 'B', '--source-cluster-id', 'A', '--unmarked']
const commands: [string, Tree, (directory: string) => string[]][] = [
  ['rewrite --out', local, (directory) => ['rewrite', directory, '--out', join(directory, '..', 'out')]],
  ['rewrite --in-place', local, (directory) => ['rewrite', directory, '--in-place']],
  ['stop', mapped, (directory) => ['stop', directory, ...stop]],
  ['stop --dry-run', mapped, (directory) => ['stop', directory, ...stop, '--dry-run']],
  ['recover', mapped, (directory) => ['recover', directory]],
  ['recover, of a barrier', stopped, (directory) => ['recover', directory]],
  ['dump --explain', mapped, (directory) => ['dump', directory, '--explain']],
  ['dump --explain, of a barrier', stopped, (directory) => ['dump', directory, '--explain']],
]

const newPartition = (tree: Tree) => writeTree(join(newDirectory(), 'orders-0'), tree)

describe.each(commands)('%s', (_, tree, argsOf) => {
  it('says it once', () => {
    const { status, stderr } = runCommand(argsOf(newPartition(tree)))
    expect(status).toBe(0)
    expect(stderr.split(ON_STOCK_BROKERS)).toHaveLength(2)
    expect(stderr).toMatch(/^mirrorpid: note: /)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it('is silent with --quiet', () => {
    expect(runCommand([...argsOf(newPartition(tree)), '--quiet']).stderr).toBe('')
  })
})

it.each([
  ['dump --explain, of local producers', local, ['dump', '--explain']],
  ['dump of mapped ones that explains nothing', mapped, ['dump']],
  ['recover of local producers', local, ['recover']],
])('%s: nothing', (_, tree, [command, ...flags]) => {
  expect(runCommand([command!, newPartition(tree), ...flags]).stderr).toBe('')
})

it('in JSON it is where warnings and notes are', () => {
  const { stdout } = runCommand(['stop', newPartition(mapped), ...stop, '--json'])
  expect(JSON.parse(stdout).warnings).toEqual([ON_STOCK_BROKERS])
  const { files } = JSON.parse(runCommand(['dump', newPartition(mapped), '--explain', '--json']).stdout)
  expect(files.map(({ notes }: { notes: string[] }) => notes)).toEqual([[ON_STOCK_BROKERS], []])
})

it.each(['rewrite', 'stop'])('the help of %s says it', (command) => {
  const { stdout } = runCommand([command, '--help'])
  expect(stdout.replaceAll('\n', ' ')).toContain(ON_STOCK_BROKERS)
})

it('advises against unmapping, and promises nothing that is not there', () => {
  expect(ON_STOCK_BROKERS).toContain('Restored ids (--unmap) are no way out')
  expect(ON_STOCK_BROKERS).toContain('is not in this version')
  expect(ON_STOCK_BROKERS).not.toMatch(/unmap (the|a) log|restore the ids/i)
})
