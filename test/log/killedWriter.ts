// A process of its own, made of this file by killed.test.ts: it does the steps of a file to the log in a directory, and says
// on stdout which one it begins, until it is killed. It goes no further than a few steps beyond the last one of which it got
// a line on stdin, so that it is in their midst when it is killed, however late that comes.
import { readFileSync, readSync, writeSync } from 'node:fs'
import { MirrorPidError } from '../../src/errors.ts'
import type { PartitionLogOptions } from '../../src/log/partition/logOptions.ts'
import { PartitionLog } from '../../src/log/partition/partitionLog.ts'
import { directoryStorage } from '../../src/node/storage/directoryStorage.ts'
import type { LogStep } from './logRun.ts'

const [directory = '', file = ''] = process.argv.slice(2)
const { options, steps }: { options: PartitionLogOptions; steps: LogStep[] } = JSON.parse(
  readFileSync(file, 'utf8'),
)
let log = PartitionLog.open(directoryStorage(directory), options)

function run(step: LogStep): void {
  switch (step.op) {
    case 'append': {
      const { origin, leaderEpoch, version } = step
      const more = origin === 'coordinator' ? { transactionVersion: version } : {}
      log.append(Buffer.from(step.records, 'base64'), origin, { leaderEpoch, ...more })
      break
    }
    case 'roll':
      log.roll()
      break
    case 'flush':
      log.flush()
      break
    case 'truncate':
      log.truncateTo(BigInt(step.offset))
      break
    case 'restart':
      log.truncateFullyAndStartAt(BigInt(step.offset))
      break
    case 'highWatermark':
      log.updateHighWatermark(BigInt(step.offset))
      break
    case 'close': {
      log.close()
      const shutdown = step.clean ? 'clean' : 'unclean'
      log = PartitionLog.open(directoryStorage(directory), { ...options, shutdown })
      break
    }
    default:
      throw new Error(`no step of a writer: ${step.op}`)
  }
}

const AHEAD = 4
const heard = new Uint8Array(64)
let last = 0

for (const [number, step] of steps.entries()) {
  writeSync(1, `${number}\n`)
  while (number > last + AHEAD) last += readSync(0, heard)
  try {
    run(step)
  } catch (error) {
    // what a log refuses was refused in the expected run too
    if (!MirrorPidError.is(error) || error.code === 'IO_ERROR') throw error
  }
}
writeSync(1, `${steps.length}\n`)
setInterval(() => {}, 1000)
