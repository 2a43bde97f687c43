import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MirrorPidError } from '../../src/errors.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { batch } from '../support/batches.ts'
import { quickOrLong } from '../support/counts.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { SequenceMaker } from './logSequences.ts'
import { allRecords } from './logStates.ts'

const RUNS = quickOrLong(150, 600)

function filesOfLog(seed: number): [string, Uint8Array][] {
  const maker = new SequenceMaker(seed, { isMirrored: true })
  for (let step = 0; step < 25; step++) maker.take(maker.chance(0.5) ? maker.lead() : maker.follow())
  maker.run.log.close()
  return [...storedFiles(maker.run.storage)]
}

/** Opens and uses a log; any error is one of ours. Returns whether it opened. */
function use(files: Iterable<readonly [string, Uint8Array]>, shutdown: 'clean' | 'unclean'): boolean {
  try {
    const log = PartitionLog.open(memoryStorage(files), { shutdown })
    allRecords(log)
    log.read(log.logStartOffset, { isolation: 'read_committed' })
    log.truncateTo(log.logEndOffset / 2n)
    log.close()
    return true
  } catch (error) {
    if (MirrorPidError.is(error)) return false
    throw error
  }
}

describe('damaged files', () => {
  const logs = [1, 2].map(filesOfLog)
  const log = fc.constantFrom(...logs)
  const shutdown = fc.constantFrom('clean' as const, 'unclean' as const)

  it('with random bytes in a file of every kind give a log or an error of ours', () => {
    let opened = 0
    const kinds = new Set<string>()
    fc.assert(
      fc.property(
        log,
        fc.nat(),
        fc.uint8Array({ maxLength: 200 }),
        fc.nat(),
        shutdown,
        (files, which, noise, at, how) => {
          const [name, bytes] = files[which % files.length]!
          kinds.add(name.replace(/^\d+/, ''))
          const position = bytes.length === 0 ? 0 : at % bytes.length
          const damaged = Buffer.concat([
            bytes.subarray(0, position),
            noise,
            bytes.subarray(position + (at % 3) * noise.length),
          ])
          if (use([...files, [name, damaged]], how)) opened++
        },
      ),
      { numRuns: RUNS },
    )
    expect([...kinds].sort()).toEqual([
      '.index',
      '.log',
      '.snapshot',
      '.timeindex',
      '.txnindex',
      'leader-epoch-checkpoint',
    ])
    expect(opened).toBeGreaterThan(RUNS / 3)
  })

  // base offsets are not under the CRC, so no check of bytes finds these
  it('with offsets that go back or leap are read to an end, cut and closed', () => {
    for (const files of logs) {
      for (const [name, bytes] of files.filter(([name]) => name.endsWith('.log'))) {
        for (const { position, baseOffset } of [...recordBatches(bytes)]) {
          for (const by of [-9n, -3n, -1n, 2n, 40n]) {
            const damaged = Buffer.from(bytes)
            damaged.writeBigInt64BE(baseOffset + by, position)
            for (const how of ['clean', 'unclean'] as const) use([...files, [name, damaged]], how)
          }
        }
      }
    }
  })

  it('of which each in turn is empty, cut or missing do so too', () => {
    for (const files of logs) {
      for (const [name, bytes] of files) {
        for (const content of [
          new Uint8Array(0),
          bytes.subarray(0, bytes.length >> 1),
          bytes.subarray(0, -1),
        ]) {
          for (const how of ['clean', 'unclean'] as const) use([...files, [name, content]], how)
        }
        const isSegment = name.endsWith('.log')
        // without a segment in the middle, transactions may contradict each other
        const others = files.filter(([other]) => other !== name)
        expect(use(others, 'unclean') || isSegment, name).toBe(true)
      }
    }
  })

  it.each([2147483647, -1, 0, 48])('with a claimed length of %d is cut there', (batchLength) => {
    const good = batch({ baseOffset: 0n, producerId: 4n })
    const events: unknown[] = []
    const storage = memoryStorage([
      ['00000000000000000000.log', Buffer.concat([good, batch({ batchLength, baseOffset: 1n })])],
    ])
    const log = PartitionLog.open(storage, { onRecovery: (event) => events.push(event) })
    expect(log.segments).toEqual([{ baseOffset: 0n, size: good.length }])
    expect(events).toMatchObject([{ kind: 'cut', position: good.length }])
  })

  it('of 0 bytes alone are an empty log', () => {
    const names = ['.log', '.index', '.timeindex', '.txnindex', '.snapshot'].map(
      (suffix) => `${'0'.repeat(20)}${suffix}`,
    )
    const log = PartitionLog.open(
      memoryStorage([...names, 'leader-epoch-checkpoint'].map((name) => [name, new Uint8Array(0)])),
    )
    expect([log.logStartOffset, log.logEndOffset]).toEqual([0n, 0n])
  })

  it('with names that are none of a log are left alone', () => {
    const files: [string, Uint8Array][] = ['x.log', '5.log', 'partition.metadata', '.lock'].map((name) => [
      name,
      Buffer.from('x'),
    ])
    const storage = memoryStorage(files)
    PartitionLog.open(storage).close()
    for (const [name, bytes] of files) expect(Buffer.from(storage.read(name)!)).toEqual(bytes)
  })
})
