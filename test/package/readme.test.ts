// The README is what a stranger runs first: its programs run against the packed tarball, and its commands exist.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { installedPackage, runNode } from './support.ts'

const read = (name: string) => readFile(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8')

let project: string
let readme: string
let programs: string[]

beforeAll(async () => {
  ;({ project } = await installedPackage())
  readme = await read('README.md')
  programs = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, program]) => program ?? '')
})

async function run(program: string) {
  await writeFile(join(project, 'readme.mjs'), program)
  return runNode(project, 'readme.mjs')
}

describe('README.md', () => {
  it('shows a rewrite that does what it says', async () => {
    const records = `async function fetchRecords() {
      const batch = new Uint8Array(61)
      const view = new DataView(batch.buffer)
      view.setInt32(8, 49)
      view.setInt8(16, 2)
      view.setBigInt64(43, 5n)
      view.setUint32(17, core.crc32c(batch.subarray(21)))
      return batch
    }`
    expect(await run(`${programs[0]}\n${records}`)).toEqual({
      stdout: '1 of 1 batches mapped\n[]\n-7n 5n\n',
      stderr: '',
      status: 0,
    })
  })

  it('shows a barrier that is read back', async () => {
    expect(await run(programs[1] ?? '')).toEqual({
      stdout: '42n MIRROR_PID_RESET\n0 43n\n',
      stderr: '',
      status: 0,
    })
    expect(programs).toHaveLength(2)
  })

  it('shows the rewrite in 15 lines', () => {
    expect(programs[0]?.trim().split('\n').length).toBeLessThanOrEqual(16)
  })

  it('names only commands and scripts that exist', async () => {
    const manifest = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
    for (const [, script] of readme.matchAll(/npm run ([\w:]+)/g)) {
      expect(Object.keys(manifest.scripts)).toContain(script)
    }
    const bin = join('node_modules', 'mirrorpid', 'dist', 'commands', 'main.js')
    for (const [, command, rest] of readme.matchAll(/^mirrorpid (\w+)(.*)$/gm)) {
      const help = await runNode(project, bin, command!, '--help')
      expect(help.status, command).toBe(0)
      for (const [option] of (rest ?? '').replace(/#.*/, '').matchAll(/--[\w-]+/g)) {
        expect(help.stdout, `${command} ${option}`).toContain(option)
      }
    }
  })
})
