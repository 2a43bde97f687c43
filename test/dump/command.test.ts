import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeMirrorPidReset } from '../../src/formats/mirrorPidReset.ts'
import { loadCoreSync } from '../../src/index.ts'
import { committed } from '../kafka/manifest.js'
import { batch, hex, pattern } from '../support/batches.ts'
import { type CliResult, dump, main } from './cli.ts'
import { dataBatch } from './support.ts'

const LOG = '00000000000000000000.log'
let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'mirrorpid-dump-'))
  const mapped = Buffer.from(dataBatch(2))
  loadCoreSync().rewrite(mapped)
  const barrier = { leaderEpoch: 0, timestamp: 9n }
  place('orders-0', LOG, [
    dataBatch(0),
    mapped,
    batch({ baseOffset: 4n, producerId: -(2n ** 63n), recordsCount: 0 }),
    encodeMirrorPidReset({ ...barrier, baseOffset: 5n, sourceClusterId: 'source-1' }),
    encodeMirrorPidReset({ ...barrier, baseOffset: 6n, sourceClusterId: null }),
  ])
  const damaged = Buffer.from(dataBatch(2))
  damaged[90]! ^= 1
  place('damaged-0', LOG, [dataBatch(0), damaged, Buffer.alloc(30, 0xaa), dataBatch(4), Buffer.from('cut')])
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

function place(partition: string, name: string, parts: readonly Uint8Array[]): string {
  mkdirSync(join(directory, partition), { recursive: true })
  writeFileSync(join(directory, partition, name), Buffer.concat(parts))
  return join(partition, name)
}

const run = (...args: string[]): Promise<CliResult> => dump(args, directory)

