import { type LogStorage, requireStorage } from '../log/partition/storage.ts'
import { CorruptMirrorStateError } from './mirrorErrors.ts'
import type { MirrorState, MirrorStateName } from './mirrorState.ts'

/** Where a mirror keeps its state; the one and only for all replicas of a partition. */
export interface MirrorStateStore {
  /** The state that was saved last; null for a partition that was never mirrored. */
  load(): MirrorState | null
  /** The old state or the new one is there whenever the process dies. */
  save(state: MirrorState): void
}

/** In a partition directory, beside the segments; brokers leave a file of this name alone. */
export const MIRROR_STATE_FILE = 'mirror-state.json'
const VERSION = 1
const MAX_OFFSET = 2n ** 63n - 1n
const STATES: readonly string[] = [
  'PREPARING',
  'MIRRORING',
  'PAUSING',
  'PAUSED',
  'STOPPING',
  'STOPPED',
  'FAILED',
] satisfies MirrorStateName[]
const OFFSETS = ['prepareOffset', 'plannedBarrierOffset', 'mirroredEndOffset', 'lastMirroredOffset'] as const

/**
 * Keeps the state in the file `mirror-state.json` of a partition.
 *
 * @throws InvalidArgumentError
 * @example
 * mirrorStateFile(storage).load()?.lastMirroredOffset
 */
export function mirrorStateFile(storage: LogStorage): MirrorStateStore {
  requireStorage('storage', storage)
  return {
    load() {
      const bytes = storage.read(MIRROR_STATE_FILE)
      return bytes === null ? null : decodeMirrorState(new TextDecoder().decode(bytes))
    },
    save(state) {
      storage.write(MIRROR_STATE_FILE, new TextEncoder().encode(encodeMirrorState(state)))
      storage.sync()
    },
  }
}

/**
 * Keeps the state in memory.
 *
 * @example
 * memoryStateStore().load() // null
 */
export function memoryStateStore(): MirrorStateStore {
  let held: MirrorState | null = null
  return {
    load: () => (held === null ? null : { ...held }),
    save(state) {
      held = { ...state }
    },
  }
}

/** JSON; offsets are decimal strings, so that no digit is lost. */
function encodeMirrorState(state: MirrorState): string {
  const text = JSON.stringify(
    { version: VERSION, ...state },
    (_, value) => (typeof value === 'bigint' ? value.toString() : value),
    2,
  )
  return `${text}\n`
}

/** @throws CorruptMirrorStateError */
function decodeMirrorState(text: string): MirrorState {
  const fault = (what: string) => new CorruptMirrorStateError(MIRROR_STATE_FILE, what)
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(text)
  } catch {
    throw fault('it is not JSON')
  }
  if (typeof fields !== 'object' || fields === null) throw fault('it is not an object')
  const { version, state, sourceClusterId, openTransactions = null, failure = null } = fields
  if (version !== VERSION) throw fault(`its version is ${String(version)}, expected ${VERSION}`)
  if (typeof state !== 'string' || !STATES.includes(state)) throw fault(`it has the state ${String(state)}`)
  if (typeof sourceClusterId !== 'string' || sourceClusterId === '') throw fault('it names no source cluster')
  if (openTransactions !== null && openTransactions !== 'abort' && openTransactions !== 'truncate') {
    throw fault(`its openTransactions is ${String(openTransactions)}`)
  }
  if (failure !== null && typeof failure !== 'string') throw fault('its failure is no text')
  const { clusterId, leaderEpoch } = fields
  if (clusterId !== undefined && (typeof clusterId !== 'string' || clusterId === '')) {
    throw fault(`its clusterId is ${String(clusterId)}`)
  }
  if (leaderEpoch !== undefined && !isLeaderEpoch(leaderEpoch)) {
    throw fault(`its leaderEpoch is ${String(leaderEpoch)}`)
  }
  const [prepareOffset, plannedBarrierOffset, mirroredEndOffset, lastMirroredOffset] = OFFSETS.map((name) => {
    const value = fields[name] ?? null
    if (value === null) return null
    if (typeof value === 'string' && /^\d{1,19}$/.test(value) && BigInt(value) <= MAX_OFFSET)
      return BigInt(value)
    throw fault(`its ${name} is ${String(value)}`)
  })
  if (state === 'STOPPED' && lastMirroredOffset === null) throw fault('it is STOPPED, but names no barrier')
  return {
    state: state as MirrorStateName,
    sourceClusterId,
    prepareOffset: prepareOffset ?? null,
    openTransactions,
    plannedBarrierOffset: plannedBarrierOffset ?? null,
    mirroredEndOffset: mirroredEndOffset ?? null,
    lastMirroredOffset: lastMirroredOffset ?? null,
    failure,
    ...(clusterId === undefined ? {} : { clusterId }),
    ...(leaderEpoch === undefined ? {} : { leaderEpoch }),
  }
}

function isLeaderEpoch(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31
}
