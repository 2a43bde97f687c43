import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLeaderEpochs } from '../../src/log/partition/leaderEpochs.ts'
import { CorruptCheckpointError } from '../../src/log/partition/logErrors.ts'
import { decodeOffsetCheckpoint } from '../../src/node/checkpoints/checkpoints.ts'
import { decodeProperties } from '../../src/node/checkpoints/javaProperties.ts'
import { decodeMetaProperties, decodePartitionMetadata } from '../../src/node/checkpoints/metadataFiles.ts'
import { type SmallFile, smallFiles } from './judge.js'

// The small files of a broker, as it would never write them: what we read in one is what a broker reads, or we refuse it.

const FILES = 3000
const SEED = 39

const weighted = (usual: string, ...odd: string[]) =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) })
/** Line ends are of one kind in most files, and mixed in the others. */
const ends = fc.constantFrom('\n', '\r\n', '\r', '\n\r', '\n\n', '\u2028', '\u0085', '\v', '')
const ofLines = (lines: fc.Arbitrary<string[]>) =>
  fc
    .record({
      lines,
      end: fc.constantFrom('\n', '\r\n', '\r'),
      mixed: fc.option(fc.array(ends, { minLength: 1, maxLength: 4 }), { freq: 5 }),
      first: weighted('', '\ufeff', ' ', '\n'),
      last: weighted('', '\n', '\r', ' ', '\0', '0', 'x', '\ufffd'),
      hasEnd: fc.boolean(),
    })
    .map(({ lines, end, mixed, first, last, hasEnd }) => {
      const parts = lines.map((line, at) => line + (mixed === null ? end : mixed[at % mixed.length]!))
      const text = first + parts.join('') + last
      return hasEnd ? text : text.replace(/(\r\n|\r|\n)$/, '')
    })
const space = weighted(' ', '\t', '  ', ' \t', '\f', '\v', '\u00a0', '\u2003', '')
const edge = weighted('', ' ', '\t', '\u00a0')
const number = (text: fc.Arbitrary<string>) =>
  fc
    .record({ sign: weighted('', '+', '-', '+-'), zeros: weighted('', '0', '000', '_'), text })
    .map(({ sign, zeros, text }) => sign + zeros + text)
const small = number(
  fc.oneof(
    { weight: 40, arbitrary: fc.nat(9).map(String) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('2147483647', '2147483648', '\u0663', '\uff15', 'x', '1.0', '0x1'),
    },
  ),
)
const large = number(
  fc.oneof(
    { weight: 40, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String) },
    { weight: 1, arbitrary: fc.constantFrom(`${2n ** 63n}`, `${2n ** 63n - 1n}`, '\u0663', '', '1e3', '5L') },
  ),
)
const joined = (...fields: fc.Arbitrary<string>[]) =>
  fc
    .tuple(edge, fc.tuple(...fields), fc.array(space, { minLength: 3, maxLength: 3 }), edge)
    .map(([before, values, spaces, behind]) => {
      return before + values.map((value, at) => (at === 0 ? value : spaces[at]! + value)).join('') + behind
    })
const checkpoint = (entry: fc.Arbitrary<string>) =>
  ofLines(
    fc
      .record({
        version: weighted('0', '00', '+0', '-0', '1', '', ' 0', '0 ', '\u0660'),
        entries: fc.array(entry, { maxLength: 5 }),
        count: weighted('', '+', '0', '-', ' ', '1'),
        behind: weighted('', ' '),
        cut: weighted('', '0', '1', '2'),
      })
      .map(({ version, entries, count, behind, cut }) => {
        const lines = [version, `${count}${entries.length}${behind}`, ...entries]
        return cut === '' ? lines : lines.slice(0, Number(cut))
      }),
  )
const topic = weighted('orders', 'a-1', '\u00fcber', '1', 'a:b')
const property = fc
  .record({
    before: weighted('', ' ', '\t', '\f', '\v', '#', '!', '\\'),
    key: fc.constantFrom('cluster.id', 'cluster.id', 'node.id', 'a', 'cluster\\u002eid', 'cl\\uster.id', ''),
    around: fc.tuple(edge, weighted('=', ':', ' ', '==', ' = ', '\\=', '\f', '\v'), edge),
    value: fc.constantFrom(
      'B',
      'B ',
      'A\t',
      '7',
      '',
      '\\t',
      '\\u0041',
      '\\u00',
      'B\\',
      '\u00fc',
      '\\#',
      'a=b',
    ),
  })
  .map(({ before, key, around, value }) => before + key + around.join('') + value)
