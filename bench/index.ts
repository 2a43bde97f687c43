import { cpus } from 'node:os'
import { benchCommand } from './command.ts'
import { benchDump } from './dump.ts'
import { benchProducerState } from './producerState.ts'
import { benchRecovery } from './recovery.ts'
import { benchRewrite } from './rewrite.ts'

console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores\n`)
await benchRewrite()
await benchCommand()
await benchDump()
await benchProducerState()
await benchRecovery()
