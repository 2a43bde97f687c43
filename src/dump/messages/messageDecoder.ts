import type { DecodedMessage } from '../dumpFormat.ts'

/** Shows the records of one of Kafka's own topics as JSON. */
export interface MessageDecoder {
  /** @returns null where the record is none of the topic's: it has no key */
  decode(key: Uint8Array | null, value: Uint8Array | null, offset: bigint): DecodedMessage | null
}