describe('exit status', () => {
  it('2 for a path below a file, after what comes behind it', async () => {
    const { status, stdout, stderr } = await run(`orders-0/${LOG}/${LOG}`, 'orders-0')
    expect(status).toBe(2)
    expect(stdout).toContain('baseOffset: 6')
    expect(stderr).toContain('a part of the path is a file and no directory')
  })

  it('0 for a sound log', async () => {
    expect(await run('orders-0')).toMatchObject({ status: 0, stderr: '' })
  })

  it('1 for findings, which stderr tells', async () => {
    const { status, stdout, stderr } = await run('damaged-0')
    expect(status).toBe(1)
    expect(stdout.match(/isvalid: (true|false)/g)).toEqual([
      'isvalid: true',
      'isvalid: false',
      'isvalid: true',
    ])
    expect(stdout).toContain(`Found 3 invalid bytes at the end of ${LOG}\n`)
    const lines = stderr.split('\n')
    expect(lines[0]).toMatch(/^mirrorpid: damaged-0\/0+\.log: no batch can be read at byte 198: its size/)
    expect(lines[1]).toContain('3 bytes behind the last batch are none')
    expect(lines[2]).toBe(
      'mirrorpid: 3 findings: 1 with a wrong CRC, 1 where no batch can be read, 1 at the end of a file',
    )
  })

  it('1 for an index that does not fit, but not for what compaction leaves', async () => {
    const index = Buffer.alloc(8)
    index.writeInt32BE(3, 0)
    place('wrong-0', LOG, [dataBatch(0)])
    place('wrong-0', LOG.replace('.log', '.index'), [index])
    const wrong = await run('wrong-0')
    expect(wrong.status).toBe(1)
    expect(wrong.stderr).toContain(
      'Mismatches in :wrong-0/00000000000000000000.index\n  Index offset: 3, log offset: 1\n',
    )
    const compacted = await dump(['compacted-thrice-0/00000000000000000000.timeindex'], committed)
    expect(compacted.stderr).toContain('Found timestamp mismatch')
    expect(compacted.status).toBe(0)
  })

  it('1 for an index that points to where no batch is, or fails the sanity check', async () => {
    const index = Buffer.alloc(16)
    index.writeInt32BE(1, 0)
    index.writeInt32BE(-5, 4)
    index.writeInt32BE(3, 8)
    index.writeInt32BE(3, 12)
    place('astray-0', LOG, [dataBatch(0)])
    const path = place('astray-0', LOG.replace('.log', '.index'), [index])
    const { status, stdout, stderr } = await run(path)
    expect(status).toBe(1)
    expect(stdout).toContain('offset: 1 position: -5\noffset: 3 position: 3\n')
    expect(stderr).toContain('the entry for offset 3 points to byte 3, where no batch of the log is')
    place('astray-0', LOG.replace('.log', '.index'), [index.subarray(0, 13)])
    const insane = await run(path, '--index-sanity-check')
    expect(insane.status).toBe(1)
    expect(insane.stderr).toContain(
      `is corrupt, found 13 bytes which is neither positive nor a multiple of 8`,
    )
  })

  it('1 for a damaged snapshot or transaction index', async () => {
    const name = '00000000000000000009'
    const snapshot = place('companions-0', `${name}.snapshot`, [Buffer.from([0, 1, 1, 2, 3, 4, 0, 0, 0, 0])])
    expect(await run(snapshot)).toMatchObject({ status: 1, stdout: `Dumping ${snapshot}\n` })
    const entry = hex('000000000000000003e8000000000000000000000000000000020000000000000003')
    const bad = Buffer.concat([Buffer.from([0, 5]), entry.subarray(2)])
    const index = place('companions-0', `${name}.txnindex`, [entry, bad])
    const result = await run(index)
    expect(result.status).toBe(1)
    expect(result.stdout.split('\n')).toHaveLength(3)
    expect(result.stderr).toContain('entry of version 5, expected 0')
  })

  it('2 for a file that is not there, after the others', async () => {
    const { status, stdout, stderr } = await run('nowhere/x.log', join('orders-0', LOG))
    expect(status).toBe(2)
    expect(stdout).toMatch(/^Dumping nowhere\/x\.log\nDumping /)
    expect(stdout).toContain(`Dumping orders-0/${LOG}\n`)
    expect(stderr).toMatch(/^mirrorpid: nowhere\/x\.log: cannot open it: there is no such file/)
  })

  it('2 for an index without its log', async () => {
    const path = place('lonely-0', '00000000000000000000.index', [Buffer.alloc(8)])
    const { status, stderr } = await run(path)
    expect(status).toBe(2)
    expect(stderr).toContain('lonely-0/00000000000000000000.log: cannot open it: there is no such file')
  })

  it.each([
    [[], /give at least one path/],
    [['--files', ''], /give at least one path/],
    [['orders-0', '--max-bytes', '-1'], /--max-bytes.*whole number/],
    [['orders-0', '--max-bytes', '1e3'], /--max-bytes.*whole number/],
    [['orders-0', '--max-bytes', '2147483648'], /--max-bytes.*whole number/],
    [['orders-0', '--no-such-option'], /unknown option/],
    [
      ['orders-0', '--key-decoder-class', 'com.example.Mine'],
      /--key-decoder-class.*com\.example\.Mine.*StringDecoder/,
    ],
    // Kafka's tool takes no abbreviations either
    [['orders-0', '--print-data'], /unknown option '--print-data'/],
  ])('2 for %j', async (args, message) => {
    const { status, stdout, stderr } = await run(...args)
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(message)
  })
})

