import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type JudgedFile, judge, kafkaDump } from './judge.js'
import { committed } from './manifest.js'

// A judge that calls everything fine proves nothing: here is what it must not let pass.

const LOG = '00000000000000000000.log'
const source = join(committed, 'transactions-0')
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mirrorpid-judge-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function damaged(name: string, damage: (bytes: Buffer) => Buffer): Promise<JudgedFile> {
  const path = join(directory, name)
  await writeFile(path, damage(await readFile(join(source, name))))
  const [file] = await judge([path])
  if (!file) throw new Error('the judge has said nothing')
  return file
}

function batchesOf(file: JudgedFile) {
  if (!('batches' in file)) throw new Error(`${file.path} is no log`)
  return file.batches
}

it('reports a producer id changed without its CRC', async () => {
  const file = await damaged(LOG, (bytes) => {
    bytes.writeBigInt64BE(-7n, 43)
    return bytes
  })
  const [first, second] = batchesOf(file)
  expect(first).toMatchObject({ isValid: false, producerId: '-7', hasProducerId: false })
  expect(second).toMatchObject({ isValid: true })
})

it('reports where framing is lost, and keeps the batches before it', async () => {
  const file = await damaged(LOG, (bytes) => Buffer.concat([bytes, Buffer.alloc(100)]))
  expect(file.error).toMatch(/^CorruptRecordException: /)
  expect(batchesOf(file).every((batch) => batch.isValid)).toBe(true)
})

it('counts a cut batch out of the valid bytes', async () => {
  const file = await damaged(LOG, (bytes) => bytes.subarray(0, -1))
  expect(file).toMatchObject({ kind: 'log' })
  if ('facts' in file) expect(file.facts.validBytes).toBeLessThan(file.bytes - 17)
})

it('reports an undefined codec and goes on', async () => {
  const file = await damaged(LOG, (bytes) => {
    bytes.writeUInt8(bytes.readUInt8(22) | 7, 22)
    return bytes
  })
  const [first, second] = batchesOf(file)
  expect(first?.error).toMatch(/^IllegalArgumentException: /)
  expect(second?.error).toBeUndefined()
})

it('reports a damaged snapshot', async () => {
  const file = await damaged('00000000000000000031.snapshot', (bytes) => {
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
    return bytes
  })
  expect(file.error).toMatch(/^CorruptSnapshotException: /)
})

it('reports a transaction index that belongs to a later segment', async () => {
  const path = join(directory, '00000000000000009999.txnindex')
  await copyFile(join(source, '00000000000000000000.txnindex'), path)
  expect((await judge([path]))[0]?.error).toMatch(/^CorruptIndexException: /)
})

it('reports a missing file instead of creating it', async () => {
  const path = join(directory, '00000000000000000007.txnindex')
  expect((await judge([path]))[0]?.error).toMatch(/no such file/)
  await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' })
})

it('passes on how the dump tool fails', async () => {
  await writeFile(join(directory, LOG), Buffer.alloc(100))
  const result = await kafkaDump(['--files', LOG], { cwd: directory })
  expect(result.status).toBe(1)
  expect(result.stdout).toMatch(/^Dumping 0+\.log\n/)
  expect(result.stderr).toMatch(/CorruptRecordException/)
  expect(result.stderr).not.toContain(directory)
})
