#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { addAuditCommand } from './audit.ts'
import { addDumpCommand } from './dump.ts'
import { Interrupted } from './interrupts.ts'
import { collectGarbage } from './lastCollection.ts'
import { describeFailure, EXIT_FAILED, writeError } from './output.ts'
import { addRecoverCommand } from './recover.ts'
import { addRewriteCommand } from './rewrite.ts'
import { addSimulateCommand } from './simulate.ts'
import { addStopCommand } from './stop.ts'
import { addVerifyCommand } from './verify.ts'

const EXAMPLES = `
Exit status: 0 fine; 1 the input has findings, such as damaged batches; 2 usage or I/O error.

Examples:
  $ mirrorpid rewrite /kafka/orders-0 --out /mapped         map the producer ids of a partition, into a copy
  $ mirrorpid rewrite /kafka --out /native --unmap          restore those of a whole log directory
  $ mirrorpid verify /kafka/orders-0/00000000000000000000.log
  $ mirrorpid audit /kafka/orders-0                         producers that collide, transactions that hang
  $ mirrorpid stop /kafka/orders-0 --cluster-id B --source-cluster-id A    fail over a mirrored partition
  $ mirrorpid simulate chain --policy legacy
  $ mirrorpid rewrite --help                                all about one command

Stop the broker first: files that change meanwhile are refused.`

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/**
 * Each command is two modules: NAME.ts declares its options and help, and NAMERun.ts, with all that it needs, does the
 * work and is imported by the action. So a run loads the work of its own command only; modules cost more of its start
 * than anything else.
 */
function createProgram(): Command {
  const program = new Command('mirrorpid')
    .description('Rewrites Kafka producer ids in segment files, for clusters that mirror each other.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
  addRewriteCommand(program)
  addVerifyCommand(program)
  addDumpCommand(program)
  addAuditCommand(program)
  addStopCommand(program)
  addRecoverCommand(program)
  addSimulateCommand(program)
  return program
}

/** A reader that went away (such as `head`) is no reason to stop the work; anything else on stdout is an error. */
function onStreamError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  process.exitCode = EXIT_FAILED
  writeError(`cannot write the output: ${error.message}`)
}

async function main(): Promise<void> {
  process.stdout.on('error', onStreamError)
  process.stderr.on('error', () => {})
  try {
    await createProgram().parseAsync()
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : EXIT_FAILED
    } else if (error instanceof Interrupted) {
      writeError(error.message)
      // dies of the signal, as the shell expects it; its handlers are gone by now
      process.kill(process.pid, error.signal)
    } else {
      process.exitCode = EXIT_FAILED
      writeError(describeFailure(error))
    }
  }
}

await main()
collectGarbage()