describe('paths', () => {
  it('a directory stands for its files, in the order of their names', async () => {
    const { stdout, stderr, status } = await dump(['transactions-0'], committed)
    expect(stdout.match(/^Dumping .*/gm)).toEqual([
      'Dumping transactions-0/00000000000000000000.index',
      'Dumping transactions-0/00000000000000000000.log',
      'Dumping transactions-0/00000000000000000000.timeindex',
      'Dumping transactions-0/00000000000000000000.txnindex',
      'Dumping transactions-0/00000000000000000031.snapshot',
    ])
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  })

  it('a log directory for its partitions', async () => {
    mkdirSync(join(directory, 'logs'), { recursive: true })
    for (const partition of ['plain-0', 'producers-0']) {
      mkdirSync(join(directory, 'logs', partition), { recursive: true })
      copyFileSync(join(committed, partition, LOG), join(directory, 'logs', partition, LOG))
    }
    const { stdout } = await run('logs')
    expect(stdout.match(/^Dumping .*/gm)).toEqual([
      `Dumping logs/plain-0/${LOG}`,
      `Dumping logs/producers-0/${LOG}`,
    ])
  })

  it('--files and plain paths together, links too', async () => {
    symlinkSync(join(directory, 'orders-0', LOG), join(directory, 'link.log'))
    const { stdout, stderr } = await run('link.log', '--files', `orders-0//${LOG},,./orders-0/${LOG}`)
    expect(stdout.match(/^Dumping .*/gm)).toEqual([
      `Dumping orders-0/${LOG}`,
      `Dumping ./orders-0/${LOG}`,
      'Dumping link.log',
    ])
    expect(stderr).toBe('mirrorpid: note: link.log: its name holds no offset\n')
  })

  it.skipIf(process.platform === 'win32')('a pipe is refused rather than waited for', async () => {
    execFileSync('mkfifo', [join(directory, 'pipe.log')])
    const { status, stderr } = await run('pipe.log')
    expect(status).toBe(2)
    expect(stderr).toContain('pipe.log: it is neither a file nor a directory')
  })

  it('a directory that is no log is a usage error', async () => {
    mkdirSync(join(directory, 'nothing'), { recursive: true })
    expect(await run('nothing')).toMatchObject({ status: 2, stdout: '' })
  })

  it('a path that is not there is an error, whatever its name', async () => {
    for (const path of ['gone', 'gone.log', 'gone.cleaned']) {
      const { status, stderr } = await run(path)
      expect([path, status]).toEqual([path, 2])
      expect(stderr).toContain(
        `${path}: cannot read it`.replace('read', path === 'gone.log' ? 'open' : 'read'),
      )
    }
  })

  it('what cannot be dumped is in the JSON document, beside the dumps of the others', async () => {
    place('one-0', LOG, [dataBatch(0)])
    mkdirSync(join(directory, 'nothing'), { recursive: true })
    const { status, stdout } = await run('--json', 'one-0', 'nothing', 'gone')
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({
      files: [{ path: `one-0/${LOG}`, batchCount: 1 }, { path: 'gone' }],
      errors: [{ code: 'NOT_A_LOG' }, { code: 'IO_ERROR', errno: 'ENOENT' }],
    })
  })

  it('a swapped-in file is dumped, another unknown one is named', async () => {
    place('swap-0', `${LOG}.swap`, [dataBatch(0)])
    writeFileSync(join(directory, 'swap-0', `${LOG}.cleaned`), '')
    const { stdout, stderr } = await run(`swap-0/${LOG}.swap`, `swap-0/${LOG}.cleaned`)
    expect(stdout).toContain('baseOffset: 0 lastOffset: 1')
    expect(stderr).toBe(`Ignoring unknown file swap-0/${LOG}.cleaned\n`)
  })

  it('a time index without its offset index', async () => {
    const time = Buffer.alloc(12)
    time.writeBigInt64BE(1700000000001n, 0)
    time.writeInt32BE(1, 8)
    place('half-0', LOG, [dataBatch(0)])
    const path = place('half-0', '00000000000000000000.timeindex', [time])
    const { status, stdout, stderr } = await run(path)
    expect(status).toBe(0)
    expect(stdout).toBe(`Dumping ${path}\ntimestamp: 1700000000001 offset: 1\n`)
    expect(stderr).toContain(
      'note: half-0/00000000000000000000.timeindex: there is no half-0/00000000000000000000.index',
    )
  })
})

describe('--explain', () => {
  it('names the source of mapped ids, and what barriers end', async () => {
    const { stdout } = await run('orders-0', '--explain')
    const ends = stdout.split('\n').map((line) => / isvalid: true(.*)$/.exec(line)?.[1])
    expect(ends.filter((end) => end !== undefined)).toEqual([
      '',
      ' sourceProducerId: 5',
      ' sourceProducerId: 9223372036854775806',
      ' barrier: the producers mirrored from cluster source-1 end here',
      ' barrier: the producers mirrored end here',
    ])
  })

  it('adds nothing to other logs', async () => {
    const plain = await dump([`transactions-0/${LOG}`, '--print-data-log'], committed)
    const explained = await dump([`transactions-0/${LOG}`, '--print-data-log', '--explain'], committed)
    expect(explained).toEqual(plain)
  })

  it('shows the bytes of unknown control records', async () => {
    const payload = Buffer.from('180000000800000009041fff00', 'hex')
    place('unknown-0', LOG, [batch({ attributes: 0x20, payload })])
    const plain = await run('unknown-0', '--deep-iteration')
    expect(plain.stdout).toMatch(/headerKeys: \[\] controlType: UNKNOWN\(9\)\n$/)
    const explained = await run('unknown-0', '--deep-iteration', '--explain')
    expect(explained.stdout).toMatch(/ controlType: UNKNOWN\(9\) key: 0x00000009 value: 0x1fff\n$/)
    expect(explained.status).toBe(0)
  })
})

