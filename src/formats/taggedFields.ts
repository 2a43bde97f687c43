import type { ByteReader } from '../bytes/byteReader.ts'
import type { ByteWriter } from '../bytes/byteWriter.ts'

/** A field that this version of a flexible schema does not know; kept as it is. */
export interface TaggedField {
  tag: number
  value: Uint8Array
}

/** The tagged-field section that ends every struct of a flexible schema (KIP-482). */
export function readTaggedFields(reader: ByteReader): TaggedField[] {
  const fields: TaggedField[] = []
  // each field takes at least two bytes, so a false count meets the end of the bytes soon
  for (let left = reader.unsignedVarint(); left > 0; left--) {
    const tag = reader.unsignedVarint()
    fields.push({ tag, value: reader.slice(reader.unsignedVarint()) })
  }
  return fields
}

export function writeTaggedFields(writer: ByteWriter, fields: readonly TaggedField[]): void {
  writer.unsignedVarint(fields.length)
  for (const { tag, value } of fields) writer.unsignedVarint(tag).unsignedVarint(value.length).bytes(value)
}
