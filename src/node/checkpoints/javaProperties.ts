import { CorruptCheckpointError } from '../../log/partition/logErrors.ts'

/**
 * Reads a file of Java's `Properties`, in ISO 8859-1: `key=value`, `key: value` or `key value` a line, with escapes, comments
 * (`#`, `!`) and lines that go on behind a backslash. As there, the last of two with one key counts, and white space at the
 * end of a value belongs to it.
 *
 * @throws CorruptCheckpointError for what Java refuses: `\u` without four hexadecimal digits
 * @see java.util.Properties.load
 */
export function decodeProperties(content: Uint8Array, file: string): Map<string, string> {
  const properties = new Map<string, string>()
  for (const line of linesOf(Buffer.from(content).toString('latin1'))) {
    const match = /^((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)$/s.exec(line)
    if (match !== null) properties.set(unescaped(match[1]!, file), unescaped(match[2]!, file))
  }
  return properties
}

function* linesOf(text: string): Generator<string> {
  let line = ''
  let goesOn = false
  for (const part of text.split(/\r\n|\r|\n/)) {
    const trimmed = part.replace(/^[ \t\f]+/, '')
    if (!goesOn && /^[#!]/.test(trimmed)) continue
    line += trimmed
    // an odd number of backslashes: the last one escapes the line's end
    goesOn = /(^|[^\\])(\\\\)*\\$/.test(trimmed)
    if (goesOn) {
      line = line.slice(0, -1)
      continue
    }
    if (line !== '') yield line
    line = ''
  }
  if (line !== '') yield line
}

const NAMED: Record<string, string> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function unescaped(text: string, file: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, other: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    if (other === 'u') throw new CorruptCheckpointError(file, '"\\u" stands without four hexadecimal digits')
    return NAMED[other] ?? other
  })
}
