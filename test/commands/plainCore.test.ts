// Where the wasm core cannot be had, a command does the same with the plain one, and says so and why.
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtures } from '../mirroring/audit/support.ts'
import { mainScript, readTree, runCommand, temporaryDirectories } from '../node/support.ts'

const newDirectory = temporaryDirectories()
const JITLESS_NODE = /^Warning: disabling flag --expose_wasm.*\n/

/** A command with so many KiB of address space. */
const limited = (kib: number, args: readonly string[]) =>
  spawnSync('bash', ['-c', `ulimit -v ${kib}; exec "$0" "$@"`, process.execPath, mainScript, ...args], {
    encoding: 'utf8',
  })

const withoutWasm: [string, RegExp, (args: readonly string[]) => ReturnType<typeof spawnSync>][] = [
  [
    'a limit of address space',
    /no address space left for its memory.*raise its limit \(ulimit -v\)/,
    (args) => limited(4_194_304, args),
  ],
  [
    '--jitless',
    /this runtime has no WebAssembly/,
    (args) => spawnSync(process.execPath, ['--jitless', mainScript, ...args], { encoding: 'utf8' }),
  ],
]

const stop = ['--cluster-id', 'B', '--source-cluster-id', 'A', '--unmarked']
const commands: [string, (directory: string, out: string) => string[]][] = [
  ['verify', (directory) => ['verify', directory, '--records', '--jobs', '2']],
  ['dump', (directory) => ['dump', directory, '--print-data-log', '--explain']],
  ['audit', (directory) => ['audit', directory]],
  ['recover', (directory) => ['recover', directory, '--write']],
  ['stop', (directory) => ['stop', directory, ...stop, '--dry-run']],
  ['rewrite --in-place', (directory) => ['rewrite', directory, '--in-place', '--crc', 'verify', '--quiet']],
  ['rewrite --out', (directory, out) => ['rewrite', directory, '--out', out, '--jobs', '2', '--quiet']],
]

describe.runIf(process.platform === 'linux').each(withoutWasm)('under %s', (_, reason, run) => {
  it.each(commands)('%s goes on and says so', (_, argsOf) => {
    const root = newDirectory()
    const directory = join(root, 'transactions-0')
    const outcomeOf = (runOn: (args: readonly string[]) => ReturnType<typeof spawnSync>) => {
      cpSync(join(fixtures, 'transactions-0'), directory, { recursive: true })
      const { status, stdout, stderr } = runOn(argsOf(directory, join(root, 'out')))
      const tree = readTree(root)
      spawnSync('rm', ['-r', ...['transactions-0', 'out'].map((name) => join(root, name))])
      return { status, stdout, stderr: `${stderr}`.replace(JITLESS_NODE, ''), tree }
    }
    const plain = outcomeOf(run)
    const usual = outcomeOf((args) => runCommand(args) as ReturnType<typeof spawnSync>)
    const [said, ...others] = plain.stderr.split('\n')
    expect(said).toMatch(/^mirrorpid: warning: no WebAssembly core: /)
    expect(said).toMatch(reason)
    expect(said).toContain('It goes on with the plain TypeScript core')
    expect({ ...plain, stderr: others.join('\n') }).toEqual(usual)
    expect(usual.status).toBe(0)
  })
})

it.runIf(process.platform === 'linux')(
  'where the first core has room and others would not, there is one thread',
  () => {
    const args = ['verify', join(fixtures, 'segments-0'), '--jobs', '2']
    const { status, stdout, stderr } = limited(14_000_000, args)
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('0 findings')
  },
)
