import { symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLogPath } from '../../src/node/paths/logPaths.ts'
import { temporaryDirectories, writeTree } from './support.ts'

const newDirectory = temporaryDirectories()
const SEGMENT = '00000000000000000000.log'
const names = (files: readonly { path: string }[]) => files.map((file) => basename(file.path))

describe('what a path is', () => {
  it.each([SEGMENT, 'part.log', `${SEGMENT}.swap`])('a segment file: %s', async (name) => {
    const path = join(writeTree(newDirectory(), { [name]: 'abc' }), name)
    const log = await readLogPath(path)
    expect(log).toMatchObject({
      kind: 'segment',
      units: [{ directory: null, files: [{ path, kind: 'segment', size: 3 }] }],
    })
  })

  it('a partition directory, with every file of it', async () => {
    const directory = writeTree(newDirectory(), {
      [SEGMENT]: '',
      '00000000000000000007.log.swap': '',
      '00000000000000000009.log.deleted': '',
      '00000000000000000009.log.cleaned': '',
      '00000000000000000000.index': '',
      '00000000000000000000.txnindex': '',
      '00000000000000000007.txnindex.swap': '',
      '00000000000000000007.snapshot': '',
      'leader-epoch-checkpoint': '',
      'partition.metadata': '',
    })
    const { kind, units, ownFiles } = await readLogPath(directory)
    expect(kind).toBe('partition')
    expect(ownFiles).toEqual([])
    expect(units).toHaveLength(1)
    const kinds = Object.fromEntries(units[0]!.files.map((file) => [basename(file.path), file.kind]))
    expect(kinds).toEqual({
      [SEGMENT]: 'segment',
      '00000000000000000007.log.swap': 'segment',
      '00000000000000000009.log.deleted': 'other',
      '00000000000000000009.log.cleaned': 'other',
      '00000000000000000000.index': 'other',
      '00000000000000000000.txnindex': 'txnindex',
      '00000000000000000007.txnindex.swap': 'txnindex',
      '00000000000000000007.snapshot': 'snapshot',
      'leader-epoch-checkpoint': 'other',
      'partition.metadata': 'other',
    })
  })

  it('a partition directory when all it has is an oddly named .log', async () => {
    expect((await readLogPath(writeTree(newDirectory(), { 'part.log': '' }))).kind).toBe('partition')
  })

  it('a log directory, with nothing left out silently', async () => {
    const directory = writeTree(newDirectory(), {
      'orders-0': { [SEGMENT]: '' },
      'orders-1.0123456789abcdef0123456789abcdef-future': { [SEGMENT]: '' },
      'empty-0': { 'partition.metadata': '' },
      'remote-log-index-cache': { 'x.txnindex': '' },
      'lost+found': {},
      'orders-2.mirrorpid-0123abcd': { [SEGMENT]: '' },
      'meta.properties': '',
      '.kafka_cleanshutdown': '',
      '.lock': '',
      'server.log': '',
    })
    const { kind, units, ownFiles, leftOut } = await readLogPath(directory)
    expect(kind).toBe('log directory')
    expect(units.map((unit) => basename(unit.directory!))).toEqual([
      'empty-0',
      'orders-0',
      'orders-1.0123456789abcdef0123456789abcdef-future',
    ])
    expect(names(ownFiles)).toEqual(['.kafka_cleanshutdown', 'meta.properties', 'server.log'])
    expect(leftOut.map(({ path, reason }) => [basename(path), reason])).toEqual([
      ['lost+found', expect.stringContaining('no segments')],
      ['orders-2.mirrorpid-0123abcd', expect.stringContaining('interrupted')],
      ['remote-log-index-cache', expect.stringContaining('cache')],
    ])
  })

  it('the target of a link', async () => {
    const directory = writeTree(newDirectory(), { 'real-0': { [SEGMENT]: '' }, logs: {} })
    symlinkSync(join(directory, 'real-0'), join(directory, 'logs', 'orders-0'))
    const { kind, units } = await readLogPath(join(directory, 'logs'))
    expect([kind, units.length]).toEqual(['log directory', 1])
  })
})

describe('no log', () => {
  it.each([
    ['a missing path', {}, 'nowhere', 'IO_ERROR', 'no such file'],
    ['a path through a file', { file: '' }, 'file/x', 'IO_ERROR', 'ENOTDIR'],
    ['another kind of file', { 'a.index': '' }, 'a.index', 'NOT_A_LOG', 'ends in .log'],
    ['an empty directory', {}, '.', 'NOT_A_LOG', 'no segment'],
    ['directories without segments', { a: { b: { [SEGMENT]: '' } } }, '.', 'NOT_A_LOG', 'no segment'],
    ['a directory inside a partition', { [SEGMENT]: '', sub: {} }, '.', 'NOT_A_LOG', 'holds files only'],
    [
      'what a killed run left',
      { 'a-0.mirrorpid-0123abcd': {} },
      'a-0.mirrorpid-0123abcd',
      'NOT_A_LOG',
      'interr',
    ],
  ])('is %s', async (_name, tree, path, code, message) => {
    const directory = writeTree(newDirectory(), tree)
    await expect(readLogPath(join(directory, path))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    })
  })

  it('is a device', async () => {
    await expect(readLogPath('/dev/null')).rejects.toMatchObject({ code: 'NOT_A_LOG' })
  })

  it('is a partition with a dangling link', async () => {
    const directory = newDirectory()
    writeFileSync(join(directory, SEGMENT), '')
    symlinkSync(join(directory, 'gone'), join(directory, '00000000000000000007.log'))
    await expect(readLogPath(directory)).rejects.toMatchObject({ code: 'IO_ERROR', errno: 'ENOENT' })
  })
})
