import type { MirrorPidError } from '../../src/errors.ts'
import { logFileName } from '../../src/log/fileNames.ts'
import type { PartitionLogOptions } from '../../src/log/partition/logOptions.ts'
import type { ReadIsolation } from '../../src/log/partition/logRead.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import type { LogStorage } from '../../src/log/partition/storage.ts'
import { storedFiles } from '../support/storedFiles.ts'

/** What a crash of the machine, or a person, might do to a file. Bytes in base64. */
export type Damage = { file: string } & (
  | { kind: 'remove' }
  | { kind: 'write'; bytes: string }
  | { kind: 'add'; bytes: string }
  | { kind: 'cut'; size: number }
  | { kind: 'flip'; position: number; mask: number }
  | { kind: 'rename'; to: string }
)

/** How a log is opened again. `close` ends cleanly before, `crash` does not end, `open` begins with what is there. */
export interface OpenStep {
  op: 'close' | 'crash' | 'open'
  damage: Damage[]
  logStartOffset: number
  recoveryPoint: number
  clean: boolean
}

export interface AppendLogStep {
  op: 'append'
  origin: 'client' | 'coordinator' | 'replication' | 'mirror'
  version: number
  leaderEpoch: number
  records: string
}

export type LogStep =
  | AppendLogStep
  | OpenStep
  | { op: 'roll' | 'flush' }
  | { op: 'truncate' | 'restart' | 'highWatermark' | 'logStart'; offset: number }
  | { op: 'endOffsetFor'; epoch: number }
  | { op: 'read'; offset: number; isolation: ReadIsolation; maxBytes: number }

/** `ok`, or more, or the error's class; then log start, log end, last stable offset, high watermark. */
export type StepResult = (string | boolean | string[])[]

export type LogSettings = Required<
  Pick<PartitionLogOptions, 'segmentBytes' | 'indexIntervalBytes' | 'maxIndexBytes' | 'segmentMs'>
>

/** A `PartitionLog` driven step by step. */
export class LogRun {
  storage: LogStorage
  log: PartitionLog
  /** False once the log could not be opened again, as a broker would not start on it. */
  isOpen = true
  readonly #options: PartitionLogOptions

  constructor(options: PartitionLogOptions, storage = memoryStorage()) {
    this.#options = options
    this.storage = storage
    this.log = PartitionLog.open(storage, options)
  }

  run(step: LogStep): StepResult {
    let result: StepResult
    try {
      result = this.#run(step)
      if (result.length === 0) result = ['ok']
    } catch (error) {
      result = [(error as MirrorPidError).name]
      if (step.op === 'close' || step.op === 'crash' || step.op === 'open') {
        this.isOpen = false
        return result
      }
    }
    const { logStartOffset, logEndOffset, lastStableOffset, highWatermark } = this.log
    return [...result, ...[logStartOffset, logEndOffset, lastStableOffset, highWatermark].map(String)]
  }

  /** The files after a clean end, in base64. */
  finish(): Record<string, string> {
    if (!this.isOpen) return {}
    this.log.close()
    return filesOf(this.storage)
  }

  #run(step: LogStep): StepResult {
    const { log } = this
    switch (step.op) {
      case 'append': {
        const { origin, version, leaderEpoch, records } = step
        const options = { leaderEpoch, ...(origin === 'coordinator' ? { transactionVersion: version } : {}) }
        const { duplicate } = log.append(Buffer.from(records, 'base64'), origin, options)
        return duplicate === null ? [] : [`duplicate ${duplicate.firstOffset} ${duplicate.lastOffset}`]
      }
      case 'roll':
        log.roll()
        return []
      case 'flush':
        log.flush()
        return []
      case 'truncate':
        return [log.truncateTo(BigInt(step.offset))]
      case 'restart':
        log.truncateFullyAndStartAt(BigInt(step.offset))
        return []
      case 'highWatermark':
        log.updateHighWatermark(BigInt(step.offset))
        return []
      case 'logStart':
        log.deleteRecordsBefore(BigInt(step.offset))
        return []
      case 'endOffsetFor': {
        const end = log.endOffsetFor(step.epoch)
        return [end === null ? 'none' : `${end.epoch} ${end.endOffset}`]
      }
      case 'read': {
        const { isolation, maxBytes } = step
        const { records, abortedTransactions } = log.read(BigInt(step.offset), { isolation, maxBytes })
        const aborted = abortedTransactions ?? []
        return [
          'ok',
          Buffer.from(records).toString('base64'),
          aborted.map((txn) => `${txn.producerId} ${txn.firstOffset}`),
        ]
      }
      default:
        this.#open(step)
        return []
    }
  }

  #open({ op, damage, logStartOffset, recoveryPoint, clean }: OpenStep): void {
    if (op === 'close') this.log.close()
    for (const each of damage) applyDamage(this.storage, each)
    this.log = PartitionLog.open(this.storage, {
      ...this.#options,
      shutdown: clean ? 'clean' : 'unclean',
      logStartOffset: BigInt(logStartOffset),
      recoveryPoint: BigInt(recoveryPoint),
    })
  }
}

export function applyDamage(storage: LogStorage, damage: Damage): void {
  const { file } = damage
  switch (damage.kind) {
    case 'remove':
      storage.remove(file)
      break
    case 'write':
      storage.write(file, Buffer.from(damage.bytes, 'base64'))
      break
    case 'add':
      storage.open(file).append(Buffer.from(damage.bytes, 'base64'))
      break
    case 'cut':
      storage.open(file).truncate(damage.size)
      break
    case 'rename':
      storage.rename(file, damage.to)
      break
    case 'flip': {
      const bytes = Uint8Array.from(storage.read(file)!)
      bytes[damage.position]! ^= damage.mask
      storage.write(file, bytes)
    }
  }
}

export function filesOf(storage: LogStorage): Record<string, string> {
  return Object.fromEntries(
    [...storedFiles(storage)].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
  )
}

export function segmentNames(log: PartitionLog): string[] {
  return log.segments.map(({ baseOffset }) => logFileName(baseOffset, '.log'))
}
