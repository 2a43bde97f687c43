import type { RecordBatch } from '../../src/formats/recordBatch.ts'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import type { PartitionLogOptions } from '../../src/log/partition/logOptions.ts'
import { LOG_START_FILE } from '../../src/log/partition/logStartFile.ts'
import { type BatchOp, encodeOp, viewOf } from '../producers/logBuilder.ts'
import { random } from '../producers/sequences.ts'
import {
  type AppendLogStep,
  type Damage,
  LogRun,
  type LogSettings,
  type LogStep,
  type OpenStep,
  type StepResult,
  segmentNames,
} from './logRun.ts'

/** What was done to a log, and what it answered. */
export interface LogSequence {
  name: string
  settings: LogSettings
  steps: LogStep[]
  results: StepResult[]
  /** Base64, after a clean end. */
  files: Record<string, string>
}

export interface SequenceOptions extends PartitionLogOptions {
  /** Batches of mapped producers and barriers too, and origin `mirror`: what Kafka does not know. */
  isMirrored?: boolean
}

const WEEK_MS = 604_800_000

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** What a broker that ran on would do, one step after the other: chosen by the log as it is, so that most are taken. */
export class SequenceMaker {
  readonly run: LogRun
  readonly steps: LogStep[] = []
  readonly results: StepResult[] = []
  readonly settings: LogSettings
  readonly #next: () => number
  readonly #isMirrored: boolean
  #epoch = 0
  #time = 1000
  /** Of the newest batches: what a client may send again. */
  #sent: BatchOp[] = []

  constructor(seed: number, options: SequenceOptions = {}, storage?: LogRun['storage']) {
    const { isMirrored = false, ...logOptions } = options
    this.#next = random(seed)
    this.#isMirrored = isMirrored
    this.settings = {
      segmentBytes: 300 + this.below(this.chance(0.5) ? 700 : 4000),
      indexIntervalBytes: this.pick([0, 1, 100, 300, 1000]),
      maxIndexBytes: 1024,
      segmentMs: this.pick([50, 1000, WEEK_MS]),
    }
    this.run = new LogRun({ ...this.settings, ...logOptions }, storage)
  }

  below(n: number): number {
    return Math.floor(this.#next() * n)
  }

  chance(p: number): boolean {
    return this.#next() < p
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  get end(): number {
    return Number(this.run.log.logEndOffset)
  }

  get start(): number {
    return Number(this.run.log.logStartOffset)
  }

  take(step: LogStep): StepResult {
    this.steps.push(step)
    const result = this.run.run(step)
    this.results.push(result)
    return result
  }

  step(): void {
    if (!this.run.isOpen) return
    this.#choose()
    if (!this.run.isOpen) return
    if (!this.#isMirrored && this.#hasKafkaRolled()) this.take({ op: 'roll' })
    // truncation can leave the high watermark in a gap, where none comes to stand in a broker
    const { log } = this.run
    for (;;) {
      const { highWatermark } = log
      const batch = this.#batchAt(highWatermark)
      if (highWatermark === log.logEndOffset || batch?.baseOffset === highWatermark) break
      this.take({ op: 'highWatermark', offset: batch === undefined ? this.end : Number(batch.nextOffset) })
    }
  }

  /**
   * Whether the last step was a leader's append that came to nothing, for which a broker may have begun a segment: it rolls
   * before it asks the producer state. A roll more than that does no harm here.
   */
  #hasKafkaRolled(): boolean {
    const step = this.steps.at(-1)
    if (step?.op !== 'append' || this.results.at(-1)![0] === 'ok') return false
    const size = this.run.log.segments.at(-1)!.size + Buffer.from(step.records, 'base64').length
    return size > this.settings.segmentBytes || this.settings.segmentMs < WEEK_MS
  }

  /** The batch that holds an offset, or the next one. */
  #batchAt(offset: bigint): RecordBatch | undefined {
    const [batch] = recordBatches(this.run.log.read(offset, { maxBytes: 0 }).records)
    return batch
  }

  #choose(): StepResult {
    const dice = this.#next()
    if (dice < 0.45) return this.take(this.lead())
    if (dice < 0.66) return this.take(this.follow())
    if (dice < 0.69) return this.take({ op: 'roll' })
    if (dice < 0.74) return this.take({ op: 'truncate', offset: this.truncation() })
    if (dice < 0.75) return this.take({ op: 'restart', offset: this.below(this.end + 40) })
    if (dice < 0.77) return this.take({ op: 'flush' })
    if (dice < 0.83) return this.take({ op: 'highWatermark', offset: this.boundary() })
    if (dice < 0.85) return this.take({ op: 'logStart', offset: this.logStart() })
    if (dice < 0.95) return this.take(this.read())
    return this.take(this.reopen())
  }

