import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sizeName } from './crc.ts'
import { recordSet } from './records.ts'
import { printTable, type Results } from './results.ts'

/**
 * What do Kafka's own classes cost on the same record sets? In Java, by a loop that is like ours (kafka/KafkaBench.java).
 * The JVM's CRC-32C is compiled to the processor's own instructions, as in the native addon.
 */

const SIZES = [200, 1024, 4096, 16_384, 65_536, 1 << 20]
const SET = 512 * 1024
const source = fileURLToPath(new URL('../../bench/kafka/KafkaBench.java', import.meta.url))
const kafkaBuild = new URL('../../test/kafka/build.js', import.meta.url).href

export async function benchKafka(results: Results): Promise<void> {
  const kafka = await kafkaClasses()
  if (kafka === null) return
  const directory = mkdtempSync(join(tmpdir(), 'mirrorpid-bench-'))
  try {
    const files = SIZES.map((size) => {
      const file = join(directory, String(size))
      writeFileSync(file, recordSet(size, Math.max(4, Math.floor(SET / size))))
      return file
    })
    const { status, stdout, stderr } = spawnSync(kafka.java, ['-cp', kafka.classpath, source, ...files], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`KafkaBench.java ended with ${status}: ${stderr}`)
    const rounds = new Map<string, number[]>()
    for (const line of stdout.trim().split('\n')) {
      const [file, name, nanoseconds] = line.split('\t') as [string, string, string]
      const key = `${files.indexOf(file)}\t${name}`
      rounds.set(key, [...(rounds.get(key) ?? []), Number(nanoseconds)])
    }
    for (const [key, values] of rounds) {
      const [index, name] = key.split('\t') as [string, string]
      const size = SIZES[Number(index)]!
      results.add({ section: 'kafka', case: sizeName(size), name, unit: 'ns', bytes: size }, values)
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  printTable("Kafka's own classes on the same record sets, a batch", results.of('kafka'))
}

/** null where Java, or Maven for the first time, is not there. */
async function kafkaClasses(): Promise<{ java: string; classpath: string } | null> {
  try {
    const { build, java } = (await import(kafkaBuild)) as { build: () => Promise<string>; java: string }
    return { java, classpath: await build() }
  } catch (error) {
    console.log(`\nKafka's own classes are left out: ${(error as Error).message.split('\n')[0]}`)
    return null
  }
}
