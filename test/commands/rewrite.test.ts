import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ON_STOCK_BROKERS } from '../../src/commands/stockBrokers.ts'
import { loadCoreSync } from '../../src/index.ts'
import {
  leftovers,
  mainScript,
  readTree,
  runCommand,
  type Tree,
  temporaryDirectories,
  writeTree,
} from '../node/support.ts'
import { batch, hex, legacyEntry, pattern } from '../support/batches.ts'

const newDirectory = temporaryDirectories()
const fixtures = fileURLToPath(new URL('../fixtures/kafka-4.3.1', import.meta.url))

const SEGMENT = '00000000000000000000.log'
const FAR = 2n ** 62n + 1n
const good = Buffer.concat([
  batch({ baseOffset: 0n, producerId: 5n, payload: pattern(300) }),
  batch({ baseOffset: 1n, producerId: -1n }),
  batch({ baseOffset: 2n, producerId: -9n, attributes: 0x30 }),
  legacyEntry({ magic: 1, offset: 3n }),
])
const damaged = Buffer.concat([good, batch({ baseOffset: FAR, producerId: 5n, crc: 0x1234 })])
const snapshot = hex('000148674bc700000000')
const mapped = Buffer.from(good)
loadCoreSync().rewrite(mapped)

/** A directory with a partition `a-0` in it, and where output may go. */
function newPartition(tree: Tree = { [SEGMENT]: good }): { root: string; partition: string; out: string } {
  const root = writeTree(newDirectory(), { 'a-0': tree })
  return { root, partition: join(root, 'a-0'), out: join(root, 'out') }
}