  /** Mostly near the end. */
  truncation(): number {
    return this.chance(0.7) ? Math.max(0, this.end - this.below(8)) : this.below(this.end + 3)
  }

  /** Where a batch begins, or the end: what a high watermark is in a real log. */
  boundary(): number {
    const { log } = this.run
    const offset = BigInt(this.start + this.below(this.end - this.start + 1))
    const batch = this.#batchAt(offset)
    if (batch === undefined) return this.end
    return Number(batch.baseOffset < log.logStartOffset ? batch.nextOffset : batch.baseOffset)
  }

  /** Also within a batch. */
  logStart(): number {
    const { highWatermark, logStartOffset } = this.run.log
    const offset = BigInt(this.below(Number(highWatermark) + 1))
    if (offset < logStartOffset) return Number(offset)
    const batch = this.#batchAt(offset)
    return Number(batch === undefined || batch.baseOffset < offset ? offset : batch.baseOffset)
  }

  read(): LogStep {
    const { log } = this.run
    const isIn = this.chance(0.95)
    return {
      op: 'read',
      offset: isIn
        ? this.start + this.below(this.end - this.start + 1)
        : this.below(Number(log.logEndOffset) + 5),
      isolation: this.pick(['log_end', 'high_watermark', 'read_committed', 'read_committed'] as const),
      maxBytes: this.pick([0, 1, 150, 400, 1_000_000]),
    }
  }

