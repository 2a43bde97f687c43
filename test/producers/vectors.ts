import { handWritten } from './handWritten.ts'
import type { BatchOp } from './logBuilder.ts'
import { type AppendStep, randomSequence, type Sequence, type Step } from './sequences.ts'

export const SEED = 1279
const RECORDED = 200

/** The sequences whose answers are recorded: those by hand and the first random ones. */
export function recordedSequences(): Sequence[] {
  return [...handWritten, ...Array.from({ length: RECORDED }, (_, index) => seeded(index))]
}

export function seeded(index: number): Sequence {
  return randomSequence(SEED * 1_000_000 + index)
}

const FIELDS = [
  'offset',
  'pid',
  'epoch',
  'seq',
  'count',
  'delta',
  'timestamp',
  'coordinatorEpoch',
  'type',
] as const

/** `[kind, offset, pid, ...]`: the fields in this order, null for what is not given, up to the last that is. */
type PackedOp = [BatchOp['kind'], ...(number | null)[]]
/** `[origin, version, op, ...]`, or the other steps as they are. */
type PackedStep = [AppendStep['origin'], number | null, ...PackedOp[]] | Exclude<Step, AppendStep>
export type PackedSequence = Omit<Sequence, 'steps'> & { steps: PackedStep[] }

/** As the vectors file holds it. */
export function pack(sequence: Sequence): PackedSequence {
  const steps = sequence.steps.map((step): PackedStep => {
    if (!('append' in step)) return step
    return [step.origin, step.version ?? null, ...step.append.map(packOp)]
  })
  return { ...sequence, steps }
}

function packOp(op: BatchOp): PackedOp {
  const fields = FIELDS.map((field) => op[field] ?? null)
  while (fields.at(-1) === null) fields.pop()
  return [op.kind, ...fields]
}

export function unpack(packed: PackedSequence): Sequence {
  const steps = packed.steps.map((step): Step => {
    if (!Array.isArray(step)) return step
    const [origin, version, ...ops] = step
    return { append: ops.map(unpackOp), origin, ...(version === null ? {} : { version }) }
  })
  return { ...packed, steps }
}

function unpackOp([kind, ...fields]: PackedOp): BatchOp {
  const op: BatchOp = { kind }
  for (const [index, value] of fields.entries()) if (value !== null) op[FIELDS[index]!] = value
  return op
}