describe('--json', () => {
  it('is one document with what the lines say', async () => {
    const { stdout, status, stderr } = await run(
      'orders-0',
      'damaged-0',
      '--json',
      '--print-data-log',
      '--explain',
    )
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
    const { files, findingCount, errors } = JSON.parse(stdout)
    expect(errors).toEqual([])
    expect(findingCount).toBe(3)
    expect(files).toHaveLength(2)
    const [orders, damaged] = files
    expect(orders).toMatchObject({
      path: `orders-0/${LOG}`,
      kind: 'log',
      baseOffset: '0',
      batchCount: 5,
      trailingBytes: 0,
      findings: [],
      findingCount: 0,
    })
    expect(orders.batches[0]).toEqual({
      baseOffset: '0',
      lastOffset: '1',
      count: 2,
      baseSequence: 0,
      lastSequence: 1,
      producerId: '5',
      producerEpoch: 0,
      partitionLeaderEpoch: 0,
      isTransactional: false,
      isControl: false,
      deleteHorizonMs: null,
      position: 0,
      timestampType: 'CreateTime',
      maxTimestamp: '1700000000001',
      size: 99,
      magic: 2,
      compresscodec: 'none',
      crc: expect.any(Number),
      isvalid: true,
      records: [
        {
          offset: '0',
          timestamp: '1700000000000',
          keySize: 2,
          valueSize: 10,
          sequence: 0,
          headerKeys: [],
          key: 'k0',
          value: 'some value',
        },
        expect.objectContaining({ offset: '1', key: 'k1' }),
      ],
    })
    expect(orders.batches[1].sourceProducerId).toBe('5')
    expect(orders.batches[3]).toMatchObject({
      barrier: { sourceClusterId: 'source-1' },
      records: [{ control: { type: 7, name: 'MIRROR_PID_RESET', version: 0, sourceClusterId: 'source-1' } }],
    })
    expect(orders.batches[4].records[0].control).toEqual({ type: 7, name: 'MIRROR_PID_RESET', version: 0 })
    expect(damaged.findings.map((finding: { kind: string }) => finding.kind)).toEqual([
      'crc',
      'unreadable',
      'trailing',
    ])
    expect(damaged).toMatchObject({ trailingBytes: 3, batchCount: 3, findingCount: 3 })
  })

  it('keeps every digit, and bytes that are no text', async () => {
    const payload = Buffer.from('1600000004ff00060000ff00', 'hex')
    place('binary-0', LOG, [batch({ baseOffset: 2n ** 63n - 1n, payload, maxTimestamp: -(2n ** 63n) })])
    const { files } = JSON.parse((await run('binary-0', '--json', '--print-data-log')).stdout)
    expect(files[0].batches[0]).toMatchObject({
      baseOffset: '9223372036854775807',
      maxTimestamp: '-9223372036854775808',
      records: [{ keyBase64: '/wA=', valueBase64: 'AAD/' }],
    })
    expect(files[0].nonConsecutiveOffsets).toEqual([{ offset: '-1', next: '9223372036854775807' }])
  })

  it('has the entries of all kinds of files', async () => {
    const { files } = JSON.parse((await dump(['transactions-0', '--json'], committed)).stdout)
    expect(files.map((file: { kind: string }) => file.kind)).toEqual([
      'index',
      'log',
      'timeindex',
      'txnindex',
      'snapshot',
    ])
    expect(files[0].entries[0]).toEqual({ offset: '6', position: 216 })
    expect(files[1].batches.length).toBeGreaterThan(10)
    expect(files[1].batches[0].records).toBeUndefined()
    expect(files[3].entries[0]).toEqual({
      version: 0,
      producerId: '1009',
      firstOffset: '5',
      lastOffset: '8',
      lastStableOffset: '0',
    })
    expect(files[4].entries[2]).toMatchObject({
      producerId: '1010',
      currentTxnFirstOffset: '22',
      lastBatch: { lastOffset: '30' },
    })
  })

  it('has errors of the system, and mismatches', async () => {
    const { files, errors } = JSON.parse((await run('nowhere.log', 'wrong-0', '--json')).stdout)
    expect(errors).toMatchObject([{ code: 'IO_ERROR', file: 'nowhere.log', errno: 'ENOENT' }])
    expect(files[1]).toMatchObject({ mismatches: [{ indexOffset: '3', logOffset: '1' }], findingCount: 1 })
  })

  it('with --quiet has no batches and entries', async () => {
    const { files } = JSON.parse(
      (await run('damaged-0', 'wrong-0', '--json', '--quiet', '--print-data-log')).stdout,
    )
    for (const file of files)
      expect(Object.keys(file)).not.toEqual(expect.arrayContaining(['batches', 'entries']))
    expect(files[0]).toMatchObject({ batchCount: 3, findingCount: 3 })
  })
})

