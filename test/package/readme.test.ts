// The README is what a stranger runs first: its programs and commands run against the installed tarball, and what it
// names exists.
import { cp, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { fixture, placeIn, type Ran, root, runIn, runNode, temporaryDirectory } from './support.ts'

const project = inject('project')
const readme = await readFile(join(project, 'node_modules', 'mirrorpid', 'README.md'), 'utf8')
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text]) => text ?? '',
  )
const programs = blocks('js')

async function run(program: string): Promise<Ran> {
  return runNode(await placeIn(project, { 'readme.js': program }), 'readme.js')
}

describe('the programs of README.md', () => {
  it('rewrite what they say', async () => {
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

  it('read a barrier back', async () => {
    expect(await run(programs[1] ?? '')).toEqual({
      stdout: '42n MIRROR_PID_RESET\n0 43n\n',
      stderr: '',
      status: 0,
    })
  })

  it('are these two, and the rewrite takes 15 lines', () => {
    expect(programs).toHaveLength(2)
    expect(programs[0]?.trim().split('\n').length).toBeLessThanOrEqual(16)
  })
})

describe('the commands of README.md', () => {
  /** Those of the shell blocks, without their comments, and the two above the drawings. */
  const commands = [
    ...blocks('sh').flatMap((text) => [...text.matchAll(/^(mirrorpid .*?) *(?:#.*)?$/gm)]),
    ...readme.matchAll(/\$ (mirrorpid .*?)(?= {2,}|$)/gm),
  ].map(([, command]) => command!)
  const command = (place: string, args: string[]) =>
    runIn(place, join(project, 'node_modules', '.bin', 'mirrorpid'), args)

  let mapped: string

  beforeAll(async () => {
    mapped = await temporaryDirectory()
    const { status } = await command(mapped, [
      'rewrite',
      fixture('transactions-0'),
      '--out',
      mapped,
      '--quiet',
    ])
    expect(status).toBe(0)
  })

  it('are many', () => {
    expect(commands.length).toBeGreaterThan(12)
  })

  it.each(commands)('%s', async (line) => {
    const place = await temporaryDirectory()
    for (const directory of ['kafka', 'clusterA/kafka', 'clusterB/kafka']) {
      // only a mirror can be stopped
      const source = line.startsWith('mirrorpid stop')
        ? join(mapped, 'transactions-0')
        : fixture('transactions-0')
      await cp(source, join(place, directory, 'orders-0'), { recursive: true })
    }
    const isOutput = line.includes('--out ')
    if (!isOutput)
      await cp(join(mapped, 'transactions-0'), join(place, 'mapped', 'orders-0'), { recursive: true })
    const [, ...args] = line
      .split(' ')
      .map((word) => word.replace(/(^|=)\/(?=kafka|mapped|cluster)/, `$1${place}/`))
    const { stdout, stderr, status } = await command(place, args)
    // findings are an answer; a usage or I/O error is none
    expect([0, 1], stderr).toContain(status)
    expect(stdout).not.toBe('')
  })
})

describe('README.md', () => {
  it('names only scripts that exist', async () => {
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const names = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name)
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(names))
  })

  it('names only entries and exports that exist', async () => {
    const entries = new Set([...readme.matchAll(/`(mirrorpid(?:\/[\w.]+)?)`/g)].map(([, entry]) => entry!))
    const scripts = [...entries].filter((entry) => !entry.endsWith('.wasm'))
    const calls = new Set([...readme.matchAll(/`([a-z]\w+)\([^`]*\)`/g)].map(([, name]) => name!))
    const { stdout } = await run(`const found = {}
      for (const entry of ${JSON.stringify(scripts)}) Object.assign(found, await import(entry))
      for (const file of ${JSON.stringify([...entries].filter((entry) => entry.endsWith('.wasm')))}) import.meta.resolve(file)
      console.log(JSON.stringify(Object.keys(found)))`)
    const found = JSON.parse(stdout) as string[]
    expect([...calls].filter((name) => !found.includes(name))).toEqual([])
    expect(scripts).toEqual(expect.arrayContaining(['mirrorpid', 'mirrorpid/js', 'mirrorpid/node']))
  })

  /** What git would hand out, on a machine that has Node, npm and nothing else of ours on its path. */
  it('needs nothing that it does not name', async () => {
    const place = await temporaryDirectory()
    const listed = await runIn(root, 'git', ['ls-files', '--cached', '--others', '--exclude-standard'])
    expect(listed.status, listed.stderr).toBe(0)
    const kept = listed.stdout
      .split('\n')
      .filter((file) => file !== '' && !/^(test\/(?!fixtures)|bench\/)/.test(file))
    for (const file of kept) await cp(join(root, file), join(place, 'checkout', file)).catch(ignoreMissing)
    const bin = join(place, 'bin')
    await runIn(place, 'mkdir', [bin])
    for (const tool of ['node', 'npm', 'sh']) {
      const { stdout } = await runIn(place, 'sh', ['-c', `command -v ${tool}`])
      await symlink(stdout.trim(), join(bin, tool))
    }
    const [line] = blocks('sh')[0]!.trim().split('\n')
    expect(line).toBe('npm ci && npm run demo')
    const env = { PATH: bin, npm_config_prefer_offline: 'true', npm_config_audit: 'false' }
    const ran = await runIn(join(place, 'checkout'), join(bin, 'sh'), ['-c', line!], env)
    expect(ran.status, `${ran.stdout}${ran.stderr}`).toBe(0)
    expect(ran.stdout).toMatch(/producerId: -\d+/)
  })
})

/** A file that was removed, but not yet from the index. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
