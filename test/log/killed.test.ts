import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { recordBatches } from '../../src/formats/recordBatches.ts'
import { memoryStorage } from '../../src/log/partition/memoryStorage.ts'
import { minOffset } from '../../src/log/partition/offsets.ts'
import { overlayStorage } from '../../src/log/partition/overlayStorage.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import { temporaryDirectories } from '../node/support.ts'
import { random } from '../producers/sequences.ts'
import { quickOrLong } from '../support/counts.ts'
import type { LogStep } from './logRun.ts'
import { SequenceMaker } from './logSequences.ts'
import { abortedLines, allRecords, lastOnly, replayed } from './logStates.ts'

// A process that writes a log is killed at a random step. What the system was given survives that, so the log must be as it
// was after the last step that was done, or somewhere in the one that was under way: whole batches, none lost, none torn. More, and again:
//   MIRRORPID_KILLS=2000 MIRRORPID_KILL_SEED=1 npx vitest run --project unit test/log/killed.test.ts

const SEED = Number(process.env.MIRRORPID_KILL_SEED ?? 20261201)
const KILLS = Number(process.env.MIRRORPID_KILLS ?? quickOrLong(20, 200))
const STEPS = 120

const newDirectory = temporaryDirectories()
const source = fileURLToPath(new URL('killedWriter.ts', import.meta.url))
let writer: string

beforeAll(async () => {
  writer = join(newDirectory(), 'writer.mjs')
  await build({ entryPoints: [source], outfile: writer, bundle: true, platform: 'node', format: 'esm' })
})

interface Plan {
  steps: LogStep[]
  options: object
  /** The records before the first step and after each. */
  records: Buffer[]
  /** Up to where it was flushed, likewise. */
  recoveryPoints: bigint[]
}

/** What the process is to do; the log that it must give is known from the same steps in memory. */
function planOf(seed: number): Plan {
  const maker = new SequenceMaker(seed, { isMirrored: true })
  const records = [allRecords(maker.run.log)]
  const recoveryPoints = [0n]
  while (maker.steps.length < STEPS) {
    maker.take(next(maker))
    records.push(allRecords(maker.run.log))
    recoveryPoints.push(maker.run.log.recoveryPoint)
  }
  return { steps: maker.steps, options: maker.settings, records, recoveryPoints }
}

function next(maker: SequenceMaker): LogStep {
  const dice = maker.below(1000)
  if (dice < 500) return maker.lead()
  if (dice < 780) return maker.follow()
  if (dice < 830) return { op: 'roll' }
  if (dice < 930) return { op: 'truncate', offset: maker.truncation() }
  if (dice < 940) return { op: 'restart', offset: maker.below(maker.end + 5) }
  if (dice < 960) return { op: 'flush' }
  if (dice < 970) return { op: 'highWatermark', offset: maker.boundary() }
  return { op: 'close', damage: [], logStartOffset: 0, recoveryPoint: 0, clean: maker.chance(0.5) }
}

/** Starts the writer, kills it when it has said that it begins a step; returns the step that it was at. */
async function killedAt(directory: string, { steps, options }: Plan, from: number): Promise<number> {
  const file = join(newDirectory(), 'steps.json')
  writeFileSync(file, JSON.stringify({ steps, options }))
  const child = spawn(process.execPath, [writer, directory, file], { stdio: 'pipe' })
  child.stdin.on('error', () => {}) // it is dead
  let said = ''
  let failed = ''
  child.stderr.on('data', (text) => {
    failed += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (lastOf(said) >= from) child.kill('SIGKILL')
    else child.stdin.write(text.replace(/[^\n]/g, ''))
  })
  const [, signal] = await once(child, 'close')
  expect([signal, failed]).toEqual(['SIGKILL', ''])
  return lastOf(said)
}

/** The last whole line of what a writer has said. */
function lastOf(said: string): number {
  return Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1))
}

/** Whether the log holds what a step left, what it found, or what lies between. */
function isBetween(found: Buffer, before: Buffer, after: Buffer, isRestart: boolean): boolean {
  const least = isRestart ? 0 : Math.min(before.length, after.length)
  const isPrefix = [before, after].some((whole) => whole.subarray(0, found.length).equals(found))
  return isPrefix && found.length >= least
}

describe('a writer that is killed', () => {
  it(`${KILLS} times (seed ${SEED}): no batch is lost or torn, and the state is that of the bytes`, async () => {
    const dice = random(SEED)
    const plans = Array.from({ length: Math.min(KILLS, 40) }, (_, index) => planOf(SEED * 1000 + index))
    const reached: number[] = []
    for (let kill = 0; kill < KILLS; kill += 2) {
      const pair = [kill, kill + 1].map(async (number) => {
        const plan = plans[number % plans.length]!
        const directory = newDirectory()
        const at = await killedAt(directory, plan, 1 + Math.floor(dice() * (STEPS - 1)))
        reached.push(at)
        const name = `seed ${SEED}, kill ${number}, step ${at} ${JSON.stringify(plan.steps[at]?.op)}`
        const points = plan.recoveryPoints.slice(at, at + 2)
        const trusting = PartitionLog.open(
          overlayStorage(directoryStorage(directory, 'read'), memoryStorage()),
          {
            recoveryPoint: points.reduce(minOffset),
          },
        )
        const log = PartitionLog.open(directoryStorage(directory))
        expect(allRecords(trusting).equals(allRecords(log)), name).toBe(true)
        expect(lastOnly(trusting.producerState), name).toEqual(lastOnly(log.producerState))
        const found = allRecords(log)
        const isRestart = plan.steps[at]?.op === 'restart'
        const after = plan.records[Math.min(at + 1, STEPS)]!
        expect(isBetween(found, plan.records[at]!, after, isRestart), name).toBe(true)
        // above it only where truncation and a roll have left a gap
        const next = [...recordBatches(found)].at(-1)?.nextOffset ?? log.logStartOffset
        expect(log.logEndOffset >= next, name).toBe(true)
        expect(lastOnly(log.producerState), name).toEqual(lastOnly(replayed(log)))
        expect(abortedLines(log), name).toEqual(abortedLines(replayed(log)))
        log.close()
      })
      await Promise.all(pair)
    }
    // spread over the whole run, not all at its ends
    const inside = reached.filter((at) => at > 0 && at < STEPS)
    expect(inside.length).toBeGreaterThan(KILLS / 2)
    expect(new Set(inside).size).toBeGreaterThan(KILLS / 10)
  }, 300_000)
})
