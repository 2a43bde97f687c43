import { type ViewedBytes, writeJavaUtf8 } from './javaUtf8.ts'
import { encoded, type TextBuffer } from './textBuffer.ts'

/** How keys and values are shown: Kafka's decoder classes, by what they make of bytes. */
export type FieldDecoder = 'string' | 'integer' | 'long' | 'bytes'

const DECODERS: Record<string, FieldDecoder> = {
  StringDecoder: 'string',
  IntegerDecoder: 'integer',
  LongDecoder: 'long',
  DefaultDecoder: 'bytes',
}
// of Kafka 3.5 and newer, and of those before
const PACKAGES = ['org.apache.kafka.tools.api.', 'kafka.serializer.']

/** The names that `fieldDecoderOf` knows. */
export const DECODER_CLASSES = Object.keys(DECODERS).map((name) => `${PACKAGES[0]}${name}`)

/** The decoder of a class name; null for one that is not Kafka's own. */
export function fieldDecoderOf(className: string): FieldDecoder | null {
  const prefix = PACKAGES.find((name) => className.startsWith(name))
  if (prefix === undefined) return null
  const name = className.slice(prefix.length)
  return Object.hasOwn(DECODERS, name) ? DECODERS[name]! : null
}

const HEX_MARK = encoded('0x')
const HEX_DIGITS = encoded('0123456789abcdef')

/** The bytes that a number takes; 0 for what is no number. */
export function numberSize(decoder: FieldDecoder): number {
  if (decoder === 'integer') return 4
  return decoder === 'long' ? 8 : 0
}

/** Writes a field as its decoder shows it: numbers too short for their type as bytes, and bytes in hexadecimal. */
export function writeField(
  out: TextBuffer,
  decoder: FieldDecoder,
  source: ViewedBytes,
  start: number,
  length: number,
): void {
  if (decoder === 'string') writeJavaUtf8(out, source, start, length)
  else if (decoder === 'bytes' || length < numberSize(decoder)) writeHex(out, source.bytes, start, length)
  else out.bigint(numberAt(source.bytes, start, numberSize(decoder)))
}

/** A big-endian signed number. */
export function numberAt(bytes: Uint8Array, start: number, size: number): bigint {
  let value = 0n
  for (let index = 0; index < size; index++) value = (value << 8n) | BigInt(bytes[start + index]!)
  return BigInt.asIntN(size * 8, value)
}

function writeHex(out: TextBuffer, bytes: Uint8Array, start: number, length: number): void {
  out.text(HEX_MARK)
  let at = out.reserve(length * 2)
  for (let index = start; index < start + length; index++) {
    const byte = bytes[index]!
    out.bytes[at++] = HEX_DIGITS[byte >>> 4]!
    out.bytes[at++] = HEX_DIGITS[byte & 15]!
  }
}
