import type { CodecOf } from '../formats/compression/codec.ts'
import type { FieldDecoder } from './fieldDecoders.ts'
import type { MessageDecoder } from './messages/messageDecoder.ts'

/** What a dump shows. The names follow the options of Kafka's tool. */
export interface DumpOptions {
  /** Prints records too. */
  isDeep: boolean
  /** Prints keys and values. */
  printsData: boolean
  skipsRecordMetadata: boolean
  /** Of indexes, prints what is wrong only. */
  verifiesIndexOnly: boolean
  /** Of indexes, makes Kafka's sanity check only. */
  checksIndexSanity: boolean
  /** Reads so much of a log, and no batch that goes beyond. */
  maxBytes: number
  keyDecoder: FieldDecoder
  valueDecoder: FieldDecoder
  /** Instead of the two, for the records of Kafka's own topics. */
  messageDecoder: MessageDecoder | null
  /** Says what mapped ids and barriers mean. */
  isExplained: boolean
  /** What that says, once, where mapped ids or a barrier are met. */
  mappedNote?: string
  /** The most bytes that the records of one batch may take, compressed or not. */
  maxBatchBytes: number
  codecs: CodecOf
}

export const NO_LIMIT = 2147483647
