import { spawnSync } from 'node:child_process'
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import type { JournalMode } from '../../src/log/journalFormat.ts'
import { journalPathOf } from '../../src/node/files/temporaryFiles.ts'
import { rewritePaths, rewriteSegmentFile } from '../../src/node/index.ts'
import { Job } from '../../src/node/jobs/job.ts'
import { checkSegment } from '../../src/node/segments/segmentPasses.ts'
import { batch, hex, pattern } from '../support/batches.ts'
import { mainScript, readTree, runCommand, type Tree, temporaryDirectories, writeTree } from './support.ts'

// How much a resumed run does, and in which mode: that of the run which was killed.

const newDirectory = temporaryDirectories()
const core = loadCoreSync()
const SEGMENTS = [0, 1000, 2000].map((base) => `${base}`.padStart(20, '0').concat('.log'))
const [FIRST, SECOND, THIRD] = SEGMENTS as [string, string, string]
const SNAPSHOT = '00000000000000001000.snapshot'
const native = SEGMENTS.map((name) =>
  Buffer.concat(
    [0, 1, 2].map((at) =>
      batch({
        baseOffset: BigInt(Number(name.slice(0, 20)) + at),
        producerId: BigInt(at),
        payload: pattern(99),
      }),
    ),
  ),
)
const mapped = native.map((bytes) => {
  const copy = Buffer.from(bytes)
  core.rewrite(copy)
  return copy
})
const snapshot = hex(
  '0001418d07fe0000000100000000000003e80003000000010000000000000001000000010000018bcfe5680900000004ffffffffffffffff',
)
const MAP = { crc: 'patch', direction: 'map', scope: 'partition' } as const
const UNMAP = { ...MAP, direction: 'unmap' } as const
const MAP_ALONE = { ...MAP, scope: 'segment' } as const
const UNMAP_ALONE = { ...UNMAP, scope: 'segment' } as const

type Side = 'native' | 'mapped'
const sideOf = (bytes: Buffer, at: number): Side | null =>
  bytes.equals(native[at]!) ? 'native' : bytes.equals(mapped[at]!) ? 'mapped' : null

function partitionOf(...sides: Side[]): string {
  const tree: Tree = { [SNAPSHOT]: snapshot }
  for (const [at, side] of sides.entries()) tree[SEGMENTS[at]!] = (side === 'native' ? native : mapped)[at]!
  return writeTree(join(newDirectory(), 'orders-0'), tree)
}

const sidesIn = (directory: string) =>
  SEGMENTS.map((name, at) => sideOf(readFileSync(join(directory, name)), at))
const isSnapshotGone = (directory: string) => !existsSync(join(directory, SNAPSHOT))
const journalsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.mirrorpid-journal'))

/** A run in that mode was killed right before its first header in this segment, or when it had done it. */
async function leave(directory: string, name: string, mode: JournalMode, state = 'ready'): Promise<void> {
  const path = join(directory, name)
  expect((await checkSegment(path, journalPathOf(path), Job.start({}), mode)).isJournaled).toBe(true)
  if (state !== 'done') return
  const bytes = readFileSync(path)
  core.rewrite(bytes, { crc: mode.crc, direction: mode.direction })
  writeFileSync(path, bytes)
}

/** The command, killed at its first file-system call after which a journal counts. */
function killWithJournal(directory: string, ...args: string[]): void {
  const preload = pathToFileURL(join(import.meta.dirname, 'crashAt.mjs')).href
  for (let at = 1; journalsIn(directory).length === 0; at++) {
    const { signal } = spawnSync(process.execPath, ['--import', preload, mainScript, 'rewrite', ...args], {
      env: { ...process.env, CRASH_AT: `${at}`, CRASH_MODE: 'kill' },
    })
    expect([at, signal]).toEqual([at, 'SIGKILL'])
  }
}