const properties = ofLines(
  fc
    .tuple(
      fc.array(property, { maxLength: 4 }),
      weighted('version=1', 'version=0', '', 'version = +01', 'version=2'),
    )
    .map(([lines, version]) => [version, 'node.id=1', ...lines]),
)
const metadata = ofLines(
  fc
    .tuple(
      fc.tuple(weighted('version', 'x', ''), weighted(': ', ':', ' : ', ':\t', '::  '), small),
      fc.tuple(
        weighted('topic_id', 'id'),
        weighted(': ', ':', ':\u00a0'),
        weighted('WqPs1ukdSyyDjBYhcqZg8w', 'AAAAAAAAAAAAAAAAAAAAAA', 'WqPs1ukdSyyDjBYhcqZg8w==', 'x', 'a: b'),
        edge,
      ),
      weighted('', 'more: 1'),
    )
    .map(([version, id, more]) => [version.join(''), id.join(''), ...(more === '' ? [] : [more])]),
)

type Values = (string | null)[]
interface Kind {
  kind: SmallFile['kind']
  content: fc.Arbitrary<string>
  read(content: Uint8Array): Values
  /** Whether we may refuse what a broker reads so. */
  mayRefuse(text: string, values: Values): boolean
}
const isOddNumber = (text: string) => /-\d|[\u0660-\u0669\uff10-\uff19]/.test(text)
const lineCount = (text: string) => text.split(/\r\n|\r|\n/).filter((line) => line !== '').length
const sorted = (values: string[]) => values.sort()
const KINDS: Kind[] = [
  {
    kind: 'offsets',
    content: checkpoint(joined(topic, small, large)),
    read: (content) =>
      sorted([...decodeOffsetCheckpoint(content, 'f')].map(([key, offset]) => `${key} ${offset}`)),
    mayRefuse: (text) => isOddNumber(text) || lineCount(text) < 2,
  },
  {
    kind: 'epochs',
    content: checkpoint(joined(small, large)),
    read: (content) =>
      decodeLeaderEpochs(content, 'f').map(({ epoch, startOffset }) => `${epoch} ${startOffset}`),
    mayRefuse: (text) => isOddNumber(text) || lineCount(text) < 2,
  },
  {
    kind: 'partition',
    content: metadata,
    read: (content) => [decodePartitionMetadata(content, 'f')],
    mayRefuse: (text) => isOddNumber(text) || /==/.test(text),
  },
  {
    kind: 'meta',
    content: properties,
    read: (content) => [decodeMetaProperties(content, 'f').clusterId],
    mayRefuse: (text) => !decodeProperties(Buffer.from(text, 'latin1'), 'f').has('version'),
  },
  {
    kind: 'properties',
    content: properties,
    read: (content) => sorted([...decodeProperties(content, 'f')].map(([key, value]) => `${key}\0${value}`)),
    mayRefuse: () => false,
  },
]

describe.each(KINDS)('$kind', ({ kind, content, read, mayRefuse }) => {
  it('is read as a broker reads it, or refused', async () => {
    const texts = fc.sample(content, { seed: SEED, numRuns: FILES })
    // Java's properties are in ISO 8859-1
    const contents = texts.map((text) => Buffer.from(text, kind === 'meta' ? 'latin1' : 'utf8'))
    contents.push(Buffer.from([0x30, 0x0a, 0x31, 0x0a, 0xff]), Buffer.alloc(0), Buffer.alloc(40))
    const answers = await smallFiles(contents.map((content) => ({ kind, content })))
    const counts = { same: 0, both: 0, stricter: 0 }
    for (const [at, kafka] of answers.entries()) {
      const ours = attempt(() => read(contents[at]!))
      const text = contents[at]!.toString('latin1')
      if (ours === null) {
        if ('error' in kafka) counts.both++
        else counts.stricter++
        if (!('error' in kafka)) expect(mayRefuse(texts[at] ?? '', kafka), JSON.stringify(text)).toBe(true)
      } else {
        counts.same++
        // the ids of node and directory are not ours to judge
        if (kind === 'meta' && 'error' in kafka && /node\.id/.test(kafka.error)) continue
        expect('error' in kafka ? kafka : kafka.sort(), JSON.stringify(text)).toEqual(ours)
      }
    }
    expect(counts.same).toBeGreaterThan(FILES / 6)
    if (kind !== 'properties') expect(counts.both).toBeGreaterThan(FILES / 20)
  })
})

function attempt(read: () => Values): Values | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof CorruptCheckpointError) return null
    throw error
  }
}
