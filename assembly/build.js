// Compiles the core twice (asconfig.json), with and without SIMD, embeds both in src/wasm/embedded.ts and puts the files
// into dist/ for those who load them themselves. Embedded, because a file beside the module is what bundlers lose.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const TARGETS = [
  { target: 'simd', file: 'core.wasm', name: 'SIMD_CORE_BASE64' },
  { target: 'scalar', file: 'core.scalar.wasm', name: 'SCALAR_CORE_BASE64' },
]

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
for (const made of ['build', 'dist']) rmSync(made, { recursive: true, force: true })
mkdirSync('dist')

let source = '// Made by assembly/build.js from assembly/: do not edit.\n'
for (const { target, file, name } of TARGETS) {
  const { error, stderr } = await asc.main([
    'assembly/index.ts',
    '--config',
    'asconfig.json',
    '--target',
    target,
  ])
  if (error) {
    console.error(stderr.toString())
    throw error
  }
  const wasm = readFileSync(`build/${file}`)
  const sha256 = createHash('sha256').update(wasm).digest('hex')
  source += `\n/** ${file}: ${wasm.length} bytes, SHA-256 ${sha256} */\n`
  source += `export const ${name} = '${wasm.toString('base64')}'\n`
  copyFileSync(`build/${file}`, `dist/${file}`)
}
writeFileSync('src/wasm/embedded.ts', source)