describe('--quiet', () => {
  it('prints findings only, those of CRCs too', async () => {
    const { stdout, stderr, status } = await run('orders-0', 'damaged-0', '--quiet', '--deep-iteration')
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 })
    expect(stderr.split('\n')).toHaveLength(5)
    expect(stderr).toMatch(/batch at byte 99 \(base offset 2\) is damaged: stored CRC/)
    expect(await run('orders-0', '--quiet')).toEqual({ stdout: '', stderr: '', status: 0 })
  })
})

describe('control records that cannot be read', () => {
  // D-23
  const control = (key: string | null, value: string | null, attributes = 0x20) => {
    const part = (text: string | null) => {
      if (text === null) return Buffer.from([1])
      const bytes = hex(text)
      return Buffer.concat([Buffer.from([bytes.length * 2]), bytes])
    }
    const body = Buffer.concat([Buffer.from([0, 0, 0]), part(key), part(value), Buffer.from([0])])
    return batch({ attributes, payload: Buffer.concat([Buffer.from([body.length * 2]), body]) })
  }

  it.each([
    ['a key of two bytes', control('0000', '0001'), ' controlType: UNKNOWN key: 0x0000 value: 0x0001', 1],
    ['no key', control(null, '00'), ' controlType: UNKNOWN key: null value: 0x00', 1],
    ['an empty marker', control('00000000', '', 0x30), ' controlType: ABORT(0) key: 0x00000000 value: 0x', 1],
    [
      'a marker without value',
      control('00000001', null, 0x30),
      ' controlType: COMMIT(1) key: 0x00000001 value: null',
      1,
    ],
    [
      'a barrier with more behind',
      control('00000007', '00000000ff'),
      ' controlType: MIRROR_PID_RESET(7) key: 0x00000007 value: 0x00000000ff',
      1,
    ],
    [
      'a long marker',
      control('00000000', '00000000000501020304', 0x30),
      ' endTxnMarker: ABORT coordinatorEpoch: 5',
      0,
    ],
    [
      'a key of version 1',
      control('00010001', '000000000005', 0x30),
      ' endTxnMarker: COMMIT coordinatorEpoch: 5',
      0,
    ],
    ['an unknown type', control('00000009', '01'), ' controlType: UNKNOWN(9)', 0],
    ['a short barrier', control('00000007', '000000'), ' MirrorPidReset {"version":0}', 0],
    [
      'a barrier with unknown fields',
      control('00000007', '0000056161616101000161'),
      ' MirrorPidReset {"version":0,"sourceClusterId":"aaaa"}',
      0,
    ],
  ])('%s', async (name, bytes, suffix, status) => {
    const path = place(`control-0/${name.replaceAll(' ', '-')}`, LOG, [bytes, dataBatch(1)])
    const result = await run(path, '--deep-iteration')
    expect(result.stdout.split('\n')[3]).toMatch(/headerKeys: \[\] /)
    expect(result.stdout.split('\n')[3]!.split('headerKeys: []')[1]).toBe(suffix)
    // the batch behind it
    expect(result.stdout).toContain('| offset: 2 ')
    expect(result.status).toBe(status)
    if (status === 1) expect(result.stderr).toContain('control record at offset 0:')
    const json = JSON.parse((await run(path, '--deep-iteration', '--json')).stdout)
    const { control } = json.files[0].batches[0].records[0]
    if (status === 1) expect(control.fault).toEqual(expect.any(String))
    else expect(control.name).toEqual(expect.any(String))
  })
})

