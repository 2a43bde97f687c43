import { InvalidArgumentError, UnmappableProducerIdError } from '../errors.ts'

/** The id of a batch without a producer (Kafka: RecordBatch.NO_PRODUCER_ID). */
export const NO_PRODUCER_ID = -1n

const MAX_INT64 = 2n ** 63n - 1n
const MIN_INT64 = -(2n ** 63n)

function requireInt64(producerId: bigint): void {
  if (typeof producerId !== 'bigint') {
    throw new InvalidArgumentError(
      `a producer id is a bigint (write 5n, or BigInt("5")); got ${typeof producerId} ${String(producerId)}`,
    )
  }
  if (producerId > MAX_INT64 || producerId < MIN_INT64) throw new UnmappableProducerIdError(producerId)
}

/**
 * The id under which a mirror keeps a source cluster's producer: `-(id + 2)` for ids >= 0. Ids below 0 stay as they
 * are: -1 means "no producer", and anything lower was mapped upstream.
 *
 * @param producerId an int64
 * @throws UnmappableProducerIdError for 2^63 - 1, which has no image, and for anything outside int64
 * @see KIP-1279 (Cluster Mirroring)
 * @example
 * mapProducerId(5n) // -7n
 * mapProducerId(-7n) // -7n
 */
export function mapProducerId(producerId: bigint): bigint {
  requireInt64(producerId)
  if (producerId < 0n) return producerId
  if (producerId === MAX_INT64) throw new UnmappableProducerIdError(producerId)
  return -(producerId + 2n)
}

/**
 * The source cluster's id of a mirrored producer: the inverse of `mapProducerId` for ids <= -2. Other ids were never
 * mapped and stay as they are.
 *
 * @param producerId an int64
 * @throws UnmappableProducerIdError for anything outside int64
 * @example
 * unmapProducerId(-7n) // 5n
 * unmapProducerId(5n) // 5n
 */
export function unmapProducerId(producerId: bigint): bigint {
  requireInt64(producerId)
  return producerId <= -2n ? -producerId - 2n : producerId
}

/**
 * Whether an id is that of a mirrored producer: -2 or lower.
 *
 * @param producerId an int64
 * @throws UnmappableProducerIdError for anything outside int64
 * @example
 * isMirroredProducerId(-7n) // true
 * isMirroredProducerId(-1n) // false
 */
export function isMirroredProducerId(producerId: bigint): boolean {
  requireInt64(producerId)
  return producerId <= -2n
}

/**
 * The draft's first formula, without the guard for ids that are mapped already. Kept only to show what it breaks: over
 * two hops 5 -> -7 -> 5, which collides with the second cluster's own producer 5.
 *
 * @param producerId an int64
 * @throws UnmappableProducerIdError for 2^63 - 1 and for anything outside int64
 * @example
 * legacyMapProducerId(legacyMapProducerId(5n)) // 5n
 */
export function legacyMapProducerId(producerId: bigint): bigint {
  requireInt64(producerId)
  if (producerId === NO_PRODUCER_ID) return producerId
  if (producerId === MAX_INT64) throw new UnmappableProducerIdError(producerId)
  return -(producerId + 2n)
}
