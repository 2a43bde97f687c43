import { readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadCoreSync } from '../../src/index.ts'
import { journalPathOf } from '../../src/node/files/temporaryFiles.ts'
import { rewritePaths, rewriteSegmentFile } from '../../src/node/index.ts'
import { Job } from '../../src/node/jobs/job.ts'
import { checkSegment } from '../../src/node/segments/segmentPasses.ts'
import { batch, pattern } from '../support/batches.ts'
import { runCommand, temporaryDirectories, writeTree } from './support.ts'

const newDirectory = temporaryDirectories()
const core = loadCoreSync()
const SEGMENT = '00000000000000000000.log'
const batches = Array.from({ length: 6 }, (_, at) =>
  batch({ baseOffset: BigInt(at), producerId: BigInt(3 + at), payload: pattern(50 + at) }),
)
const segment = Buffer.concat(batches)
const added = Buffer.concat([
  batch({ baseOffset: 6n, producerId: 40n, payload: pattern(10) }),
  batch({ baseOffset: 7n, producerId: -41n, payload: pattern(10) }),
])

function mapped(...parts: Buffer[]): Buffer {
  const bytes = Buffer.concat(parts)
  core.rewrite(bytes)
  return bytes
}

/** A run was killed when so many batches were done; then the file became what `grow` makes of it. */
async function killed(done: number, grow: (bytes: Buffer) => Buffer, before = segment): Promise<string> {
  const directory = writeTree(newDirectory(), { [SEGMENT]: before })
  const path = join(directory, SEGMENT)
  const mode = { crc: 'patch', direction: 'map', scope: 'segment' } as const
  await checkSegment(path, journalPathOf(path), Job.start({}), mode)
  const end = batches.slice(0, done).reduce((sum, { length }) => sum + length, 0)
  writeFileSync(path, grow(Buffer.concat([mapped(before.subarray(0, end)), before.subarray(end)])))
  return path
}

describe('a segment that grew after an interrupted rewrite in place', () => {
  it.each([0, 1, 3, 6])(
    'is finished, and what was added is rewritten too (%d of 6 were done)',
    async (done) => {
      const path = await killed(done, (bytes) => Buffer.concat([bytes, added]))
      const { errors, resumed, grown, files } = await rewritePaths([path], { inPlace: true })
      expect([errors, resumed, grown]).toEqual([[], [path], [{ path, bytes: added.length }]])
      expect(files).toMatchObject([{ batches: 8, rewritten: 1, alreadyMapped: 7 }])
      expect(readFileSync(path)).toEqual(mapped(segment, added))
      expect(readdirSync(join(path, '..'))).toEqual([SEGMENT])
    },
  )

  it('by the command, which says so', async () => {
    for (const flags of [['--in-place'], ['--in-place', '--resume']]) {
      const path = await killed(2, (bytes) => Buffer.concat([bytes, added]))
      const { status, stderr, stdout } = runCommand(['rewrite', path, ...flags])
      expect([status, stdout]).toEqual([
        0,
        expect.stringContaining('finished what an interrupted rewrite had begun'),
      ])
      expect(stderr).toContain(`${path}: ${added.length} bytes were added since the interrupted rewrite`)
      expect(readFileSync(path)).toEqual(mapped(segment, added))
    }
  })

  it('keeps the time at which it grew', async () => {
    const path = await killed(2, (bytes) => Buffer.concat([bytes, added]))
    utimesSync(path, 1_700_000_000, 1_700_000_000)
    await rewriteSegmentFile(path, { inPlace: true })
    expect(statSync(path).mtimeMs).toBe(1_700_000_000_000)
  })

  it('where the batch that it ended with was cut first', async () => {
    const torn = batch({ baseOffset: 6n, producerId: 8n, payload: pattern(100) }).subarray(0, 70)
    const cut = (bytes: Buffer) => Buffer.concat([bytes.subarray(0, segment.length), added])
    const path = await killed(2, cut, Buffer.concat([segment, torn]))
    const { errors } = await rewritePaths([path], { inPlace: true })
    expect(errors).toEqual([])
    expect(readFileSync(path)).toEqual(mapped(segment, added))
  })
})

describe('is refused, and nothing is changed,', () => {
  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['a segment that is shorter', (bytes) => bytes.subarray(0, bytes.length - 1)],
    ['one that lost its last batch', (bytes) => bytes.subarray(0, bytes.length - batches[5]!.length)],
    ['another one that is longer', (bytes) => Buffer.concat([added, bytes])],
    [
      'one that lost a batch of the journal and grew by others',
      (bytes) => Buffer.concat([bytes.subarray(0, bytes.length - batches[5]!.length), added, added, added]),
    ],
  ])('%s', async (_name, grow) => {
    const path = await killed(2, grow)
    const before = readFileSync(path)
    const { errors } = await rewritePaths([path], { inPlace: true })
    expect(errors).toMatchObject([{ code: 'INVALID_JOURNAL' }])
    expect(readFileSync(path)).toEqual(before)
  })

  it('one that is cut between the check and the work', async () => {
    const path = await killed(2, (bytes) => Buffer.concat([bytes, added]))
    truncateSync(path, 100)
    await expect(rewriteSegmentFile(path, { inPlace: true })).rejects.toMatchObject({
      code: 'INVALID_JOURNAL',
    })
  })
})
