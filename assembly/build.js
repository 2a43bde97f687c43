// Compiles the core to build/core.wasm (asconfig.json), embeds it in src/wasm/embedded.ts and puts the file into dist/
// for those who load it themselves. Embedded, because a file beside the module is what bundlers lose.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
for (const made of ['build', 'dist']) rmSync(made, { recursive: true, force: true })
mkdirSync('dist')

const { error, stderr } = await asc.main([
  'assembly/index.ts',
  '--config',
  'asconfig.json',
  '--target',
  'release',
])
if (error) {
  console.error(stderr.toString())
  throw error
}

const wasm = readFileSync('build/core.wasm')
const sha256 = createHash('sha256').update(wasm).digest('hex')
writeFileSync(
  'src/wasm/embedded.ts',
  `// Made by assembly/build.js from assembly/: do not edit. ${wasm.length} bytes, SHA-256 ${sha256}
export const CORE_WASM_BASE64 = '${wasm.toString('base64')}'
`,
)
copyFileSync('build/core.wasm', 'dist/core.wasm')
