import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { build, java, NEEDED } from './build.js'

// Short-lived programs: the optimising compiler and a parallel collector only cost time.
const QUICK = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto', '-Xmx1g']

/**
 * Starts a main class of test/kafka. Kafka's own log goes nowhere unless a property says so.
 *
 * @param {string} mainClass
 * @param {string[]} args
 * @param {{ cwd?: string | undefined, properties?: Record<string, string> }} [options]
 */
export async function startJava(mainClass, args, { cwd, properties = {} } = {}) {
  const classpath = await build()
  const all = {
    'org.slf4j.simpleLogger.defaultLogLevel': 'off',
    'java.awt.headless': 'true',
    'file.encoding': 'UTF-8',
    ...properties,
  }
  const defines = Object.entries(all).map(([name, value]) => `-D${name}=${value}`)
  const child = spawn(java, [...QUICK, ...defines, '-cp', classpath, mainClass, ...args], {
    cwd,
    stdio: 'pipe',
  })
  await once(child, 'spawn').catch((error) => {
    throw new Error(`Java was not found (${error.message}). ${NEEDED}`, { cause: error })
  })
  return child
}

/**
 * Runs a main class with the text as its stdin and resolves to its stdout; anything but status 0 is an error.
 *
 * @param {string} mainClass
 * @param {string[]} args
 * @param {string} input
 * @param {string | undefined} [cwd]
 * @param {Record<string, string>} [properties]
 * @returns {Promise<string>}
 */
export async function runJava(mainClass, args, input, cwd, properties = {}) {
  const child = await startJava(mainClass, args, { cwd, properties })
  /** @type {Buffer[]} */
  const out = []
  /** @type {Buffer[]} */
  const err = []
  child.stdout.on('data', (chunk) => out.push(chunk))
  child.stderr.on('data', (chunk) => err.push(chunk))
  // A JVM that does not start closes the pipe first; its exit status tells more than EPIPE.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const status = await new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  if (status !== 0) throw new Error(`${mainClass} ended with ${status}:\n${Buffer.concat(err)}`)
  return Buffer.concat(out).toString('utf8')
}
