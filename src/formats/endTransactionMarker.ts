import { type ByteReader, MalformedBytes } from '../bytes/byteReader.ts'
import { ByteWriter } from '../bytes/byteWriter.ts'
import { type OptionKinds, oneOf, requireOptions } from '../core/arguments.ts'
import { InvalidArgumentError } from '../errors.ts'
import { ControlRecordType, encodeControlKey } from './controlRecordType.ts'
import { encodeRecordBatch } from './encodeRecordBatch.ts'

/** A marker to write. Source: Kafka's EndTransactionMarker. */
export interface EndTransactionMarkerSpec {
  baseOffset: bigint
  /** Default -1. */
  leaderEpoch?: number
  /** Milliseconds since the epoch. */
  timestamp: bigint
  producerId: bigint
  producerEpoch: number
  coordinatorEpoch: number
  type: 'ABORT' | 'COMMIT'
}

const MARKER: OptionKinds<EndTransactionMarkerSpec> = {
  baseOffset: 'any',
  leaderEpoch: 'any',
  timestamp: 'any',
  producerId: 'any',
  producerEpoch: 'any',
  coordinatorEpoch: 'any',
  type: 'any',
}

/**
 * A whole marker batch: it ends the open transaction of a producer on a partition.
 *
 * @throws InvalidArgumentError
 * @see Kafka's EndTransactionMarker and MemoryRecords.withEndTransactionMarker
 * @example
 * encodeEndTransactionMarker({
 *   baseOffset: 2n, timestamp: 1700000000009n, producerId: 1000n, producerEpoch: 3, coordinatorEpoch: 4, type: 'COMMIT',
 * }).length // 78
 */
export function encodeEndTransactionMarker(spec: EndTransactionMarkerSpec): Uint8Array<ArrayBuffer> {
  requireOptions('spec of encodeEndTransactionMarker', spec, MARKER)
  oneOf('type', spec.type, ['ABORT', 'COMMIT'])
  const { coordinatorEpoch } = spec
  if (!Number.isInteger(coordinatorEpoch) || coordinatorEpoch < -1 || coordinatorEpoch > 2147483647) {
    throw new InvalidArgumentError(
      `coordinatorEpoch must be an int32 from -1 on; got ${String(coordinatorEpoch)}`,
    )
  }
  return encodeRecordBatch({
    baseOffset: spec.baseOffset,
    partitionLeaderEpoch: spec.leaderEpoch ?? -1,
    isTransactional: true,
    isControl: true,
    producerId: spec.producerId,
    producerEpoch: spec.producerEpoch,
    records: [
      {
        timestamp: spec.timestamp,
        key: encodeControlKey(ControlRecordType[spec.type]),
        value: new ByteWriter().int16(0).int32(coordinatorEpoch).finish(),
      },
    ],
  })
}

/** A marker's value. A version above 0 is read as 0, as Kafka does; bytes behind are ignored. */
export function parseEndTransactionMarker(reader: ByteReader): { version: number; coordinatorEpoch: number } {
  const version = reader.int16()
  if (version < 0) throw new MalformedBytes(`an end-transaction marker has version ${version}`, 0)
  return { version, coordinatorEpoch: reader.int32() }
}
