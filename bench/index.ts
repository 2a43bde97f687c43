import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chart } from './chart.ts'
import { benchCommand } from './command.ts'
import { ROUNDS } from './contest.ts'
import { benchCrc } from './crc.ts'
import { benchDump } from './dump.ts'
import { benchKafka } from './kafka.ts'
import { printLosses } from './losses.ts'
import { load, machine } from './machine.ts'
import { benchMemory } from './memory.ts'
import { benchOpening } from './opening.ts'
import { benchProducerState } from './producerState.ts'
import { benchRecovery } from './recovery.ts'
import { Results } from './results.ts'
import { benchRewrite } from './rewrite.ts'
import { benchStartup } from './startup.ts'
import { printTargets, type Target, targets } from './targets.ts'
import { benchVerify } from './verify.ts'

// `npm run bench` measures all; `npm run bench -- --only crc,rewrite` some; with --chart it draws bench/chart.svg anew.

const SECTIONS: Record<string, (results: Results) => void | Promise<void>> = {
  crc: benchCrc,
  rewrite: benchRewrite,
  verify: benchVerify,
  startup: benchStartup,
  kafka: benchKafka,
  command: benchCommand,
  memory: benchMemory,
  dump: benchDump,
  producers: benchProducerState,
  recovery: benchRecovery,
  opening: benchOpening,
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const { values } = parseArgs({ options: { only: { type: 'string' }, chart: { type: 'boolean' } } })
const names = [...new Set(values.only?.split(',') ?? Object.keys(SECTIONS))]
for (const name of names) {
  if (!Object.hasOwn(SECTIONS, name)) {
    throw new Error(`no section ${name}: there are ${Object.keys(SECTIONS).join(', ')}`)
  }
}
if (values.chart && !names.includes('crc')) throw new Error('the chart needs the section crc')

const about = machine()
const loadBefore = load()
console.log(
  `${about.cpu}, ${about.cores} cores, ${about.memoryGiB} GiB, ${about.system}; Node ${about.node}, V8 ${about.v8}; ` +
    `${about.java ?? 'no Java'}; load ${loadBefore}`,
)
console.log(
  Object.entries(about.packages)
    .map(([name, version]) => `${name} ${version}`)
    .join(', '),
)
const results = new Results()
for (const name of names) await SECTIONS[name]!(results)

const date = new Date().toISOString()
function save(reached: readonly Target[] | null): void {
  const json = {
    date,
    machine: about,
    load: [loadBefore, load()],
    targets: reached,
    figures: results.figures,
  }
  writeFileSync(file('../bench-results.json'), `${JSON.stringify(json, null, 1)}\n`)
}
save(null) // what follows throws where a name is not found, and is not to take the figures with it
const reached = targets(results)
printLosses(results)
printTargets(reached)
console.log(`load at the end ${load()}`)
save(reached)
console.log('all of it in build/bench-results.json')
if (values.chart) {
  const note = `${about.cpu}, Node ${about.node}, ${date.slice(0, 10)}; median of ${ROUNDS} rounds; load ${loadBefore}`
  const svg = chart(results.of('crc'), note)
  if (svg === null) throw new Error('the chart needs the section crc')
  writeFileSync(file('../../bench/chart.svg'), svg)
}
