import { CorruptCheckpointError } from './logErrors.ts'

/** All of them have it. */
const VERSION = 0
/** What Java's `\s` stands for; JavaScript's knows more of it. */
const WHITE_SPACE = /[ \t\v\f]+/

/**
 * Reads a checkpoint of a broker: a version, a count, and a line each for so many entries. Lines, fields and numbers are
 * told as Kafka tells them, so that CR, LF and CR LF end a line. In one thing this is stricter: where Kafka takes a file
 * without a count for one that holds nothing, this refuses it. What is there and cannot be read does not mean that nothing
 * is known.
 *
 * @param form of a line, such as `<epoch> <start offset>`: as many fields as it has words in angle brackets
 * @param entryOf makes an entry of them, or null where they are none
 * @throws CorruptCheckpointError naming the line
 * @see Kafka's CheckpointFile.CheckpointReadBuffer
 * @example
 * decodeCheckpointFile('0\n1\n42\n', 'log-start-offset-checkpoint', '<offset>', ([offset]) => parseInt64(offset!)) // [42n]
 */
export function decodeCheckpointFile<T>(
  content: Uint8Array | string,
  file: string,
  form: string,
  entryOf: (fields: readonly string[]) => T | null,
): T[] {
  const [version, count, ...rest] = linesOf(content, file)
  const fault = (what: string, line: number) => new CorruptCheckpointError(file, what, line)
  if (version === undefined) throw fault('it is empty', 1)
  if (parseInt32(version) !== VERSION) {
    throw fault(`it begins with ${quoted(version)}, and not with the version, ${VERSION}`, 1)
  }
  if (count === undefined) throw fault('it ends before the number of its entries', 2)
  const entries = rest.map((line, index) => {
    const fields = fieldsOf(line)
    const entry = fields.length === form.split(/> </).length ? entryOf(fields) : null
    if (entry === null) throw fault(`${quoted(line)} is not "${form}"`, index + 3)
    return entry
  })
  if (parseInt32(count) !== entries.length) {
    throw fault(`it has ${entries.length} entries, and claims ${quoted(count)}`, 2)
  }
  return entries
}

/**
 * The lines of a text, as Java's `BufferedReader.readLine` gives them.
 * @throws CorruptCheckpointError where it is no UTF-8
 */
export function linesOf(content: Uint8Array | string, file: string): string[] {
  const lines = (typeof content === 'string' ? content : decoded(content, file)).split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function decoded(content: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    throw new CorruptCheckpointError(file, 'it is no text in UTF-8')
  }
}

/** As Java's `split("\\s+")`: white space before the first field makes an empty one, and behind the last none. */
function fieldsOf(line: string): string[] {
  const fields = line.split(WHITE_SPACE)
  if (fields.at(-1) === '') fields.pop()
  return fields
}

/** As Java's `Integer.parseInt`, for ASCII digits alone; null for what is no number, or none of 32 bits. */
export function parseInt32(text: string): number | null {
  const value = parseInt64(text)
  return value === null || BigInt.asIntN(32, value) !== value ? null : Number(value)
}

/** As Java's `Long.parseLong`, for ASCII digits alone; null for what is no number, or none of 64 bits. */
export function parseInt64(text: string): bigint | null {
  const [, sign, digits] = /^([+-]?)0*([0-9]{1,19})$/.exec(text) ?? []
  if (digits === undefined) return null
  const value = BigInt(`${sign === '-' ? '-' : ''}${digits}`)
  return BigInt.asIntN(64, value) === value ? value : null
}

/** A line as a message shows it. */
export function quoted(line: string): string {
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}...` : line)
}
