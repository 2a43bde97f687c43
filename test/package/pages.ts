// A small site that runs the tour in a page and in a worker, served on loopback under a security policy of choice, and
// a browser to look at it with.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, extname, join, normalize } from 'node:path'
import type { Browser } from 'playwright-core'
import { segmentsModule, tourSource } from './support.ts'

/** The browser: `CHROMIUM`, else one on the path; null when there is none. */
export function chromiumPath(): string | null {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const paths = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((path) => names.map((name) => join(path, name)))
  return paths.find((path) => existsSync(path)) ?? null
}

/** Every way to load a core; what fails says how. */
const EVERY_WAY = `
import * as mirrorpid from 'mirrorpid'
import * as js from 'mirrorpid/js'
import { segments } from './segments.js'
import { tour } from './tour.js'

async function attempt(load) {
  try {
    return await tour({ mirrorpid }, await load(), segments())
  } catch (error) {
    const { code } = error
    const isTyped = error instanceof mirrorpid.WasmUnavailableError && error.message.includes('"mirrorpid/js"')
    return isTyped ? code : String(error.stack)
  }
}

export const everyWay = async () => [
  await attempt(() => mirrorpid.loadCore()),
  await attempt(() => mirrorpid.loadCoreSync()),
  await attempt(() => js.jsCore()),
  await tour({ js }, js.jsCore(), segments()),
]
`

const html = (script: string) => `<!doctype html><title>mirrorpid</title><link rel="icon" href="data:,">
<script type="module" src="./${script}"></script>`

/** The site's sources: `page.html` runs the tour itself, `worker.html` in a module worker. Both log one line. */
export async function siteSources(): Promise<Record<string, string>> {
  return {
    'segments.js': await segmentsModule(),
    'tour.js': await tourSource(),
    'everyWay.js': EVERY_WAY,
    'page.js': `import { everyWay } from './everyWay.js'
everyWay().then((outcomes) => console.log('outcomes', JSON.stringify(outcomes)))`,
    'worker.js': `import { everyWay } from './everyWay.js'
everyWay().then((outcomes) => postMessage(outcomes))`,
    'starter.js': `const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
worker.onmessage = ({ data }) => console.log('outcomes', JSON.stringify(data))
worker.onerror = ({ message }) => console.error(message)`,
    'page.html': html('page.js'),
    'worker.html': html('starter.js'),
  }
}

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
}

export interface Site {
  url: string
  close(): Promise<void>
}

/** Serves a directory on loopback. Every answer has the policy, as workers take theirs from their own script. */
export async function serve(directory: string, policy: string | null): Promise<Site> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    try {
      const body = await readFile(join(directory, normalize(pathname)))
      response.setHeader('Content-Type', TYPES[extname(pathname)] ?? 'application/octet-stream')
      if (policy !== null) response.setHeader('Content-Security-Policy', policy)
      response.end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface Visit {
  /** Of each way to load a core. */
  outcomes: string[]
  /** Paths of what the page asked for, and did not get or should not have asked for. */
  strays: string[]
}

/** Opens a page and waits for what it logs. Fails on any error that the page does not expect. */
export async function visit(browser: Browser, url: string): Promise<Visit> {
  const page = await browser.newPage()
  const strays: string[] = []
  try {
    page.on('request', (request) => {
      const { protocol, origin, pathname } = new URL(request.url())
      const isOwn = protocol === 'data:' || origin === new URL(url).origin
      if (!isOwn || pathname.endsWith('.wasm')) strays.push(request.url())
    })
    page.on('response', (response) => {
      if (response.status() >= 400) strays.push(`${response.status()} ${response.url()}`)
    })
    const outcomes = new Promise<string[]>((resolve, reject) => {
      page.on('pageerror', reject)
      page.on('console', (message) => {
        const text = message.text()
        if (text.startsWith('outcomes ')) resolve(JSON.parse(text.slice('outcomes '.length)))
        // a policy that refuses wasm says so on the console too, which is what is to be
        else if (message.type() === 'error' && !text.includes('WebAssembly')) reject(new Error(text))
      })
    })
    // looked at below; until then a failure is no unhandled one
    outcomes.catch(() => {})
    await page.goto(url)
    return { outcomes: await outcomes, strays }
  } finally {
    await page.close()
  }
}
