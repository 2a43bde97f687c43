// Does the steps of a file to the log in a directory, and says on stdout which one it begins, until it is killed.
import { readFileSync, writeSync } from 'node:fs'
import { PartitionLog } from '../../dist/log/partition/partitionLog.js'
import { directoryStorage } from '../../dist/node/directoryStorage.js'

const [directory = '', file = ''] = process.argv.slice(2)
const { options, steps } = JSON.parse(readFileSync(file, 'utf8'))
let log = PartitionLog.open(directoryStorage(directory), options)

/** @type {Record<string, (step: any) => void>} */
const run = {
  append({ records, origin, version, leaderEpoch }) {
    const more = origin === 'coordinator' ? { transactionVersion: version } : {}
    log.append(Buffer.from(records, 'base64'), origin, { leaderEpoch, ...more })
  },
  roll: () => log.roll(),
  flush: () => log.flush(),
  truncate: ({ offset }) => log.truncateTo(BigInt(offset)),
  restart: ({ offset }) => log.truncateFullyAndStartAt(BigInt(offset)),
  highWatermark: ({ offset }) => log.updateHighWatermark(BigInt(offset)),
  close({ clean }) {
    log.close()
    log = PartitionLog.open(directoryStorage(directory), {
      ...options,
      shutdown: clean ? 'clean' : 'unclean',
    })
  },
}

for (const [number, step] of steps.entries()) {
  writeSync(1, `${number}\n`)
  try {
    run[step.op]?.(step)
  } catch (error) {
    // what a log refuses was refused in the expected run too
    if (/** @type {any} */ (error).code === 'IO_ERROR' || /** @type {any} */ (error).code === undefined)
      throw error
  }
}
writeSync(1, `${steps.length}\n`)
setInterval(() => {}, 1000)
