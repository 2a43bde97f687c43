// Case K-29 in a real browser: pages and module workers, as they are and out of each bundler, with and without a strict
// Content-Security-Policy. Bundles are served from a place that has neither their sources nor node_modules.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { createServer } from 'vite'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { bundlers } from './bundles.ts'
import { chromiumPath, serve, siteSources, visit } from './pages.ts'
import { placeIn, temporaryDirectory } from './support.ts'
import { TOUR } from './tourOutput.ts'

const executablePath = chromiumPath()
if (executablePath === null)
  console.warn('No Chromium (on the path, or CHROMIUM=): the browser tests are skipped.')

const STRICT = "default-src 'none'; script-src 'self'; worker-src 'self'; img-src data:"
const policies = {
  none: null,
  "strict with 'wasm-unsafe-eval'": STRICT.replace("'self'", "'self' 'wasm-unsafe-eval'"),
  strict: STRICT,
}

const WITH_WASM = [TOUR.wasm, TOUR.wasm, TOUR['without wasm'], TOUR.js]
const WITHOUT_WASM = ['WASM_UNAVAILABLE', 'WASM_UNAVAILABLE', TOUR['without wasm'], TOUR.js]

describe.skipIf(executablePath === null)('K-29: in Chromium', () => {
  let browser: Browser

  beforeAll(async () => {
    const isRoot = process.getuid?.() === 0
    browser = await chromium.launch({ executablePath: executablePath!, chromiumSandbox: !isRoot })
  })
  afterAll(() => browser?.close())

  describe.each(Object.keys(bundlers))('from %s', (bundler) => {
    let site: string

    beforeAll(async () => {
      const place = await placeIn(inject('project'), await siteSources())
      const output = await bundlers[bundler]!(place)
      site = await temporaryDirectory()
      await rename(output, join(site, 'site'))
    })

    it.each(Object.entries(policies))('with a policy that is %s', async (name, policy) => {
      const server = await serve(join(site, 'site'), policy)
      try {
        const outcomes = name === 'strict' ? WITHOUT_WASM : WITH_WASM
        for (const page of ['page', 'worker']) {
          expect(await visit(browser, `${server.url}/${page}.html`), page).toEqual({ outcomes, strays: [] })
        }
      } finally {
        await server.close()
      }
    })
  })

  it('without a bundler, by an import map', async () => {
    const place = await placeIn(inject('project'), await siteSources())
    const imports = {
      mirrorpid: '/node_modules/mirrorpid/dist/index.js',
      'mirrorpid/js': '/node_modules/mirrorpid/dist/js.js',
      pako: '/node_modules/pako/dist/pako.mjs',
    }
    const map = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`
    await writeFile(
      join(place, 'page.html'),
      (await readFile(join(place, 'page.html'), 'utf8')).replace('<!doctype html>', map),
    )
    const server = await serve(inject('project'), null)
    try {
      const seen = await visit(browser, `${server.url}/${basename(place)}/page.html`)
      expect(seen).toEqual({ outcomes: WITH_WASM, strays: [] })
    } finally {
      await server.close()
    }
  })

  it("from vite's development server", async () => {
    const place = await placeIn(inject('project'), await siteSources())
    const server = await createServer({
      root: place,
      configFile: false,
      logLevel: 'warn',
      cacheDir: join(place, '.vite'),
      server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
    })
    try {
      await server.listen()
      const [url] = server.resolvedUrls!.local
      for (const page of ['page', 'worker']) {
        const seen = await visit(browser, `${url}${page}.html`)
        expect(seen, page).toEqual({ outcomes: WITH_WASM, strays: [] })
      }
    } finally {
      await server.close()
    }
  })
})
