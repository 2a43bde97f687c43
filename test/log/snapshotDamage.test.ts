import { describe, expect, it } from 'vitest'
import type { RecoveryEvent } from '../../src/log/partition/logOptions.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { storedFiles } from '../support/storedFiles.ts'
import { lastOnly } from './logStates.ts'

/** Three segments, each with a snapshot before it, and one at the end. */
function written() {
  const storage = memoryStorage()
  const log = PartitionLog.open(storage)
  for (let seq = 0; seq < 6; seq++) {
    for (const pid of [5, 7]) log.append(encodeOp({ kind: 'txn', pid, seq }), 'client')
    if (seq % 2 === 1) log.roll()
  }
  log.append(encodeOp({ kind: 'ABORT', pid: 5 }), 'coordinator')
  log.close()
  return { files: storedFiles(storage), state: lastOnly(log.producerState) }
}

describe('a damaged snapshot', () => {
  const { files, state } = written()
  const names = [...files.keys()].filter((name) => name.endsWith('.snapshot')).sort()
  const newest = names.at(-1)!

  function reopen(name: string, bytes: Uint8Array, shutdown: 'clean' | 'unclean') {
    const events: RecoveryEvent[] = []
    const storage = memoryStorage([...files, [name, bytes]])
    const log = PartitionLog.open(storage, {
      shutdown,
      recoveryPoint: 12n,
      onRecovery: (event) => events.push(event),
    })
    return { log, storage, events }
  }

  it('is detected at every byte that is cut, and the one before it is used', () => {
    const bytes = files.get(newest)!
    for (let size = 0; size < bytes.length; size++) {
      const { log, events } = reopen(newest, bytes.slice(0, size), 'clean')
      expect(
        events.map(({ kind }) => kind),
        `${size} bytes`,
      ).toEqual(['snapshot'])
      expect(lastOnly(log.producerState)).toEqual(state)
    }
  })

  it('is detected at every bit that is flipped, and written anew', () => {
    const bytes = files.get(newest)!
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = bytes.slice()
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      const { log, events, storage } = reopen(newest, flipped, 'clean')
      expect(events, `bit ${bit}`).toMatchObject([
        { kind: 'snapshot', offset: 13n, error: { code: 'CORRUPT_SNAPSHOT' } },
      ])
      expect(lastOnly(log.producerState)).toEqual(state)
      expect(storage.read(newest)).toEqual(bytes)
    }
  })

  it('may be any of them, or all, or none may be there', () => {
    for (const shutdown of ['clean', 'unclean'] as const) {
      for (const name of names) {
        expect(lastOnly(reopen(name, new Uint8Array(9), shutdown).log.producerState)).toEqual(state)
      }
      for (const bytes of [new Uint8Array(3), null]) {
        const all = [...files].flatMap(([name, content]): [string, Uint8Array][] => {
          if (!name.endsWith('.snapshot')) return [[name, content]]
          return bytes === null ? [] : [[name, bytes]]
        })
        const log = PartitionLog.open(memoryStorage(all), { shutdown })
        expect(lastOnly(log.producerState)).toEqual(state)
      }
    }
  })
})
