/**
 * An entry that an index cannot take after its last one: the log's offsets go back. Recovery answers it, nobody else sees
 * it. Source: Kafka's InvalidOffsetException.
 */
export class InvalidIndexOffset extends Error {
  constructor(offset: bigint, lastOffset: bigint, name: string) {
    super(`offset ${offset} cannot follow ${lastOffset} in ${name}`)
  }
}
