import { cpSync, lstatSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { PartitionLog } from '../../src/index.ts'
import {
  directoryStorage,
  openPartitionDirectory,
  recoverPartition,
  stopPartition,
} from '../../src/node/index.ts'
import { readTree, runCommand, temporaryDirectories } from './support.ts'

const newDirectory = temporaryDirectories()
const fixture = fileURLToPath(new URL('../fixtures/kafka-4.3.1/transactions-0', import.meta.url))
const SEGMENT = readdirSync(fixture).find((name) => name.endsWith('.log'))!
const REQUEST = { clusterId: 'B', sourceClusterId: 'A' }

/** A broker's partition with one of its files elsewhere, and a link in its place. */
function linked(name: string): { root: string; partition: string; real: string } {
  const root = newDirectory()
  const [partition, real] = [join(root, 'transactions-0'), join(root, 'real')]
  cpSync(fixture, partition, { recursive: true })
  renameSync(join(partition, name), real)
  symlinkSync(real, join(partition, name))
  return { root, partition, real }
}

const ofBroker = () => {
  const root = newDirectory()
  cpSync(fixture, join(root, 'transactions-0'), { recursive: true })
  return join(root, 'transactions-0')
}

describe.each(readdirSync(fixture))('a link in the place of %s', (name) => {
  it('is followed where nothing is changed', async () => {
    const { root, partition } = linked(name)
    const before = readTree(root)
    const plain = ofBroker()
    const { directory: _, ...report } = await recoverPartition(partition)
    const { directory: __, ...expected } = await recoverPartition(plain)
    expect(report).toEqual(expected)
    expect(openPartitionDirectory(partition).logEndOffset).toBe(openPartitionDirectory(plain).logEndOffset)
    expect(directoryStorage(partition, 'read').list().sort()).toEqual(readdirSync(fixture).sort())
    expect(readTree(root)).toEqual(before)
  })

  it('is refused by name where files are changed, and nothing is', async () => {
    const { root, partition } = linked(name)
    const before = readTree(root)
    const refused = expect.objectContaining({
      code: 'IO_ERROR',
      file: join(partition, name),
      message: expect.stringContaining('symbolic link'),
    })
    expect(() => directoryStorage(partition)).toThrow(refused)
    expect(() => openPartitionDirectory(partition, { write: true })).toThrow(refused)
    await expect(stopPartition(partition, REQUEST)).rejects.toEqual(refused)
    await expect(recoverPartition(partition, { write: true })).rejects.toEqual(refused)
    for (const args of [
      ['recover', partition, '--write'],
      ['stop', partition, '--cluster-id', 'B', '--source-cluster-id', 'A'],
    ]) {
      const { status, stderr } = runCommand(args)
      expect([status, stderr]).toEqual([2, expect.stringContaining(join(partition, name))])
    }
    expect(readTree(root)).toEqual(before)
    expect(lstatSync(join(partition, name)).isSymbolicLink()).toBe(true)
  })
})

describe('a link that leads nowhere', () => {
  it('is an error, never an absent file', async () => {
    const partition = ofBroker()
    const link = join(partition, '00000000000000009000.log')
    symlinkSync(join(partition, '..', 'gone'), link)
    const segment = readFileSync(join(partition, SEGMENT))
    const broken = expect.objectContaining({ code: 'IO_ERROR', file: link })
    expect(() => directoryStorage(partition, 'read').list()).toThrow(broken)
    expect(() => directoryStorage(partition)).toThrow(broken)
    expect(() => PartitionLog.open(directoryStorage(partition, 'read'))).toThrow(broken)
    for (const write of [true, false]) {
      await expect(recoverPartition(partition, { write })).rejects.toEqual(broken)
    }
    expect(readFileSync(join(partition, SEGMENT))).toEqual(segment)
  })

  it('to a directory is no file of the log', () => {
    const partition = ofBroker()
    symlinkSync(newDirectory(), join(partition, 'elsewhere'))
    expect(directoryStorage(partition, 'read').list()).not.toContain('elsewhere')
  })
})