describe('compressed batches', () => {
  it('of all codecs, and of none that there is', async () => {
    const { stdout, status } = await dump(
      ['gzip', 'snappy', 'lz4', 'zstd'].flatMap((codec) => [
        `idempotent-${codec}-0/${LOG}`,
        '--print-data-log',
      ]),
      committed,
    )
    expect(status).toBe(0)
    expect(stdout.match(/^\| offset: .* payload: /gm)!.length).toBeGreaterThan(80)
    place('codec-0', LOG, [batch({ attributes: 7, payload: pattern(40) }), dataBatch(1)])
    const undefinedCodec = await run('codec-0', '--deep-iteration')
    expect(undefinedCodec.status).toBe(1)
    expect(undefinedCodec.stdout).toContain(' compresscodec: undefined(7) ')
    expect(undefinedCodec.stdout).toContain('| offset: 2 ')
    expect(undefinedCodec.stderr).toContain('the compression codec has number 7; only 0 to 4 are defined')
  })
})

describe('a reader that goes away', () => {
  it('ends the dump early and quietly', async () => {
    const parts = Array.from({ length: 30_000 }, (_, index) => dataBatch(index * 2))
    const path = place('long-0', LOG, parts)
    const began = performance.now()
    const result = await new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
      const command = `"${process.execPath}" "${main}" dump ${path} --print-data-log; echo "status $?" >&2`
      execFile('sh', ['-c', `{ ${command}; } | head -1`], { cwd: directory }, (error, stdout, stderr) =>
        error ? reject(error) : resolve({ stdout, stderr }),
      )
    })
    expect(result.stdout).toBe(`Dumping ${path}\n`)
    expect(result.stderr).toBe('status 0\n')
    expect(performance.now() - began).toBeLessThan(15_000)
  })

  it.skipIf(process.platform !== 'linux')('a full disk is an error, told once', async () => {
    const command = `"${process.execPath}" "${main}" dump orders-0 > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: directory, encoding: 'utf8' })
    expect(status).toBe(2)
    expect(stderr).toBe('mirrorpid: cannot write the output: ENOSPC: no space left on device, write\n')
  })

  it('a slow one gets it all', async () => {
    const path = place(
      'slow-0',
      LOG,
      Array.from({ length: 3000 }, (_, index) => dataBatch(index * 2)),
    )
    const child = spawn(process.execPath, [main, 'dump', path, '--print-data-log'], { cwd: directory })
    const chunks: Buffer[] = []
    for await (const chunk of child.stdout) {
      chunks.push(chunk as Buffer)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(Buffer.concat(chunks).toString()).toBe((await run(path, '--print-data-log')).stdout)
  })
})

describe('values', () => {
  it('shown by other decoders: bytes too few for a number are a finding, and shown as bytes', async () => {
    const payload = Buffer.from('1600000004ff00060000ff00', 'hex')
    place('decoders-0', LOG, [batch({ payload })])
    const decoder = 'org.apache.kafka.tools.api.'
    const long = await run('decoders-0', '--key-decoder-class', `${decoder}LongDecoder`)
    expect(long.stdout).toMatch(/ key: 0xff00 payload: \0\0\ufffd\n/)
    expect(long.stderr).toContain('record at offset 0: its key has 2 bytes, too few for long')
    expect(long.status).toBe(1)
    const bytes = await run('decoders-0', '--value-decoder-class', 'kafka.serializer.DefaultDecoder')
    expect(bytes.stdout).toMatch(/ payload: 0x0000ff\n/)
    expect(bytes.status).toBe(0)
  })

  it('larger than the pieces in which text is written', async () => {
    const value = pattern(900_000).toString('base64')
    place('large-0', LOG, [dataBatch(0, 2, {}, value)])
    const { stdout } = await run('large-0', '--print-data-log')
    expect(stdout.split('\n').filter((line) => line.endsWith(` payload: ${value}`))).toHaveLength(2)
    const { files } = JSON.parse((await run('large-0', '--print-data-log', '--json')).stdout)
    expect(files[0].batches[0].records[1].value).toBe(value)
  })
})
