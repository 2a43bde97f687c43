import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'

/** On what and with which versions was it measured? A figure says little without. */
export interface Machine {
  cpu: string
  cores: number
  memoryGiB: number
  system: string
  node: string
  v8: string
  java: string | null
  packages: Record<string, string>
}

const PEERS = ['@node-rs/crc32', '@platformatic/wasm-utils', 'hash-wasm', 'tinybench', 'assemblyscript']

export function machine(): Machine {
  const { version, devDependencies } = readJson('../../package.json') as {
    version: string
    devDependencies: Record<string, string>
  }
  const packages = Object.fromEntries(PEERS.map((name) => [name, devDependencies[name]!]))
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    node: process.versions.node,
    v8: process.versions.v8,
    java: javaVersion(),
    packages: { mirrorpid: version, ...packages },
  }
}

/** How many others want the machine: above the number of cores, figures are of a busy one. */
export function load(): number {
  return Math.round(loadavg()[0]! * 10) / 10
}

function javaVersion(): string | null {
  try {
    const home = process.env.JAVA_HOME
    return execFileSync(home ? `${home}/bin/java` : 'java', ['--version'], { encoding: 'utf8' }).split(
      '\n',
    )[0]!
  } catch {
    return null
  }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}
