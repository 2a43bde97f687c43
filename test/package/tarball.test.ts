import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { installedPackage, JS_OUTPUT, JS_PROGRAM, runNode, WASM_OUTPUT, WASM_PROGRAM } from './support.ts'

let project: string
let files: string[]

beforeAll(async () => {
  ;({ project, files } = await installedPackage())
})

async function runProgram(source: string, ...flags: string[]) {
  await writeFile(join(project, 'program.mjs'), source)
  return runNode(project, ...flags, 'program.mjs')
}

describe('the packed tarball', () => {
  it('holds the build, the documents and nothing else', () => {
    const others = files.filter((file) => !/^dist\/.+\.(js|d\.ts)$/.test(file))
    expect(others.sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/core.scalar.wasm',
      'dist/core.wasm',
      'package.json',
    ])
  })

  it('loads the wasm core by import', async () => {
    expect(await runProgram(WASM_PROGRAM)).toEqual({ stdout: WASM_OUTPUT, stderr: '', status: 0 })
  })

  it('loads the JavaScript core by import', async () => {
    expect(await runProgram(JS_PROGRAM)).toEqual({ stdout: JS_OUTPUT, stderr: '', status: 0 })
  })

  it('compiles nothing and reads no file at import', async () => {
    const { stdout, status } = await runProgram(`
      for (const name of ['compile', 'instantiate', 'Module', 'Instance', 'Memory']) {
        Object.defineProperty(WebAssembly, name, { get() { throw new Error('WebAssembly.' + name + ' was touched') } })
      }
      await import('mirrorpid')
      await import('mirrorpid/js')
      console.log('imported')`)
    expect({ stdout, status }).toEqual({ stdout: 'imported\n', status: 0 })
  })

  it('says what to do where WebAssembly is missing, and mirrorpid/js works there', async () => {
    const { stdout, status } = await runProgram(
      `import { loadCore, loadCoreSync } from 'mirrorpid'
       console.log(typeof WebAssembly)
       for (const load of [async () => loadCoreSync(), loadCore]) {
         await load().catch((error) => console.log(error.code, error.message.includes('"mirrorpid/js"')))
       }`,
      '--jitless',
    )
    const refusals = 'WASM_UNAVAILABLE true\nWASM_UNAVAILABLE true\n'
    expect({ stdout, status }).toEqual({ stdout: `undefined\n${refusals}`, status: 0 })
    expect(await runProgram(JS_PROGRAM, '--jitless')).toMatchObject({ stdout: JS_OUTPUT, status: 0 })
  })

  it('says the same where compiling is refused, as a page’s security policy does', async () => {
    const { stdout } = await runProgram(`
      import { loadCore, loadCoreSync } from 'mirrorpid'
      WebAssembly.compile = async () => { throw new WebAssembly.CompileError('blocked by the policy') }
      WebAssembly.Module = function () { throw new WebAssembly.CompileError('blocked by the policy') }
      for (const load of [async () => loadCoreSync(), loadCore]) {
        await load().catch((error) => console.log(error.code, error.message.includes('blocked by the policy')))
      }`)
    expect(stdout).toBe('WASM_UNAVAILABLE true\nWASM_UNAVAILABLE true\n')
  })

  it('gives the wasm file to those who compile it themselves', async () => {
    const { stdout, status } = await runProgram(`
      import { readFile } from 'node:fs/promises'
      import { fileURLToPath } from 'node:url'
      import { loadCore } from 'mirrorpid'
      const file = fileURLToPath(import.meta.resolve('mirrorpid/core.wasm'))
      const core = await loadCore(await WebAssembly.compile(await readFile(file)))
      console.log(core.crc32c(new TextEncoder().encode('123456789')).toString(16))`)
    expect({ stdout, status }).toEqual({ stdout: 'e3069283\n', status: 0 })
  })

  it('runs its command', async () => {
    const bin = join('node_modules', 'mirrorpid', 'dist', 'commands', 'main.js')
    const { stdout, status } = await runNode(project, bin, '--help')
    expect(status).toBe(0)
    expect(stdout).toContain('mirrorpid')
  })
})
