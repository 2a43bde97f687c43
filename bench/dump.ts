import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { main, seconds } from './commandLine.ts'
import { printTable, type Results } from './results.ts'
import { writeDataSegment } from './segments.ts'

/** What does `mirrorpid dump` cost, against Kafka's own tool on the same file? Whole processes, output to nowhere. */

const MEBIBYTE = 1 << 20
const SIZE = 256 * MEBIBYTE
const ROUNDS = { headers: 7, data: 3 }
const MODES = { headers: [], data: ['--print-data-log'] } as const
const kafkaBuild = new URL('../../test/kafka/build.js', import.meta.url).href

// What kafka-run-class.sh passes to a JVM by default; the script itself, which takes a while too, is left out.
const JVM =
  '-server -Xmx256M -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 ' +
  '-XX:+ExplicitGCInvokesConcurrent -Djava.awt.headless=true -Dorg.slf4j.simpleLogger.defaultLogLevel=off'

const OURS = 'mirrorpid dump'
const KAFKAS = "Kafka's DumpLogSegments"

type Tool = (args: readonly string[]) => [command: string, args: string[]]

const ours: Tool = (args) => [process.execPath, [main, 'dump', ...args]]

/** Kafka's tool; null where Java is not there. */
async function kafkaTool(): Promise<Tool | null> {
  try {
    const { build, java } = (await import(kafkaBuild)) as { build: () => Promise<string>; java: string }
    const classpath = await build()
    return (args) => [
      java,
      [...JVM.split(' '), '-cp', classpath, 'org.apache.kafka.tools.DumpLogSegments', ...args],
    ]
  } catch (error) {
    console.log(`Kafka's own tool is left out: ${(error as Error).message.split('\n')[0]}`)
    return null
  }
}

async function digest([command, args]: [string, string[]]): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] }).stdout) {
    hash.update(chunk)
  }
  return hash.digest('hex')
}

export async function benchDump(results: Results): Promise<void> {
  const kafka = await kafkaTool()
  const directory = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
  try {
    for (const codec of ['none', 'lz4'] as const) {
      const path = join(directory, '00000000000000000000.log')
      writeDataSegment(path, 8 * MEBIBYTE, codec)
      if (kafka !== null) await requireSame(kafka, ['--print-data-log', '--files', path])
      writeDataSegment(path, codec === 'none' ? SIZE : SIZE / 2, codec)
      measure(results, path, codec === 'none' ? '256 MiB' : '128 MiB of lz4', kafka)
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  const figures = results.of('dump')
  printTable('Dump of a segment, whole processes', figures)
  if (kafka === null) return
  for (const { case: name } of figures.filter((figure) => figure.name === OURS)) {
    const { median } = results.times('dump', name, OURS, [KAFKAS])!
    console.log(`${name}: ${median.toFixed(1)} times as fast as Kafka's tool`)
  }
}

async function requireSame(kafka: Tool, args: readonly string[]): Promise<void> {
  if ((await digest(ours(args))) !== (await digest(kafka(args))))
    throw new Error('the two print different text')
}

function measure(results: Results, path: string, codec: string, kafka: Tool | null): void {
  for (const [mode, options] of Object.entries(MODES)) {
    const tools: [string, Tool][] = [[OURS, ours]]
    if (kafka !== null) tools.push([KAFKAS, kafka])
    const times = tools.map((): number[] => [])
    for (let round = 0; round <= ROUNDS[mode as keyof typeof ROUNDS]; round++) {
      for (const [index, [, tool]] of tools.entries()) {
        const time = seconds(...tool([...options, '--files', path]))
        if (round > 0) times[index]!.push(time) // the first round warms the page cache
      }
    }
    for (const [index, [name]] of tools.entries()) {
      results.add({ section: 'dump', case: `${mode}, ${codec}`, name, unit: 's' }, times[index]!)
    }
  }
}