describe('a killed run over one segment', () => {
  it('leaves the ids of the others to be asked for: its own are mapped in part', async () => {
    const directory = partitionOf('native', 'native', 'native')
    await leave(directory, FIRST, MAP_ALONE, 'done')
    const path = join(directory, THIRD)
    writeFileSync(path, Buffer.concat([native[2]!, batch({ baseOffset: 2003n, producerId: -3n })]))
    const { errors } = await rewritePaths([directory], { inPlace: true })
    expect(errors).toMatchObject([
      { code: 'PRODUCER_IDS_MEET', producerId: 1n, firstOffset: 1001n, otherFirstOffset: 2003n },
    ])
    expect(sidesIn(directory)).toEqual(['mapped', 'native', null])
    const forced = await rewritePaths([directory], { inPlace: true, force: true })
    expect(forced.errors).toEqual([])
    expect(sidesIn(directory).slice(0, 2)).toEqual(['mapped', 'mapped'])
  })

  it('is finished in that segment alone, by the command, which says what it did', () => {
    const directory = partitionOf('mapped', 'mapped', 'mapped')
    killWithJournal(directory, join(directory, SECOND), '--in-place', '--unmap')
    const { status, stdout, stderr } = runCommand(['rewrite', directory, '--in-place', '--resume'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`${SECOND}: finished what an interrupted rewrite had begun`)
    expect(stdout).toContain(`${SECOND}: 3 batches: 0 restored, 3 native already`)
    expect(stdout).toContain('total: 1 segment ')
    expect([sidesIn(directory), isSnapshotGone(directory), journalsIn(directory)]).toEqual([
      ['mapped', 'native', 'mapped'],
      false,
      [],
    ])
  })

  it('is finished with what a broker has added to the segment', async () => {
    const directory = partitionOf('native', 'mapped', 'native')
    const added = batch({ baseOffset: 3n, producerId: 9n })
    await leave(directory, FIRST, MAP_ALONE)
    writeFileSync(join(directory, FIRST), added, { flag: 'a' })
    const { errors, files, companions, finishedRuns } = await rewritePaths([directory], {
      inPlace: true,
      resume: true,
    })
    expect([errors, companions]).toEqual([[], []])
    expect(files).toMatchObject([{ path: join(directory, FIRST), rewritten: 1, alreadyMapped: 3 }])
    expect(finishedRuns).toEqual([{ path: join(directory, FIRST), crc: 'patch', direction: 'map' }])
    core.rewrite(added)
    expect(readFileSync(join(directory, FIRST))).toEqual(Buffer.concat([mapped[0]!, added]))
    expect(sidesIn(directory).slice(1)).toEqual(['mapped', 'native'])
  })

  it.runIf(process.platform === 'linux')('is finished so where threads were at work', () => {
    const payload = pattern(16384)
    const bytes = Buffer.concat(Array.from({ length: 100 }, () => batch({ producerId: 5n, payload })))
    const directory = writeTree(newDirectory(), Object.fromEntries(SEGMENTS.map((name) => [name, bytes])))
    const paths = [FIRST, SECOND].map((name) => join(directory, name))
    // a limit for the size of a file, in blocks of 512 bytes, ends it in the midst
    const command = `ulimit -f 2048; exec '${process.execPath}' '${mainScript}' "$@"`
    const args = ['rewrite', ...paths, '--in-place', '--jobs', '2']
    expect(spawnSync('/bin/sh', ['-c', command, 'sh', ...args]).status).toBe(2)
    expect(journalsIn(directory)).toHaveLength(2)
    const { status, stderr } = runCommand(['rewrite', directory, '--in-place', '--resume', '--jobs', '2'])
    expect([status, stderr]).toEqual([0, expect.stringContaining('Restored ids (--unmap)')])
    const changed = SEGMENTS.map((name) => !readFileSync(join(directory, name)).equals(bytes))
    expect([changed, journalsIn(directory)]).toEqual([[true, true, false], []])
  })

  it('and another one over another are each finished in their own modes', async () => {
    const directory = partitionOf('native', 'mapped', 'mapped')
    await leave(directory, FIRST, MAP_ALONE)
    await leave(directory, SECOND, UNMAP_ALONE)
    const { status, stdout } = runCommand(['rewrite', directory, '--in-place', '--resume'])
    expect(status).toBe(0)
    expect(stdout).toContain(`${FIRST}: 3 batches: 0 mapped, 3 mapped already`)
    expect(stdout).toContain(`${SECOND}: 3 batches: 0 restored, 3 native already`)
    expect(stdout).toContain('6 batches: 0 rewritten, 6 so already')
    expect([sidesIn(directory), isSnapshotGone(directory)]).toEqual([['mapped', 'native', 'mapped'], false])
  })

  it('after one over the partition keeps its own mode, and the rest has that of the partition', async () => {
    const directory = partitionOf('native', 'mapped', 'native')
    await leave(directory, FIRST, MAP)
    await leave(directory, SECOND, UNMAP_ALONE)
    const { errors } = await rewritePaths([directory], { inPlace: true, resume: true })
    expect(errors).toEqual([])
    expect([sidesIn(directory), isSnapshotGone(directory)]).toEqual([['mapped', 'native', 'mapped'], true])
  })
})

describe('a killed run over a partition', () => {
  it('is finished in all of it, by the command, which says what it did', () => {
    const directory = partitionOf('native', 'native', 'native')
    killWithJournal(directory, directory, '--in-place')
    const { status, stdout, stderr } = runCommand(['rewrite', directory, '--in-place', '--resume'])
    expect([status, stderr]).toEqual([0, expect.stringContaining('Restored ids (--unmap)')])
    expect(stdout).toContain('mapped already')
    expect([sidesIn(directory), isSnapshotGone(directory)]).toEqual([['mapped', 'mapped', 'mapped'], true])
  })

  it('is not finished by the path of a segment, as nothing would tell any more that the rest waits', async () => {
    const directory = partitionOf('native', 'native', 'native')
    await leave(directory, SECOND, MAP)
    const before = readTree(directory)
    const path = join(directory, SECOND)
    const refusal = {
      code: 'UNFINISHED_REWRITE',
      message: expect.stringContaining(`"mirrorpid rewrite ${directory} --in-place --resume"`),
    }
    for (const options of [{ resume: true }, {}, { direction: 'unmap' }] as const) {
      expect((await rewritePaths([path], { inPlace: true, ...options })).errors).toMatchObject([refusal])
    }
    await expect(rewriteSegmentFile(path, { inPlace: true })).rejects.toMatchObject(refusal)
    expect(readTree(directory)).toEqual(before)
    expect((await rewritePaths([join(directory, FIRST)], { inPlace: true, resume: true })).errors).toEqual([])
    expect(readTree(directory)).toEqual(before)
    expect((await rewritePaths([directory], { inPlace: true, resume: true })).errors).toEqual([])
    expect([sidesIn(directory), isSnapshotGone(directory)]).toEqual([['mapped', 'mapped', 'mapped'], true])
  })

  it('that restored ids ends with no note that they should be restored', async () => {
    const directory = partitionOf('mapped', 'mapped', 'mapped')
    await leave(directory, FIRST, UNMAP)
    const { status, stdout, stderr } = runCommand(['rewrite', directory, '--in-place', '--resume'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`${SECOND}: 3 batches: 3 restored`)
    expect(stdout).toMatch(/total: 3 segments .*: 6 restored, 3 native already/)
    expect(sidesIn(directory)).toEqual(['native', 'native', 'native'])
  })

  it('is told of in JSON with its mode', async () => {
    const directory = partitionOf('mapped', 'mapped', 'mapped')
    await leave(directory, FIRST, { ...UNMAP, crc: 'verify' })
    const { stdout } = runCommand(['rewrite', directory, '--in-place', '--resume', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      resumed: [join(directory, FIRST)],
      finishedRuns: [{ path: directory, crc: 'verify', direction: 'unmap' }],
    })
  })

  it.each([
    ['map', 'unmap'],
    ['unmap', 'map'],
  ] as const)(
    'to %s and met by one to %s is finished, and then all goes the other way',
    async (left, own) => {
      const [old, result]: Side[] = left === 'map' ? ['native', 'native'] : ['mapped', 'mapped']
      const directory = partitionOf(old!, old!, old!)
      for (const name of [FIRST, SECOND]) await leave(directory, name, { ...MAP, direction: left })
      const { errors, resumed } = await rewritePaths([directory], { inPlace: true, direction: own })
      expect([errors, resumed.length]).toEqual([[], 2])
      expect([sidesIn(directory), isSnapshotGone(directory)]).toEqual([
        [result, result, result],
        own === 'map',
      ])
      expect(journalsIn(directory)).toEqual([])
    },
  )

  it('at any step of one that goes the other way after it leaves what resuming finishes', async () => {
    const preload = pathToFileURL(join(import.meta.dirname, 'crashAt.mjs')).href
    const outcomes = new Set<string>()
    for (let at = 1, isOver = false; !isOver; at++) {
      const directory = partitionOf('native', 'native', 'mapped')
      await leave(directory, FIRST, MAP)
      await leave(directory, SECOND, MAP_ALONE)
      const args = ['--import', preload, mainScript, 'rewrite', directory, '--in-place', '--unmap']
      const { signal } = spawnSync(process.execPath, args, {
        env: { ...process.env, CRASH_AT: `${at}`, CRASH_MODE: 'power' },
      })
      isOver = signal === null
      const hasJournals = journalsIn(directory).length > 0
      const { errors } = await rewritePaths([directory], { inPlace: true, resume: true })
      expect([at, errors]).toEqual([at, []])
      const [first, second, third] = sidesIn(directory)
      // the one to map comes to its end, or the one to unmap does
      if (hasJournals) expect([at, first, third]).toEqual([at, third, first])
      expect([at, journalsIn(directory)]).toEqual([at, []])
      outcomes.add([first, second, third].join())
    }
    expect([...outcomes].sort()).toEqual(['mapped,mapped,mapped', 'native,native,native'])
  }, 120_000)
})

describe('journals of two runs over one partition in different modes', () => {
  it('are finished where the second was killed as its journals came to count', async () => {
    for (const [earlier, later] of [
      [FIRST, SECOND],
      [SECOND, FIRST],
    ] as const) {
      const directory = partitionOf('native', 'native', 'mapped')
      await leave(directory, earlier, MAP, 'done')
      writeFileSync(join(directory, later), mapped[SEGMENTS.indexOf(later)]!)
      await leave(directory, later, UNMAP)
      const { errors } = await rewritePaths([directory], { inPlace: true, resume: true })
      expect(errors).toEqual([])
      expect(sidesIn(directory)).toEqual(['native', 'native', 'native'])
    }
  })

  it.each(['ready', 'done'])('are refused where both are %s', async (state) => {
    const directory = partitionOf('native', 'mapped', 'native')
    await leave(directory, FIRST, MAP, state)
    await leave(directory, SECOND, UNMAP, state)
    const before = readTree(directory)
    for (const resume of [true, false]) {
      const { errors } = await rewritePaths([directory], { inPlace: true, resume })
      expect(errors).toMatchObject([
        { code: 'INVALID_JOURNAL', message: expect.stringContaining('direction unmap and crc patch') },
      ])
    }
    expect(readTree(directory)).toEqual(before)
  })
})

describe('the journal of a run that went the other way', () => {
  it('is gone before its segment is replaced, which has got another name', async () => {
    const directory = partitionOf('native', 'mapped', 'mapped')
    await leave(directory, FIRST, MAP)
    linkSync(join(directory, FIRST), join(newDirectory(), 'backup.log'))
    rmSync(join(directory, SECOND))
    rmSync(join(directory, THIRD))
    const path = join(directory, FIRST)
    const seen: unknown[][] = []
    const onProgress = () => {
      if (journalsIn(directory).length === 0) return
      const journal = readFileSync(journalPathOf(path))
      const [isUnmap, changes] = [journal.readUInt8(10) === 1, journal.readBigUInt64BE(40)]
      seen.push([isUnmap, changes, sideOf(readFileSync(path), 0)])
    }
    await rewritePaths([directory], { inPlace: true, direction: 'unmap', onProgress })
    expect(seen).toContainEqual([false, 3n, 'mapped'])
    // that of the run which replaces it tells of the run alone
    expect(seen).toContainEqual([true, 0n, 'mapped'])
    const itsOwn = seen.findIndex(([isUnmap]) => isUnmap)
    expect(seen.findLastIndex(([isUnmap]) => !isUnmap)).toBeLessThan(itsOwn)
    expect(journalsIn(directory)).toEqual([])
    expect(sideOf(readFileSync(join(directory, FIRST)), 0)).toBe('native')
  })
})