describe('mirrorpid rewrite', () => {
  it('says what it did, and what stock brokers make of it', () => {
    const { partition, out } = newPartition()
    const { status, stdout, stderr } = runCommand(['rewrite', partition, '--out', out])
    expect(status).toBe(0)
    expect(stdout.split('\n')).toEqual([
      `${join(partition, SEGMENT)}: 4 batches: 1 mapped, 1 mapped already, 1 without producer, 1 of magic 0 or 1 ` +
        '(1 of all are control batches)',
      expect.stringMatching(/^total: 1 segment \(\d.*\) in \d.* s, to .*out: 4 batches: 1 mapped, /),
      '',
    ])
    expect(stderr).toBe(`mirrorpid: note: ${ON_STOCK_BROKERS}\n`)
    expect(readFileSync(join(out, 'a-0', SEGMENT)).equals(mapped)).toBe(true)
  })

  it('restores, without that note', () => {
    const { root, partition, out } = newPartition({ [SEGMENT]: mapped })
    const { status, stdout, stderr } = runCommand(['rewrite', partition, '--out', out, '--unmap'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('2 restored')
    expect(runCommand(['rewrite', partition, '--in-place', '--unmap']).status).toBe(0)
    expect(readTree(partition)).toEqual(readTree(join(root, 'out', 'a-0')))
  })

  it('says nothing with --quiet, when there is nothing to warn of', () => {
    const { partition } = newPartition({ [SEGMENT]: Buffer.concat([good, Buffer.alloc(100)]) })
    expect(runCommand(['rewrite', partition, '--in-place', '--quiet'])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    })
  })

  it('prints one JSON document with --json', () => {
    const { partition, out } = newPartition({ [SEGMENT]: good, '00000000000000000004.snapshot': snapshot })
    const { status, stdout } = runCommand(['rewrite', partition, '--out', out, '--json'])
    expect(status).toBe(0)
    const path = join(partition, SEGMENT)
    const counts = { batches: 4, rewritten: 1, alreadyMapped: 1, withoutProducer: 1, control: 1, legacy: 1 }
    const size = { bytes: good.length, seconds: expect.any(Number), validBytes: good.length }
    expect(JSON.parse(stdout)).toEqual({
      files: [
        {
          path,
          out: join(out, 'a-0', SEGMENT),
          ...size,
          ...counts,
          trailing: { kind: 'none', bytes: 0 },
          incomplete: null,
        },
      ],
      companions: [],
      rebuilt: [join(partition, '00000000000000000004.snapshot')],
      meetings: [],
      copied: 0,
      resumed: [],
      grown: [],
      finishedRuns: [],
      unfinished: [],
      totals: { files: 1, ...size, ...counts },
      errors: [],
      leftOut: [],
      dryRun: false,
    })
  })

  it('takes segment files, and each way to treat CRCs', () => {
    const { root, partition } = newPartition()
    for (const crc of ['patch', 'verify', 'recompute']) {
      const out = join(root, crc)
      const { status } = runCommand(['rewrite', join(partition, SEGMENT), '--out', out, '--crc', crc])
      expect(status).toBe(0)
      expect(readFileSync(join(out, SEGMENT)).equals(mapped)).toBe(true)
    }
  })

  it('names a damaged batch with --crc verify, and writes nothing of its partition', () => {
    const { root, partition, out } = newPartition({ [SEGMENT]: damaged })
    writeTree(join(root, 'b-0'), { [SEGMENT]: good })
    const args = ['rewrite', partition, join(root, 'b-0'), '--out', out, '--crc', 'verify']
    const { status, stderr } = runCommand(args)
    expect(status).toBe(1)
    expect(stderr).toContain(
      `${join(partition, SEGMENT)}: batch at byte ${good.length} (base offset ${FAR}) is damaged: ` +
        'stored CRC 0x00001234, computed 0x',
    )
    expect(stderr).toContain('another replica')
    expect(existsSync(join(out, 'a-0'))).toBe(false)
    expect(readFileSync(join(out, 'b-0', SEGMENT)).equals(mapped)).toBe(true)
    expect(leftovers(root)).toEqual([])
  })

  it('keeps every digit in JSON, of findings too', () => {
    const { partition, out } = newPartition({ [SEGMENT]: damaged })
    const { status, stdout } = runCommand(['rewrite', partition, '--out', out, '--crc', 'verify', '--json'])
    expect(status).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      files: [],
      errors: [
        {
          name: 'CorruptBatchError',
          code: 'CORRUPT_BATCH',
          file: join(partition, SEGMENT),
          position: good.length,
          baseOffset: FAR.toString(),
          reason: 'crc',
          stored: 0x1234,
          computed: expect.any(Number),
        },
      ],
    })
  })

  it('keeps an incomplete batch, and warns of it', () => {
    const cut = Buffer.concat([good, batch({ payload: pattern(200) }).subarray(0, 55)])
    const { partition, out } = newPartition({ [SEGMENT]: cut })
    const { status, stderr } = runCommand(['rewrite', partition, '--out', out, '--quiet'])
    expect(status).toBe(0)
    expect(stderr).toBe(
      `mirrorpid: warning: ${join(partition, SEGMENT)}: incomplete batch: wants 261 bytes, has 55 at position ` +
        `${good.length}; kept as it is\n`,
    )
    expect(readFileSync(join(out, 'a-0', SEGMENT))).toEqual(
      Buffer.concat([mapped, cut.subarray(good.length)]),
    )
  })

  it('keeps trailing zeros, and notes them', () => {
    const { partition, out } = newPartition({ [SEGMENT]: Buffer.concat([good, Buffer.alloc(4096)]) })
    const { status, stderr } = runCommand(['rewrite', partition, '--out', out])
    expect(status).toBe(0)
    expect(stderr).toContain('4096 trailing zero bytes, looks preallocated')
  })

  it('never overwrites', () => {
    const { root, partition } = newPartition()
    for (const out of [root, join(root, '.')]) {
      const { status, stderr } = runCommand(['rewrite', partition, '--out', out])
      expect(status).toBe(2)
      expect(stderr).toContain('is there already')
    }
    const inside = runCommand(['rewrite', partition, '--out', partition])
    expect([inside.status, inside.stderr]).toEqual([2, expect.stringContaining('lies in the input')])
    const other = writeTree(newDirectory(), { 'a-0': { [SEGMENT]: good } })
    const twice = runCommand(['rewrite', partition, join(other, 'a-0'), '--out', join(root, 'out')])
    expect([twice.status, twice.stderr]).toEqual([2, expect.stringContaining('would both become')])
    expect(readTree(root)).toEqual({ [`a-0/${SEGMENT}`]: good.toString('hex') })
  })

  it.each([
    ['a missing path', 'nowhere', 'out', 'no such file'],
    ['a directory without segments', 'empty', 'out', 'no segment'],
    ['a file in the place of the output directory', 'a-0', 'file', 'ENOTDIR'],
    ['a file in the way to it', 'a-0', 'file/below', 'ENOTDIR'],
  ])('fails with %s', (_name, path, out, message) => {
    const root = writeTree(newDirectory(), { 'a-0': { [SEGMENT]: good }, empty: {}, file: 'x' })
    const before = readTree(root)
    for (const flags of [[], ['--json']]) {
      const { status, stdout, stderr } = runCommand([
        'rewrite',
        join(root, path),
        '--out',
        join(root, out),
        ...flags,
      ])
      expect(status).toBe(2)
      expect(stderr).toContain(message)
      expect(stderr).not.toMatch(/\n\s+at /)
      if (flags.length > 0) expect(JSON.parse(stdout)).toMatchObject({ files: [], errors: [{ code: /./ }] })
    }
    expect(readTree(root)).toEqual(before)
  })

  describe('when the disk takes no more', () => {
    const long = Buffer.concat(
      Array.from({ length: 200 }, () => batch({ producerId: 5n, payload: pattern(16384) })),
    )
    /** A limit for the size of a file, in blocks of 512 bytes, stands in for a full disk. */
    const runLimited = (blocks: number, ...args: string[]) => {
      const command = `ulimit -f ${blocks}; exec '${process.execPath}' '${mainScript}' "$@"`
      return spawnSync('/bin/sh', ['-c', command, 'sh', 'rewrite', ...args], { encoding: 'utf8' })
    }

    it('leaves nothing behind of an output, nor of a journal', () => {
      const { root, partition } = newPartition({ [SEGMENT]: long })
      for (const [blocks, ...target] of [
        [2048, '--out', join(root, 'out')],
        [1, '--in-place'],
      ] as const) {
        const { status, stderr } = runLimited(blocks, partition, ...target)
        expect(status).toBe(2)
        expect(stderr).toContain('cannot write it')
        expect(readTree(root)).toEqual({ [`a-0/${SEGMENT}`]: long.toString('hex') })
      }
    })

    it('in the midst of a rewrite in place leaves the journal, and says how to go on', () => {
      const { partition } = newPartition({ [SEGMENT]: long })
      const journal = join(partition, `${SEGMENT}.mirrorpid-journal`)
      const limited = runLimited(2048, partition, '--in-place')
      expect([limited.status, limited.stderr]).toEqual([2, expect.stringContaining('cannot write it')])
      expect(existsSync(journal)).toBe(true)

      for (const command of [['verify'], ['dump'], ['rewrite', '--out', join(newDirectory(), 'out')]]) {
        const { status, stderr } = runCommand([...command, partition])
        expect([command, status, stderr]).toEqual([command, 2, expect.stringContaining(journal)])
        expect(stderr).toContain('--in-place --resume')
      }

      const { status, stdout } = runCommand(['rewrite', partition, '--in-place', '--resume'])
      expect(status).toBe(0)
      expect(stdout).toContain(`${join(partition, SEGMENT)}: finished what an interrupted rewrite had begun`)
      const whole = Buffer.from(long)
      loadCoreSync().rewrite(whole)
      expect(readTree(partition)).toEqual({ [SEGMENT]: whole.toString('hex') })
    })
  })

  it('takes a broker’s log directory there and back', () => {
    const root = newDirectory()
    const there = runCommand([
      'rewrite',
      fixtures,
      '--out',
      join(root, 'mapped'),
      '--crc',
      'verify',
      '--json',
    ])
    expect(there.status).toBe(0)
    const { totals, rebuilt, leftOut } = JSON.parse(there.stdout)
    expect(totals.rewritten).toBeGreaterThan(100)
    expect(rebuilt.length).toBeGreaterThan(10)
    const names = ['__cluster_metadata-0', '__transaction_state-0']
    const paths = leftOut.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(expect.arrayContaining(names.map((name) => join(fixtures, name))))
    const back = ['rewrite', join(root, 'mapped'), '--out', join(root, 'back'), '--unmap', '--quiet']
    expect(runCommand(back)).toMatchObject({ status: 0, stderr: '' })
    const original = readTree(fixtures)
    for (const [name, content] of Object.entries(readTree(join(root, 'back')))) {
      expect([name, content === original[name]]).toEqual([name, true])
    }
    expect(runCommand(['verify', join(root, 'mapped'), '--quiet'])).toMatchObject({ status: 0, stdout: '' })
  })
})
