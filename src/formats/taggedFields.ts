import type { ByteReader } from '../bytes/byteReader.ts'
import type { ByteWriter } from '../bytes/byteWriter.ts'
import { bytesOf } from '../bytes/view.ts'
import { type OptionKinds, requireOptions } from '../core/arguments.ts'
import { InvalidArgumentError } from '../errors.ts'

/** A field that this version of a flexible schema does not know; kept as it is. */
export interface TaggedField {
  tag: number
  value: Uint8Array
}

const FIELD: OptionKinds<TaggedField> = { tag: 'any', value: 'any' }

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
  for (const field of fields) {
    const { tag, value } = requireOptions('a tagged field', field, FIELD)
    if (!Number.isInteger(tag) || tag < 0 || tag > 0xffffffff) {
      throw new InvalidArgumentError(
        `the tag of a field must be an unsigned 32-bit number; got ${String(tag)}`,
      )
    }
    const bytes = bytesOf(value, 'the value of a tagged field')
    writer.unsignedVarint(tag).unsignedVarint(bytes.length).bytes(bytes)
  }
}
