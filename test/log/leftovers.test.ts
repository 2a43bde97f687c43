import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStorage, PartitionLog, type RecoveryEvent, recordBatches } from '../../src/index.ts'
import { overlayStorage } from '../../src/log/partition/overlayStorage.ts'
import { type BatchOp, encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'

const at = (offset: bigint, suffix: string) => `${`${offset}`.padStart(20, '0')}${suffix}`
const batchAt = (offset: bigint) => {
  const op: BatchOp = { kind: 'data', pid: 7, seq: Number(offset) }
  return encodeOp(op, offset)
}

function filesOfLog(): Map<string, Uint8Array> {
  const storage = memoryStorage()
  const log = PartitionLog.open(storage, { segmentBytes: 200 })
  for (let offset = 0n; offset < 20n; offset++) log.append(batchAt(offset), 'replication')
  log.close()
  return storedFiles(storage)
}
const LOG = filesOfLog()
const END = 20n

function opened(more: Record<string, Uint8Array>) {
  const storage = memoryStorage([...LOG, ...Object.entries(more)])
  const events: RecoveryEvent[] = []
  const log = PartitionLog.open(storage, { onRecovery: (event) => events.push(event) })
  return { log, storage, events }
}

function offsetsOf(log: PartitionLog): bigint[] {
  const offsets: bigint[] = []
  for (let next = log.logStartOffset; next < log.logEndOffset; ) {
    const [first] = recordBatches(log.read(next).records)
    if (first === undefined) break
    offsets.push(first.baseOffset)
    next = first.nextOffset
  }
  return offsets
}

const ENDINGS = ['swap', 'cleaned', 'deleted']
const OF_BROKER = /^\d{20}\.((log|index|timeindex|txnindex)\.(swap|cleaned|deleted)|snapshot\.deleted)$/

describe('files that end as leftovers do and have no name of a broker’s', () => {
  it.each([
    'backup.log.swap',
    'notes.cleaned',
    'notes.deleted',
    'x.swap',
    '.log.swap',
    '5.log.swap',
    '00000000000000000000.swap',
    '00000000000000000000.log.bak.swap',
    'x00000000000000000000.log.swap',
    '99999999999999999999.log.swap',
    '99999999999999999999.log.deleted',
    '00000000000000000000-0000000001.checkpoint.deleted',
    '00000000000000000000.snapshot.swap',
  ])('%s is left alone, and told of', (name) => {
    const content = batchAt(100n)
    const { log, storage, events } = opened({ [name]: content })
    expect([log.logStartOffset, log.logEndOffset]).toEqual([0n, END])
    expect(events).toEqual([{ kind: 'foreign', name }])
    expect(storage.read(name)).toEqual(new Uint8Array(content))
  })

  it('whatever their names, cost no record and are never touched', () => {
    const names = fc
      .tuple(
        fc.oneof(fc.constantFrom('', 'backup', '0', at(0n, ''), at(5n, '')), fc.string({ maxLength: 6 })),
        fc.constantFrom('', '.log', '.index', '.snapshot', '.log.old', 'log'),
        fc.constantFrom(...ENDINGS),
      )
      .map(([stem, suffix, ending]) => `${stem}${suffix}.${ending}`)
      .filter((name) => !OF_BROKER.test(name))
    fc.assert(
      fc.property(
        fc.uniqueArray(names, { maxLength: 4 }),
        fc.uint8Array({ maxLength: 200 }),
        (extra, bytes) => {
          const { log, storage } = opened(Object.fromEntries(extra.map((name) => [name, bytes])))
          expect([log.logStartOffset, log.logEndOffset]).toEqual([0n, END])
          for (const name of extra) expect(storage.read(name)).toEqual(bytes)
        },
      ),
    )
  })

  it('notes.cleaned does not make a swap an unfinished one', () => {
    const { storage } = opened({
      'notes.cleaned': new Uint8Array(1),
      [at(0n, '.log.swap')]: LOG.get(at(0n, '.log'))!,
    })
    expect(storage.list()).not.toContain(at(0n, '.log.swap'))
    expect(storage.read(at(0n, '.log'))).toEqual(LOG.get(at(0n, '.log')))
  })
})

describe('a swap', () => {
  const first = [...LOG.keys()].filter((name) => name.endsWith('.log'))[2]!
  const base = BigInt(first.slice(0, 20))

  it('without a batch replaces the segment of its name alone, as in a broker', () => {
    const { log, storage } = opened({ [`${first}.swap`]: new Uint8Array(0) })
    expect(storage.read(first)).toEqual(new Uint8Array(0))
    expect(log.logEndOffset).toBe(END)
    for (const name of LOG.keys()) {
      if (name.endsWith('.log') && name !== first) expect(storage.read(name)).toEqual(LOG.get(name))
    }
  })

  it('of a name that no segment has yet takes nothing away', () => {
    const { log } = opened({ [at(base + 1n, '.log.swap')]: new Uint8Array(0) })
    expect(log.logEndOffset).toBe(END)
  })

  it.each([
    ['zeros, as in a file that was never written', new Uint8Array(300)],
    [
      'a size that cannot be',
      Uint8Array.from(batchAt(base), (byte, at) => (at >= 8 && at < 12 ? 255 : byte)),
    ],
    ['half a batch', batchAt(base).subarray(0, 40)],
    ['a batch and half of another', Buffer.concat([batchAt(base), batchAt(base + 1n).subarray(0, 40)])],
    ['an unknown magic', Uint8Array.from(batchAt(base), (byte, at) => (at === 16 ? 9 : byte))],
  ])('that holds %s keeps all files as they are', (_name, bytes) => {
    const files = [
      ...LOG,
      [`${first}.swap`, bytes] as const,
      [at(90n, '.log.deleted'), batchAt(90n)] as const,
    ]
    const storage = memoryStorage(files)
    const before = storedFiles(storage)
    expect(() => PartitionLog.open(storage)).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
    expect(() => PartitionLog.open(storage)).toThrow(`${first}.swap`)
    expect(storedFiles(storage)).toEqual(before)
  })

  it('that is not finished goes before what tells so: killed in between, the next start knows it still', () => {
    const files = {
      [at(0n, '.log.cleaned')]: batchAt(0n),
      [at(1n, '.log.swap')]: batchAt(50n),
      [at(1n, '.index.swap')]: new Uint8Array(0),
    }
    for (let removals = 0; removals < 3; removals++) {
      const storage = memoryStorage([...LOG, ...Object.entries(files)])
      let left = removals
      const dying = {
        ...storage,
        remove(name: string) {
          if (left-- === 0) throw new Error('killed')
          storage.remove(name)
        },
      }
      expect(() => PartitionLog.open(dying)).toThrow('killed')
      const log = PartitionLog.open(storage)
      expect([removals, log.logStartOffset, log.logEndOffset]).toEqual([removals, 0n, END])
      expect(offsetsOf(log)).toHaveLength(20)
    }
  })
})

it('a segment whose name holds no int64 is refused, and nothing is changed', () => {
  const storage = memoryStorage([...LOG, ['99999999999999999999.log', batchAt(0n)]])
  const before = storedFiles(storage)
  expect(() => PartitionLog.open(overlayStorage(storage, memoryStorage()))).toThrow(/no offset is above/)
  expect(() => PartitionLog.open(storage)).toThrow(expect.objectContaining({ code: 'INVALID_RECORD' }))
  expect(storedFiles(storage)).toEqual(before)
})
