import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))
const target = join(here, 'target')

export const NEEDED =
  'The Kafka tests need a JDK (17 or newer) and Maven (3.6.3 or newer): on Debian or Ubuntu ' +
  '`apt install openjdk-17-jdk-headless maven`, on macOS `brew install openjdk maven`. ' +
  'A JDK outside PATH is found through JAVA_HOME.'

const home = process.env.JAVA_HOME
export const java = home ? join(home, 'bin', 'java') : 'java'

/** @type {Promise<string> | undefined} */
let classpath

/**
 * Compiles the Java sources once for every state of them and returns the class path. With nothing changed since the
 * last time this is a look into target/: no Maven, no network.
 */
export function build() {
  classpath ??= compile()
  return classpath
}

async function compile() {
  const out = join(target, await sourceKey())
  const known = await readClasspath(out)
  if (known) return known
  await checkTools()
  await mkdir(target, { recursive: true })
  // Built aside and renamed, so that two runs at once cannot see each other's half.
  const aside = await mkdtemp(join(target, 'building-'))
  try {
    await maven(aside)
    await rename(aside, out).catch((error) => {
      if (!existsSync(out)) throw error
    })
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
  const built = await readClasspath(out)
  if (!built)
    throw new Error(`Maven has finished, but ${out} is not complete. Delete test/kafka/target and try again.`)
  return built
}

/** @param {string} directory */
async function maven(directory) {
  const args = [
    '--quiet',
    '--batch-mode',
    `--file=${join(here, 'pom.xml')}`,
    `-Doutput.directory=${directory}`,
    `-Dmdep.outputFile=${join(directory, 'classpath.txt')}`,
    'compile',
    'dependency:build-classpath',
  ]
  try {
    // Offline first: it is seconds faster, and enough whenever the artifacts have been fetched before.
    await run('mvn', ['--offline', ...args])
  } catch {
    await run('mvn', args).catch((error) => {
      throw new Error(`Maven could not build test/kafka:\n${error.stdout}${error.stderr}`)
    })
  }
}

async function checkTools() {
  const version = await run(java, ['-version']).catch((error) => {
    throw new Error(`Java was not found. ${NEEDED}`, { cause: error })
  })
  const major = Number(/version "(\d+)/.exec(version.stderr)?.[1])
  if (major < 17) throw new Error(`Java ${major} is too old. ${NEEDED}`)
  await run('mvn', ['--version']).catch((error) => {
    throw new Error(`Maven was not found. ${NEEDED}`, { cause: error })
  })
}

async function sourceKey() {
  const sources = join(here, 'src')
  const entries = await readdir(sources, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const file of [join(here, 'pom.xml'), ...files.sort()]) {
    hash.update(`${file.slice(here.length)}\0`).update(await readFile(file))
  }
  return hash.digest('hex').slice(0, 16)
}

/** @param {string} directory */
async function readClasspath(directory) {
  const jars = await readFile(join(directory, 'classpath.txt'), 'utf8').catch(() => '')
  const complete = jars !== '' && jars.trim().split(delimiter).every(existsSync)
  return complete ? [join(directory, 'classes'), jars.trim()].join(delimiter) : undefined
}

/** The Kafka version of pom.xml. */
export async function kafkaVersion() {
  const pom = await readFile(join(here, 'pom.xml'), 'utf8')
  const version = /<kafka\.version>(.+?)<\/kafka\.version>/.exec(pom)?.[1]
  if (!version) throw new Error('test/kafka/pom.xml has no kafka.version')
  return version
}
