import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HASH_WASM, JS, LOAD_CORE, NATIVE, PLATFORMATIC } from './names.ts'
import { printTable, type Results } from './results.ts'

/** How long does a fresh process take to its first CRC? Beside Node's own start, which is a row too. */

const RUNS = 15
const BYTES = "Buffer.from('123456789')"
const EXPECTED = 0xe3069283

const WAYS: [name: string, code: string][] = [
  ['nothing: Node alone', `const crc = ${EXPECTED}`],
  [
    LOAD_CORE,
    `const { loadCore } = await import('mirrorpid'); const crc = (await loadCore()).crc32c(${BYTES})`,
  ],
  [
    'mirrorpid: loadCoreSync',
    `const { loadCoreSync } = await import('mirrorpid'); const crc = loadCoreSync().crc32c(${BYTES})`,
  ],
  [JS, `const { jsCore } = await import('mirrorpid/js'); const crc = jsCore().crc32c(${BYTES})`],
  [NATIVE, `const { crc32c } = await import('@node-rs/crc32'); const crc = crc32c(${BYTES})`],
  [PLATFORMATIC, `const { crc32c } = await import('@platformatic/wasm-utils'); const crc = crc32c(${BYTES})`],
  [
    HASH_WASM,
    `const { createCRC32 } = await import('hash-wasm'); const hash = await createCRC32(0x82f63b78); hash.init(); ` +
      `hash.update(${BYTES}); const crc = parseInt(hash.digest(), 16)`,
  ],
]

interface Start {
  own: number
  process: number
}

export function benchStartup(results: Results): void {
  const starts = WAYS.map((): Start[] => [])
  for (let run = 0; run <= RUNS; run++) {
    for (const [index, [, code]] of WAYS.entries()) {
      const start = startOf(code)
      if (run > 0) starts[index]!.push(start) // the first run warms the page cache
    }
  }
  for (const [index, [name]] of WAYS.entries()) {
    const own = starts[index]!.map((start) => start.own)
    const whole = starts[index]!.map((start) => start.process)
    results.add({ section: 'startup', case: 'import to first CRC', name, unit: 'ms' }, own)
    results.add({ section: 'startup', case: 'whole process', name, unit: 'ms' }, whole)
  }
  printTable('Start-up', results.of('startup'))
}

function startOf(code: string): Start {
  const script =
    `const began = performance.now(); ${code}; const own = performance.now() - began; ` +
    `if (crc !== ${EXPECTED}) throw new Error('wrong CRC'); console.log(own)`
  const began = performance.now()
  // from here, so that its imports are found
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  if (status !== 0) throw new Error(stderr)
  return { own: Number(stdout), process: performance.now() - began }
}
