import type { TextBuffer } from './textBuffer.ts'

/** Bytes with a view of them. */
export interface ViewedBytes {
  readonly bytes: Uint8Array
  readonly view: DataView
}

export function viewed(bytes: Uint8Array): ViewedBytes {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) }
}

const NO_ASCII = 0x80808080

/**
 * Bytes as Java's `new String(bytes, UTF_8)` takes them, written as UTF-8 again: so valid text stays as it is, byte for
 * byte, a byte order mark too, and what is none becomes U+FFFD. Java parts with the web's decoders on encoded
 * surrogates: three bytes make one U+FFFD there.
 */
export function writeJavaUtf8(out: TextBuffer, source: ViewedBytes, start: number, length: number): void {
  const at = out.reserve(length)
  const from = start + copyAscii(out, source, start, length, at)
  const end = start + length
  if (from === end) return
  out.length = at + from - start
  writeOther(out, source.bytes, from, end)
}

/** Copies the ASCII at the start, eight bytes at a time; returns how many bytes it was. */
function copyAscii(out: TextBuffer, source: ViewedBytes, start: number, length: number, at: number): number {
  const { bytes, view } = source
  const { bytes: target, view: targetView } = out
  let done = 0
  for (; done + 8 <= length; done += 8) {
    const first = view.getInt32(start + done)
    const second = view.getInt32(start + done + 4)
    if ((first | second) & NO_ASCII) break
    targetView.setInt32(at + done, first)
    targetView.setInt32(at + done + 4, second)
  }
  for (; done < length; done++) {
    const byte = bytes[start + done]!
    if (byte >= 0x80) break
    target[at + done] = byte
  }
  return done
}

function writeOther(out: TextBuffer, source: Uint8Array, start: number, end: number): void {
  // U+FFFD takes three bytes where one was wrong
  let at = out.reserve((end - start) * 3)
  let from = start
  while (from < end) {
    const byte = source[from]!
    if (byte < 0x80) {
      out.bytes[at++] = byte
      from++
      continue
    }
    const wanted = sequenceLength(byte)
    const found = wanted === 0 ? 1 : validLength(source, from, end, wanted)
    if (found === wanted && !isSurrogate(source, from)) {
      for (let index = 0; index < found; index++) out.bytes[at++] = source[from + index]!
    } else {
      out.bytes[at++] = 0xef
      out.bytes[at++] = 0xbf
      out.bytes[at++] = 0xbd
    }
    from += found
  }
  out.length = at
}

/** What a first byte announces; 0 for one that begins nothing. */
function sequenceLength(first: number): number {
  if (first >= 0xc2 && first <= 0xdf) return 2
  if (first >= 0xe0 && first <= 0xef) return 3
  if (first >= 0xf0 && first <= 0xf4) return 4
  return 0
}

/** How many bytes of a sequence are as they should be: those together are one mistake where it breaks off. */
function validLength(source: Uint8Array, from: number, end: number, wanted: number): number {
  const first = source[from]!
  for (let index = 1; index < wanted; index++) {
    if (from + index === end) return index
    const byte = source[from + index]!
    if ((byte & 0xc0) !== 0x80) return index
    if (index > 1) continue
    // over-long forms, and what lies beyond U+10FFFF
    if (first === 0xe0 && byte < 0xa0) return 1
    if (first === 0xf0 && byte < 0x90) return 1
    if (first === 0xf4 && byte > 0x8f) return 1
  }
  return wanted
}

function isSurrogate(source: Uint8Array, from: number): boolean {
  return source[from] === 0xed && source[from + 1]! >= 0xa0
}
