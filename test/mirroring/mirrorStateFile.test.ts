import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CorruptMirrorStateError, type MirrorState, memoryStorage, mirrorStateFile } from '../../src/index.ts'
import { directoryStorage } from '../../src/node/index.ts'
import { leftovers, temporaryDirectories } from '../node/support.ts'
import { copyOf, faultyStorage } from './faultyStorage.ts'

const newDirectory = temporaryDirectories()

const STATE: MirrorState = {
  state: 'STOPPING',
  sourceClusterId: 'YkX3tQ2mSGa0b1c2d3e4fA',
  prepareOffset: null,
  openTransactions: 'truncate',
  plannedBarrierOffset: 9223372036854775806n,
  mirroredEndOffset: 9007199254740993n,
  lastMirroredOffset: null,
  failure: null,
}

function holding(text: string) {
  const storage = memoryStorage([['mirror-state.json', new TextEncoder().encode(text)]])
  return mirrorStateFile(storage)
}

describe('mirror-state.json', () => {
  it('keeps every digit and every field', () => {
    const storage = memoryStorage()
    mirrorStateFile(storage).save(STATE)
    expect(mirrorStateFile(copyOf(storage)).load()).toEqual(STATE)
    mirrorStateFile(storage).save({ ...STATE, state: 'FAILED', failure: 'ä "quoted"\nline' })
    expect(mirrorStateFile(storage).load()?.failure).toBe('ä "quoted"\nline')
    mirrorStateFile(storage).save({ ...STATE, clusterId: 'B', leaderEpoch: 2147483647 })
    expect(mirrorStateFile(storage).load()).toEqual({ ...STATE, clusterId: 'B', leaderEpoch: 2147483647 })
    expect(mirrorStateFile(memoryStorage()).load()).toBeNull()
  })

  it('is the old or the new one whenever the process dies', () => {
    const storage = memoryStorage()
    mirrorStateFile(storage).save(STATE)
    const { calls, storage: counted } = faultyStorage(copyOf(storage), { at: 0 })
    mirrorStateFile(counted).save({ ...STATE, state: 'FAILED' })
    expect(calls).toEqual(['write mirror-state.json FAILED', 'sync'])
    for (let at = 1; at <= calls.length; at++) {
      const below = copyOf(storage)
      expect(() =>
        mirrorStateFile(faultyStorage(below, { at }).storage).save({ ...STATE, state: 'FAILED' }),
      ).toThrow()
      expect(['STOPPING', 'FAILED']).toContain(mirrorStateFile(below).load()?.state)
    }
  })

  it('in a directory, what a killed run has half written is removed', () => {
    const directory = join(newDirectory(), 'orders-0')
    mkdirSync(directory)
    mirrorStateFile(directoryStorage(directory)).save(STATE)
    writeFileSync(join(directory, 'mirror-state.json.mirrorpid-00000000'), '{"vers')
    expect(mirrorStateFile(directoryStorage(directory)).load()).toEqual(STATE)
    expect(leftovers(directory)).toEqual([])
  })

  it.each([
    ['', 'it is not JSON'],
    ['{"version":1,"state":"STOP', 'it is not JSON'],
    ['null', 'it is not an object'],
    ['[]', 'its version is undefined, expected 1'],
    ['{"version":2,"state":"STOPPED","sourceClusterId":"A"}', 'its version is 2, expected 1'],
    ['{"version":1,"state":"RESTING","sourceClusterId":"A"}', 'it has the state RESTING'],
    ['{"version":1,"state":"MIRRORING"}', 'it names no source cluster'],
    ['{"version":1,"state":"MIRRORING","sourceClusterId":""}', 'it names no source cluster'],
    ['{"version":1,"state":"PREPARING","sourceClusterId":"A","prepareOffset":7}', 'its prepareOffset is 7'],
    [
      '{"version":1,"state":"PREPARING","sourceClusterId":"A","prepareOffset":"-1"}',
      'its prepareOffset is -1',
    ],
    [
      '{"version":1,"state":"PREPARING","sourceClusterId":"A","prepareOffset":"9223372036854775808"}',
      'its prepareOffset is 9223372036854775808',
    ],
    [
      '{"version":1,"state":"STOPPING","sourceClusterId":"A","openTransactions":"ask"}',
      'its openTransactions is ask',
    ],
    ['{"version":1,"state":"STOPPED","sourceClusterId":"A"}', 'it is STOPPED, but names no barrier'],
    ['{"version":1,"state":"FAILED","sourceClusterId":"A","failure":1}', 'its failure is no text'],
    ['{"version":1,"state":"MIRRORING","sourceClusterId":"A","clusterId":""}', 'its clusterId is '],
    ['{"version":1,"state":"MIRRORING","sourceClusterId":"A","leaderEpoch":-1}', 'its leaderEpoch is -1'],
    ['{"version":1,"state":"MIRRORING","sourceClusterId":"A","leaderEpoch":"7"}', 'its leaderEpoch is 7'],
  ])('refuses %s', (text, fault) => {
    expect(() => holding(text).load()).toThrow(CorruptMirrorStateError)
    expect(() => holding(text).load()).toThrow(`mirror-state.json: ${fault}. `)
  })
})
