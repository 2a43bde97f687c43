import { cpus } from 'node:os'
import { benchCommand } from './command.ts'
import { benchRewrite } from './rewrite.ts'

console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores\n`)
await benchRewrite()
await benchCommand()
