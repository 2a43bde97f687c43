import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeDataSegment } from './dataSegment.ts'

/** What does `mirrorpid dump` cost, against Kafka's own tool on the same file? Whole processes, output to nowhere. */

const MEBIBYTE = 1 << 20
const SIZE = 256 * MEBIBYTE
const ROUNDS = { headers: 7, data: 3 }
const MODES = { headers: [], data: ['--print-data-log'] } as const
const main = fileURLToPath(new URL('../../dist/commands/main.js', import.meta.url))
const kafkaBuild = new URL('../../test/kafka/build.js', import.meta.url).href

// What kafka-run-class.sh passes to a JVM by default; the script itself, which takes a while too, is left out.
const JVM =
  '-server -Xmx256M -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 ' +
  '-XX:+ExplicitGCInvokesConcurrent -Djava.awt.headless=true -Dorg.slf4j.simpleLogger.defaultLogLevel=off'

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

function seconds([command, args]: [string, string[]]): number {
  const start = process.hrtime.bigint()
  const { status } = spawnSync(command, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${command} ended with ${status}`)
  return Number(process.hrtime.bigint() - start) / 1e9
}

async function digest([command, args]: [string, string[]]): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] }).stdout) {
    hash.update(chunk)
  }
  return hash.digest('hex')
}

export async function benchDump(): Promise<void> {
  const kafka = await kafkaTool()
  const directory = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
  try {
    for (const codec of ['none', 'lz4'] as const) {
      const path = join(directory, '00000000000000000000.log')
      writeDataSegment(path, 8 * MEBIBYTE, codec)
      if (kafka !== null) await requireSame(kafka, ['--print-data-log', '--files', path])
      writeDataSegment(path, codec === 'none' ? SIZE : SIZE / 2, codec)
      console.log(`dump of a segment of ${codec === 'none' ? 256 : 128} MiB, compression ${codec}`)
      console.table(measure(path, kafka))
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function requireSame(kafka: Tool, args: readonly string[]): Promise<void> {
  if ((await digest(ours(args))) !== (await digest(kafka(args))))
    throw new Error('the two print different text')
}

function measure(path: string, kafka: Tool | null): Record<string, Record<string, string>> {
  const rows: Record<string, Record<string, string>> = {}
  for (const [mode, options] of Object.entries(MODES)) {
    const tools: [string, Tool][] = [['mirrorpid dump', ours]]
    if (kafka !== null) tools.push(["Kafka's DumpLogSegments", kafka])
    const times = new Map<string, number[]>(tools.map(([name]) => [name, []]))
    for (let round = 0; round <= ROUNDS[mode as keyof typeof ROUNDS]; round++) {
      for (const [name, tool] of tools) {
        const time = seconds(tool([...options, '--files', path]))
        if (round > 0) times.get(name)!.push(time) // the first round warms the page cache
      }
    }
    const base = median([...times.values()].at(-1)!)
    for (const [name, values] of times) {
      rows[`${name} ${options.join(' ')}`] = {
        'median s': median(values).toFixed(2),
        spread: `${Math.min(...values).toFixed(2)} - ${Math.max(...values).toFixed(2)}`,
        "times Kafka's speed": (base / median(values)).toFixed(1),
      }
    }
  }
  return rows
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
