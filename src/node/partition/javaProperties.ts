/**
 * Reads a file of Java's `Properties`: `key=value`, `key: value` or `key value` a line, with escapes, comments (`#`, `!`) and
 * lines that go on behind a backslash. As there, the last of two with one key counts; white space at the end of a value, which
 * Java keeps, is dropped.
 *
 * @see java.util.Properties.load
 */
export function decodeProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>()
  for (const line of linesOf(text)) {
    const match = /^((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)$/s.exec(line)
    if (match !== null) properties.set(unescaped(match[1]!), unescaped(match[2]!).trimEnd())
  }
  return properties
}

function* linesOf(text: string): Generator<string> {
  let line = ''
  for (const part of text.split(/\r\n|\r|\n/)) {
    const trimmed = part.trimStart()
    if (line === '' && /^[#!]/.test(trimmed)) continue
    line += trimmed
    // an odd number of backslashes: the last one escapes the line's end
    if (/(^|[^\\])(\\\\)*\\$/.test(trimmed)) {
      line = line.slice(0, -1)
      continue
    }
    if (line !== '') yield line
    line = ''
  }
  if (line !== '') yield line
}

const NAMED: Record<string, string> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, other: string) =>
    code === undefined ? (NAMED[other] ?? other) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
