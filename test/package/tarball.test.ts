// Case K-29: what the installed tarball does at import, where WebAssembly is refused or short of memory, and as a command.
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import {
  placeIn,
  type Ran,
  runIn,
  runNode,
  segmentsModule,
  temporaryDirectory,
  tourSource,
} from './support.ts'
import { TOUR } from './tourOutput.ts'

const project = inject('project')

async function runProgram(source: string, ...flags: string[]): Promise<Ran> {
  const files = { 'tour.js': await tourSource(), 'segments.js': await segmentsModule(), 'program.js': source }
  return runNode(await placeIn(project, files), ...flags, 'program.js')
}

const fine = (stdout: string): Ran => ({ stdout: `${stdout}\n`, stderr: '', status: 0 })

const START = `
import * as mirrorpid from 'mirrorpid'
import * as js from 'mirrorpid/js'
import { tour } from './tour.js'
import { segments } from './segments.js'
const report = (core) => tour({ mirrorpid }, core, segments()).then(console.log)
const refused = (error) => console.log(error.code, error.message.includes('"mirrorpid/js"'), error.cause?.message ?? '')
`

describe('K-29: the import', () => {
  it('compiles nothing, reads no file and fetches nothing', async () => {
    const ran = await runProgram(`
      for (const name of ['compile', 'instantiate', 'validate', 'Module', 'Instance', 'Memory']) {
        Object.defineProperty(WebAssembly, name, { get() { throw new Error('WebAssembly.' + name + ' was touched') } })
      }
      globalThis.fetch = undefined
      const imports = [import('mirrorpid'), import('mirrorpid/js')]
      await Promise.all(imports)
      console.log('imported')`)
    expect(ran).toEqual(fine('imported'))
  })

  it('makes no code of strings', async () => {
    const program = `${START} await report(await mirrorpid.loadCore())`
    expect(await runProgram(program, '--disallow-code-generation-from-strings')).toEqual(fine(TOUR.wasm))
  })

  it('needs no fetch to load the core', async () => {
    const program = `${START} globalThis.fetch = undefined; await report(await mirrorpid.loadCore())`
    expect(await runProgram(program)).toEqual(fine(TOUR.wasm))
  })
})

describe('K-29: where a policy refuses to compile bytes', () => {
  const REFUSE = `
    const file = fileURLToPath(import.meta.resolve('mirrorpid/core.wasm'))
    const module = await WebAssembly.compile(await readFile(file))
    const { instantiate, Module } = WebAssembly
    const fail = () => { throw new WebAssembly.CompileError('refused by the policy') }
    WebAssembly.compile = async () => fail()
    WebAssembly.instantiate = async (source, imports) => source instanceof Module ? instantiate(source, imports) : fail()
    WebAssembly.Module = new Proxy(Module, { construct: fail })
`
  const START_REFUSED = `import { readFile } from 'node:fs/promises'
    import { fileURLToPath } from 'node:url'
    ${START} ${REFUSE}`

  it('loading fails by a typed error that names mirrorpid/js, which works', async () => {
    const ran = await runProgram(`${START_REFUSED}
      await mirrorpid.loadCore().catch(refused)
      await Promise.resolve().then(() => mirrorpid.loadCoreSync()).catch(refused)
      await report(js.jsCore())`)
    const refusal = 'WASM_UNAVAILABLE true refused by the policy'
    expect(ran).toEqual(fine(`${refusal}\n${refusal}\n${TOUR['without wasm']}`))
  })

  it('a module that was compiled from mirrorpid/core.wasm works, as on edge runtimes', async () => {
    const ran = await runProgram(`${START_REFUSED} await report(await mirrorpid.loadCore(module))`)
    expect(ran).toEqual(fine(TOUR.wasm))
  })
})

describe.runIf(process.platform === 'linux')('K-29: where memory is short', () => {
  it('loading fails by a typed error, and the process goes on', async () => {
    // each instance reserves gigabytes of addresses, more than there are here
    const place = await placeIn(project, {
      'program.js': `import { loadCore, loadCoreSync } from 'mirrorpid'
        for (const load of [loadCore, async () => loadCoreSync()]) {
          await load().catch((error) => console.log(error.code, error.message.includes('ut of memory')))
        }`,
    })
    const command = `ulimit -v 6000000 && exec ${JSON.stringify(process.execPath)} program.js`
    expect(await runIn(place, 'bash', ['-c', command])).toEqual(
      fine('WASM_UNAVAILABLE true\nWASM_UNAVAILABLE true'),
    )
  })
})

describe('K-29: the command', () => {
  const start = (command: string, ...args: string[]) => runIn(project, command, [...args, '--version'])

  it('is found by npx', async () => {
    expect(await start('npx', '--no-install', 'mirrorpid')).toEqual(fine('0.1.0'))
  })

  it('runs by itself, and by a link from elsewhere', async () => {
    const bin = join(project, 'node_modules', '.bin', 'mirrorpid')
    const link = join(await temporaryDirectory(), 'mp')
    await symlink(bin, link)
    expect(await start(bin)).toEqual(fine('0.1.0'))
    expect(await start(link)).toEqual(fine('0.1.0'))
  })

  it('says what is wrong, by its status too', async () => {
    const ran = await runIn(project, 'npx', ['--no-install', 'mirrorpid', 'verify', 'nowhere'])
    expect(ran).toMatchObject({ stdout: '', status: 2 })
    expect(ran.stderr).toContain('nowhere')
  })
})
