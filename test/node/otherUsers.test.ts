import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PartitionLog, recordBatches } from '../../src/index.ts'
import { directoryStorage } from '../../src/node/index.ts'
import { encodeOp } from '../producers/logBuilder.ts'
import { readTree } from './support.ts'

// Commands of users who may write to a partition and do not own it, and what they leave to the owner.

const repository = fileURLToPath(new URL('../..', import.meta.url))
const SEGMENT = '00000000000000000000.log'
const IDS = ['--cluster-id', 'B', '--source-cluster-id', 'A']
interface User {
  uid: number
  gid: number
}
interface Result {
  files: { path: string }[]
  partitions: { path: string }[]
  errors: { file: string }[]
}
const OWNER: User = { uid: 1000, gid: 1000 }
/** Of the owner's group. */
const MEMBER: User = { uid: 2000, gid: 1000 }
const STRANGER: User = { uid: 3000, gid: 3000 }

describe.runIf(process.getuid?.() === 0)('a partition of somebody else', () => {
  let root: string
  let node = process.execPath
  let main: string

  /** What was built, where all may read it: the repository may lie in a folder that only its owner may enter. */
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'mirrorpid-users-'))
    afterAll(() => rmSync(root, { recursive: true, force: true }))
    chmodSync(root, 0o755)
    for (const name of ['dist', 'package.json', 'test/node/crashAt.mjs']) {
      cpSync(join(repository, name), join(root, 'package', name), { recursive: true })
    }
    for (const name of dependencies()) {
      const from = join(repository, 'node_modules', name)
      cpSync(from, join(root, 'package', 'node_modules', name), { recursive: true })
    }
    spawnSync('chmod', ['-R', 'a+rX', join(root, 'package')])
    main = join(root, 'package', 'dist', 'commands', 'main.js')
    if (spawnSync(node, ['--version'], MEMBER).status !== 0) {
      cpSync(node, join(root, 'node'))
      node = join(root, 'node')
    }
    expect(run(MEMBER, ['--version'])).toMatchObject({ status: 0, stderr: '' })
  })

  function run(user: User, args: readonly string[], { umask = '022', crashAt = 0 } = {}) {
    const preload = crashAt === 0 ? [] : ['--import', join(root, 'package/test/node/crashAt.mjs')]
    const { status, signal, stderr, stdout } = spawnSync(
      '/bin/sh',
      ['-c', `umask ${umask}; exec "$@"`, 'sh', node, ...preload, main, ...args],
      { ...user, encoding: 'utf8', cwd: '/', env: { CRASH_AT: `${crashAt}`, CRASH_MODE: 'kill' } },
    )
    return { status, signal, stderr, stdout }
  }

  let partitions = 0
  /** Of the owner: two native producers, two segments and their companions, indexes. */
  function partition({ directory: mode = 0o775, files = 0o664, pid = 7 } = {}): string {
    const logDirectory = join(root, `kafka${partitions++}`)
    const directory = join(logDirectory, 'orders-0')
    mkdirSync(directory, { recursive: true })
    const log = PartitionLog.open(directoryStorage(directory))
    for (let seq = 0; seq < 8; seq++) {
      log.append(encodeOp({ kind: 'data', pid, seq }, log.logEndOffset), 'replication')
      log.append(encodeOp({ kind: 'data', pid: pid + 1, seq }, log.logEndOffset), 'replication')
      if (seq === 3) log.roll()
    }
    log.close()
    for (const name of readdirSync(directory)) {
      chmodSync(join(directory, name), files)
      chownSync(join(directory, name), OWNER.uid, OWNER.gid)
    }
    for (const path of [logDirectory, directory]) {
      chownSync(path, OWNER.uid, OWNER.gid)
      chmodSync(path, mode)
    }
    return directory
  }

  const ids = (directory: string) =>
    new Set(
      readdirSync(directory)
        .filter((name) => name.endsWith('.log'))
        .flatMap((name) => [...recordBatches(readFileSync(join(directory, name)))])
        .filter(({ isControl }) => !isControl)
        .map(({ producerId }) => producerId),
    )
  /** Owner, group and mode of all files, and what is in them. */
  const everything = (directory: string) => [
    readTree(directory),
    readdirSync(directory).map((name) => {
      const { uid, gid, mode, mtimeMs } = statSync(join(directory, name))
      return [name, uid, gid, mode, mtimeMs]
    }),
  ]
  /** The owner, with no right of root, can use all that is there. */
  function expectLeft(directory: string): void {
    const names = readdirSync(directory)
    const use = names.map((name) => `test -r "${name}" -a -w "${name}" || echo "${name}"`).join('\n')
    const { stdout, stderr } = spawnSync('/bin/sh', ['-c', use], {
      ...OWNER,
      cwd: directory,
      encoding: 'utf8',
    })
    expect([stdout, stderr]).toEqual(['', ''])
    expect(names.filter((name) => name.includes('mirrorpid'))).toEqual([])
    const recovered = run(OWNER, ['recover', directory, '--write', '--quiet'])
    expect(recovered.status, recovered.stderr).toBe(0)
  }

  const COMMANDS: [string, string[], number][] = [
    ['rewrite', ['--in-place'], 7],
    ['recover', ['--write'], 7],
    ['stop', IDS, -9],
  ]

  describe.each(COMMANDS)('%s', (command, flags, pid) => {
    it.each([
      ['a member of its group', MEMBER, { directory: 0o775, files: 0o664 }],
      [
        'a member of its group, with the group kept by the directory',
        MEMBER,
        { directory: 0o2775, files: 0o664 },
      ],
      ['anybody, where all may write', STRANGER, { directory: 0o777, files: 0o666 }],
      ['its owner', OWNER, { directory: 0o755, files: 0o644 }],
    ])('serves %s in full, whatever the umask', (_, user, modes) => {
      for (const umask of ['022', '077']) {
        const directory = partition({ ...modes, pid })
        // what is missing is made anew
        rmSync(join(directory, SEGMENT.replace('.log', '.index')))
        const { status, stderr } = run(user, [command, directory, ...flags], { umask })
        expect(status, stderr).toBe(0)
        if (command === 'rewrite') expect(ids(directory)).toEqual(new Set([-9n, -10n]))
        for (const name of readdirSync(directory)) {
          expect(statSync(join(directory, name)).mode & 0o777, name).toBe(modes.files)
        }
        expectLeft(directory)
      }
    })

    it.each([
      ['to whom the segments are read-only', MEMBER, { directory: 0o775, files: 0o644 }],
      ['whose new files the owner could not write to', STRANGER, { directory: 0o777, files: 0o664 }],
      ['in a sticky directory', MEMBER, { directory: 0o1775, files: 0o664 }],
      ['to whom the directory is read-only', MEMBER, { directory: 0o755, files: 0o664 }],
      ['who may not even look', STRANGER, { directory: 0o770, files: 0o666 }],
    ])('is refused to one %s, before any byte', (_, user, modes) => {
      const directory = partition({ ...modes, pid })
      const before = everything(directory)
      const { status, stderr } = run(user, [command, directory, ...flags])
      expect([status, stderr]).toEqual([2, expect.stringMatching(/run as the user/)])
      expect(everything(directory)).toEqual(before)
    })
  })

  describe.each(['recover', 'stop'])('%s', (command) => {
    it.each([
      [SEGMENT.replace('.log', '.timeindex'), null],
      ['leader-epoch-checkpoint', null],
      ['log-start-offset-checkpoint', '0\n1\n0\n'],
    ])('finds before any byte that it may not write to %s', (name, content) => {
      const directory = partition({ pid: -9 })
      const path = join(directory, name)
      if (content !== null) writeFileSync(path, content)
      chownSync(path, OWNER.uid, OWNER.gid)
      chmodSync(path, 0o644)
      const before = everything(directory)
      const { status, stderr } = run(MEMBER, [
        command,
        directory,
        ...(command === 'stop' ? IDS : ['--write']),
      ])
      expect([status, stderr]).toEqual([2, expect.stringContaining(`${name}: `)])
      expect(everything(directory)).toEqual(before)
    })
  })

  describe.each([
    ['a directory of somebody else', (bad: string) => chmodSync(bad, 0o700)],
    ['a directory that may be listed alone', (bad: string) => chmodSync(bad, 0o744)],
    ['a segment of somebody else', (bad: string) => chmodSync(join(bad, SEGMENT), 0o600)],
  ])('one partition that may not be read: %s', (_, spoil) => {
    /** A log directory with two partitions that the user may read, and one between them that it may not. */
    function logDirectory(): { all: string; bad: string; good: string[] } {
      const all = dirname(partition())
      for (const name of ['orders-1', 'orders-2']) {
        cpSync(join(all, 'orders-0'), join(all, name), { recursive: true })
        spawnSync('chown', ['-R', '1000:1000', join(all, name)])
        spawnSync('chmod', ['-R', 'g+w', join(all, name)])
      }
      const bad = join(all, 'orders-1')
      spoil(bad)
      chownSync(bad, OWNER.uid, 4000)
      chownSync(join(bad, SEGMENT), OWNER.uid, 4000)
      return { all, bad, good: [join(all, 'orders-0'), join(all, 'orders-2')] }
    }

    it.each([
      ['verify', [], ({ files }: Result) => files],
      ['audit', [], ({ partitions }: Result) => partitions],
      ['dump', [], ({ files }: Result) => files],
      ['rewrite', ['--out', 'OUT'], ({ files }: Result) => files],
      ['rewrite', ['--in-place'], ({ files }: Result) => files],
    ] as const)('%s %j does the others, and names it', (command, given, of) => {
      const { all, bad, good } = logDirectory()
      for (const paths of [[all], [good[0]!, bad, good[1]!]]) {
        const attempt = (...more: string[]) => {
          const out = mkdtempSync(join(root, 'out-'))
          chownSync(out, MEMBER.uid, MEMBER.gid)
          const flags = given.map((flag) => (flag === 'OUT' ? out : flag))
          return run(MEMBER, [command, ...paths, ...flags, ...more])
        }
        const { status, stdout, stderr } = attempt('--json')
        expect(status, stderr).toBe(2)
        const result = JSON.parse(stdout)
        const done = new Set(of(result).map(({ path }) => path.replace(/\/\d{20}\.\w+$/, '')))
        for (const directory of good) expect(done).toContain(directory)
        const errors: Result['errors'] = result.errors
        expect(errors.length).toBeGreaterThan(0)
        for (const error of errors) expect(error).toMatchObject({ code: 'IO_ERROR', errno: 'EACCES' })
        for (const { file } of errors) expect(file.startsWith(bad)).toBe(true)
        expect(attempt('--quiet').stderr).toContain(`mirrorpid: ${bad}`)
        if (command === 'rewrite' && given[0] === '--in-place') {
          for (const directory of good) expect(ids(directory)).toEqual(new Set([-9n, -10n]))
        }
      }
    })

    it('alone is an error, and nothing else', () => {
      const { bad } = logDirectory()
      for (const command of ['verify', 'audit', 'dump']) {
        const { status, stderr } = run(MEMBER, [command, bad])
        expect([status, stderr]).toEqual([2, expect.stringContaining(`mirrorpid: ${bad}`)])
      }
    })
  })

  it.each([
    'verify',
    'audit',
    'dump',
    'rewrite --in-place',
    'rewrite --out OUT',
    'rewrite --out OUT --dry-run',
  ])('%s does the others where a path lies in a folder that may not be entered', (command) => {
    const [good, hidden] = [partition(), partition()]
    chmodSync(dirname(hidden), 0o700)
    const out = mkdtempSync(join(root, 'out-'))
    chownSync(out, MEMBER.uid, MEMBER.gid)
    const given = command.replace('OUT', out).split(' ')
    const { status, stdout, stderr } = run(MEMBER, [...given, good, hidden, '--json'])
    expect(status, stderr).toBe(2)
    const { files, partitions, errors } = JSON.parse(stdout)
    expect(JSON.stringify(files ?? partitions)).toContain(good)
    expect(errors).toMatchObject([
      { code: 'IO_ERROR', errno: 'EACCES', file: expect.stringContaining(hidden) },
    ])
  })

  it('the owner can finish what somebody else had begun, wherever that was killed', () => {
    let unfinished = 0
    for (let crashAt = 1; ; crashAt += 2) {
      const directory = partition()
      const { signal } = run(MEMBER, ['rewrite', directory, '--in-place'], { umask: '077', crashAt })
      if (signal === null) break
      const isBegun = readdirSync(directory).some((name) => name.endsWith('.mirrorpid-journal'))
      if (isBegun) unfinished++
      const args = ['rewrite', directory, '--in-place', ...(isBegun ? ['--resume'] : [])]
      const { status, stderr } = run(OWNER, args)
      expect([status, stderr], `killed at ${crashAt}`).toEqual([0, expect.not.stringContaining('cannot')])
      if (isBegun && ids(directory).has(7n)) expect(run(OWNER, args.slice(0, 3)).status).toBe(0)
      expect(ids(directory), `killed at ${crashAt}`).toEqual(new Set([-9n, -10n]))
      expectLeft(directory)
    }
    expect(unfinished).toBeGreaterThan(3)
  })
})

/** The packages that the command needs, and theirs. */
function dependencies(directory = repository, known = new Set<string>()): Set<string> {
  const { dependencies: needed = {} } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  for (const name of Object.keys(needed)) {
    if (known.has(name)) continue
    known.add(name)
    dependencies(join(repository, 'node_modules', name), known)
  }
  return known
}
