// Case K-29: the installed tarball in an empty project, on each Node that it is for: imported, required, in a worker
// thread, without WebAssembly, and as a command.
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { imported, POOLED, POOLED_OUTPUT, REQUIRED, THREADS } from './programs.ts'
import { fixture, placeIn, runIn, segmentsModule, tourSource } from './support.ts'
import { TOUR } from './tourOutput.ts'
import { NODE_VERSIONS } from './versions.ts'

const LOAD_WASM = 'await mirrorpid.loadCore()'
const LOAD_JS = '(await import("mirrorpid/js")).jsCore()'

const REFUSED = `
import { loadCore, loadCoreSync, WasmUnavailableError } from 'mirrorpid'
console.log(typeof WebAssembly)
for (const load of [async () => loadCoreSync(), loadCore]) {
  await load().catch((error) => {
    console.log(error.code, error instanceof WasmUnavailableError, error.message.includes('"mirrorpid/js"'))
  })
}`

const COMMANDS = ['rewrite', 'verify', 'dump', 'audit', 'stop', 'recover', 'simulate']

describe.each(NODE_VERSIONS)('K-29: on Node %s', (version) => {
  const node = inject('nodes')[version]!
  let place: string

  beforeAll(async () => {
    place = await placeIn(inject('project'), {
      'tour.js': await tourSource(),
      'segments.js': await segmentsModule(),
      'imported.js': imported(LOAD_WASM),
      'plain.js': imported(LOAD_JS),
      'required.cjs': REQUIRED,
      'threads.js': THREADS,
      'pooled.js': POOLED,
      'refused.js': REFUSED,
    })
  })

  const run = (...args: string[]) => runIn(place, node, args)
  const command = (...args: string[]) => run(join('..', 'node_modules', '.bin', 'mirrorpid'), ...args)
  const fine = (stdout: string) => ({ stdout: `${stdout}\n`, stderr: '', status: 0 })

  it('is that version', async () => {
    expect(await run('--version')).toEqual(fine(`v${version}`))
  })

  it('is imported', async () => {
    expect(await run('imported.js')).toEqual(fine(TOUR.wasm))
  })

  it('is required, with the state of the import', async () => {
    // Node 22.12 still warns of it
    const required = await run('--disable-warning=ExperimentalWarning', 'required.cjs')
    expect(required).toEqual(fine(`function true\n${TOUR.wasm}`))
  })

  it('works in threads', async () => {
    expect(await run('threads.js')).toEqual(fine(`${TOUR.wasm}\n${TOUR.wasm}`))
  })

  it('K-28: changes the bytes that it is given where they are, and none beside them', async () => {
    expect(await run('pooled.js')).toEqual(fine(POOLED_OUTPUT))
  })

  it('refuses by a typed error where there is no WebAssembly, and the rest works', async () => {
    const refusal = 'WASM_UNAVAILABLE true true'
    const refused = await run('--jitless', 'refused.js')
    expect(refused).toMatchObject({ stdout: `undefined\n${refusal}\n${refusal}\n`, status: 0 })
    expect(await run('--jitless', 'plain.js')).toMatchObject({
      stdout: `${TOUR['without wasm']}\n`,
      status: 0,
    })
  })

  it('starts as a command, and each of its commands', async () => {
    const [start, ...helps] = await Promise.all([
      command('--version'),
      ...COMMANDS.map((name) => command(name, '--help')),
    ])
    expect(start).toEqual(fine('0.1.0'))
    for (const [index, help] of helps.entries()) {
      expect(help).toMatchObject({ stderr: '', status: 0 })
      expect(help.stdout).toContain(`Usage: mirrorpid ${COMMANDS[index]}`)
    }
  })

  it('does the work of its commands', async () => {
    const partition = fixture('transactions-0')
    const out = `out-${version}`
    const runs = [
      // as many threads as there are segments, up to two
      ['rewrite', fixture('segments-0'), partition, '--out', out, '--crc', 'verify', '--jobs', '2'],
      ['verify', out, '--jobs', '2'],
      ['dump', join(out, 'transactions-0'), '--explain'],
      ['audit', partition],
      ['recover', join(out, 'transactions-0'), '--cluster-id', 'B'],
      ['stop', join(out, 'transactions-0'), '--cluster-id', 'B', '--source-cluster-id', 'A', '--dry-run'],
      ['simulate', 'chain', '--policy', 'default'],
    ]
    for (const args of runs) expect(await command(...args), args.join(' ')).toMatchObject({ status: 0 })
  })
})