  lead(): AppendLogStep {
    if (this.chance(0.05)) this.#epoch += 1 + this.below(2)
    const pid = this.#pid()
    const entry = this.run.log.producerState.producers.get(BigInt(pid))
    const isOpen = entry !== undefined && entry.currentTxnFirstOffset !== null
    const isMarker = this.chance(isOpen ? 0.35 : 0.03)
    const version = this.pick([0, 1, 2])
    const op = isMarker ? this.#marker(pid, version) : this.#data(pid)
    if (!isMarker && this.chance(0.06) && this.#sent.length > 0) Object.assign(op, this.pick(this.#sent))
    if (!isMarker) this.#sent = [...this.#sent.slice(-12), { ...op }]
    const origin = isMarker || this.chance(0.05) ? 'coordinator' : 'client'
    if (this.#isMirrored && this.chance(0.07)) return this.#append('coordinator', 0, [{ kind: 'barrier' }])
    return this.#append(origin, version, [op])
  }

  /** A fetched set; its offsets go on, sometimes behind a gap. */
  follow(): AppendLogStep {
    const ops: BatchOp[] = []
    let size = 0
    let offset = this.end
    const open = new Set<number>()
    const epochs = new Map<number, number>()
    for (const { producerId, currentTxnFirstOffset } of this.run.log.producerState.producers.values()) {
      if (currentTxnFirstOffset !== null) open.add(Number(producerId))
    }
    for (let left = 1 + this.below(5); left > 0; left--) {
      if (this.chance(0.05)) this.#epoch++
      if (this.chance(0.1)) offset += 1 + this.below(5)
      const pid = this.#pid()
      let op = open.has(pid) && this.chance(0.4) ? this.#marker(pid, 0) : this.#data(pid)
      if (this.chance(0.04)) op = { ...this.#data(pid), count: 0, delta: this.below(4) }
      if (op.kind === 'data' && open.has(op.pid ?? -1)) op.kind = 'txn'
      if (this.#isMirrored && this.chance(0.1)) op = { kind: 'barrier' }
      // where an epoch goes down, a broker's window depends on how the batches came: see ProducerStateManager.appendAll
      if (op.pid !== undefined) {
        op.epoch = Math.max(op.epoch ?? 0, epochs.get(op.pid) ?? 0)
        epochs.set(op.pid, op.epoch)
      }
      Object.assign(op, { offset, leaderEpoch: this.#epoch })
      const { length } = encodeOp(op)
      // a broker of 4.3 refuses a fetched set that is larger than a segment
      if (size + length > this.settings.segmentBytes) break
      size += length
      ops.push(op)
      if (op.kind === 'txn' && op.pid !== undefined) open.add(op.pid)
      if (op.kind === 'ABORT' || op.kind === 'COMMIT') open.delete(pid)
      if (op.kind === 'barrier') open.clear()
      offset = Number(viewOf(encodeOp(op)).nextOffset)
    }
    this.#lower(ops[0])
    const step = this.#append(this.#isMirrored && this.chance(0.5) ? 'mirror' : 'replication', 0, ops)
    // a leader may be older than what it hands out
    if (this.chance(0.05)) step.leaderEpoch = Math.max(0, this.#epoch - 1)
    if (this.chance(0.03))
      step.records = base64(Buffer.from(step.records, 'base64').subarray(0, -1 - this.below(20)))
    if (this.chance(0.02)) {
      const bytes = Buffer.from(step.records, 'base64')
      // within the first batch's CRC: behind it, a base offset may be hit that no CRC covers
      const [first] = recordBatches(bytes)
      if (first !== undefined) bytes[21 + this.below(first.sizeInBytes - 21)]! ^= 1
      step.records = base64(bytes)
      step.leaderEpoch = this.#epoch
    }
    return step
  }

  /** A batch that begins below the end of the log. */
  #lower(first: BatchOp | undefined): void {
    const isEmpty = this.start === this.end
    if (first === undefined || !this.chance(isEmpty ? 0.3 : 0.04)) return
    const offset = Math.max(0, this.end - 1 - this.below(3))
    const { lastOffset } = viewOf(encodeOp({ ...first, offset }))
    // a broker takes one that ends there too, and then stands in a gap
    if (isEmpty && lastOffset < this.end) return
    // where a cut went through a batch, a broker never takes the whole one again
    const isCut = !isEmpty && this.#batchAt(BigInt(this.end - 1)) === undefined
    if (this.#isMirrored || !isCut) first.offset = offset
  }

  reopen(): OpenStep {
    const isClean = this.chance(0.4)
    // an older checkpoint than the log, after a crash
    const logStartOffset = isClean
      ? this.start
      : this.pick([this.start, this.start, this.below(this.start + 1)])
    const bases = this.run.log.segments.map(({ baseOffset }) => Number(baseOffset))
    const recoveryPoint = this.pick([0, this.pick(bases), this.end, this.below(this.end + 1)])
    const damage = isClean ? this.#lostIndexes(0.1, bases.at(-1)) : this.#crash(recoveryPoint, bases)
    if (logStartOffset < this.start) damage.push({ file: LOG_START_FILE, kind: 'remove' })
    return { op: isClean ? 'close' : 'crash', damage, logStartOffset, recoveryPoint, clean: isClean }
  }

  finish(name: string): LogSequence {
    const { settings, steps, results } = this
    return { name, settings, steps, results, files: this.run.finish() }
  }

  #pid(): number {
    const pid = this.below(4)
    return this.#isMirrored && this.chance(0.5) ? -pid - 2 : pid
  }

  #data(pid: number): BatchOp {
    this.#time += this.below(30) - 4
    if (this.chance(0.1))
      return { kind: 'data', count: 1 + this.below(3), bytes: this.below(90), timestamp: this.#time }
    const entry = this.run.log.producerState.producers.get(BigInt(pid))
    const isOpen = entry !== undefined && entry.currentTxnFirstOffset !== null
    const op: BatchOp = {
      kind: (isOpen ? this.chance(0.97) : this.chance(0.4)) ? 'txn' : 'data',
      pid,
      epoch: entry === undefined ? 0 : Math.max(0, entry.producerEpoch),
      seq: entry === undefined ? 0 : entry.lastSequence + 1,
      count: 1 + this.below(3),
      bytes: this.below(this.chance(0.1) ? 400 : 60),
      timestamp: this.#time,
    }
    if (this.chance(0.04)) op.seq = this.below(9)
    if (this.chance(0.04)) Object.assign(op, { epoch: (op.epoch ?? 0) + 1, seq: 0 })
    return op
  }

  #marker(pid: number, version: number): BatchOp {
    const entry = this.run.log.producerState.producers.get(BigInt(pid))
    const epoch = entry === undefined ? 0 : Math.max(0, entry.producerEpoch)
    return {
      kind: this.chance(0.6) ? 'ABORT' : 'COMMIT',
      pid,
      epoch: Math.min(32767, epoch + (version === 2 ? 1 : 0)),
      coordinatorEpoch: entry === undefined ? 0 : Math.max(0, entry.coordinatorEpoch),
      timestamp: this.#time,
    }
  }

  #append(origin: AppendLogStep['origin'], version: number, ops: readonly BatchOp[]): AppendLogStep {
    const records = base64(Buffer.concat(ops.map((op) => encodeOp(op))))
    return { op: 'append', origin, version, leaderEpoch: this.#epoch, records }
  }

  #lostIndexes(p: number, of?: number): Damage[] {
    const isLost = (name: string) => of === undefined || Number(name.slice(0, 20)) === of
    const lost = new Set<string>()
    for (const name of this.run.storage.list()) {
      if (!/\.(index|timeindex|txnindex)$/.test(name) || !isLost(name) || !this.chance(p)) continue
      lost.add(name)
      // a time index alone is not rebuilt, and a broker then forgets the timestamps before it
      if (name.endsWith('.timeindex')) lost.add(name.replace('.timeindex', '.index'))
    }
    return [...lost].map((file) => ({ file, kind: 'remove' }))
  }

  #crash(recoveryPoint: number, bases: readonly number[]): Damage[] {
    const { storage, log } = this.run
    const damage: Damage[] = this.chance(0.3) ? this.#lostIndexes(this.pick([0.3, 1])) : []
    const epochs = 'leader-epoch-checkpoint'
    // a broker that has to rebuild indexes in the middle first finds the epochs out of their order
    if (this.chance(0.05) && damage.length === 0) damage.push({ file: epochs, kind: 'remove' })
    const snapshots = storage.list().filter((name) => name.endsWith('.snapshot'))
    for (const file of snapshots) {
      const dice = this.#next()
      if (dice < 0.1) damage.push({ file, kind: 'remove' })
      else if (dice < 0.2) {
        const { length } = storage.read(file)!
        if (this.chance(0.5)) damage.push({ file, kind: 'cut', size: this.below(length) })
        else damage.push({ file, kind: 'flip', position: this.below(length), mask: 1 << this.below(8) })
      }
    }
    const names = segmentNames(log)
    const last = names.at(-1)!
    const { length } = storage.read(last)!
    const dice = this.#next()
    if (dice < 0.3) damage.push({ file: last, kind: 'cut', size: Math.max(0, length - 1 - this.below(130)) })
    else if (dice < 0.5) {
      const bytes = Buffer.alloc(1 + this.below(100)).map(() => this.below(256))
      damage.push({ file: last, kind: 'add', bytes: base64(this.chance(0.4) ? bytes.fill(0) : bytes) })
    } else if (dice < 0.7) {
      const isRecovered = (at: number) => at === names.length - 1 || bases[at + 1]! > recoveryPoint
      const at = this.below(names.length)
      const isIndexed = !damage.some(({ file }) => file.endsWith('index'))
      if (isRecovered(at) && (isIndexed || at === names.length - 1)) damage.push(...this.#flip(names[at]!))
    }
    return damage
  }

  /** One bit of a batch, but for base offset, leader epoch and magic, which no CRC covers. */
  #flip(file: string): Damage[] {
    const batches = [...recordBatches(this.run.storage.read(file)!)]
    if (batches.length === 0) return []
    const { position, sizeInBytes } = this.pick(batches)
    const at = this.chance(0.3) ? 8 + this.below(4) : 17 + this.below(sizeInBytes - 17)
    return [{ file, kind: 'flip', position: position + at, mask: 1 << this.below(8) }]
  }
}

/** A whole sequence of its seed. */
export function randomLogSequence(seed: number, options: SequenceOptions = {}): LogSequence {
  const maker = new SequenceMaker(seed, options)
  const length = 8 + maker.below(40)
  for (let step = 0; step < length; step++) maker.step()
  return maker.finish(`seed ${seed}`)
}
