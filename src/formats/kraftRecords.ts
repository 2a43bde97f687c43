import { type ByteReader, MalformedBytes } from '../bytes/byteReader.ts'
import { readTaggedFields } from './taggedFields.ts'

/** Values of KRaft's control records; all flexible schemas at version 0. Source: the schemas of the same names in Kafka. */

export interface LeaderChangeMessage {
  version: number
  leaderId: number
  voters: { voterId: number }[]
  grantingVoters: { voterId: number }[]
}

/** The timestamp is in milliseconds since the epoch. Source: Kafka's SnapshotHeaderRecord (KIP-630). */
export interface SnapshotHeaderRecord {
  version: number
  lastContainedLogTimestamp: bigint
}

/** Source: Kafka's SnapshotFooterRecord (KIP-630). */
export interface SnapshotFooterRecord {
  version: number
}

/** Source: Kafka's KRaftVersionRecord (KIP-853). */
export interface KRaftVersionRecord {
  version: number
  kRaftVersion: number
}

/** Source: Kafka's VotersRecord (KIP-853). */
export interface VotersRecord {
  version: number
  voters: {
    voterId: number
    /** 16 bytes as URL-safe base64 without padding, Kafka's text form of a Uuid. */
    voterDirectoryId: string
    endpoints: { name: string; host: string; port: number }[]
    kRaftVersionFeature: { minSupportedVersion: number; maxSupportedVersion: number }
  }[]
}

/** A compact array: its count plus one, then the entries. Each takes a byte at least, which bounds a false count. */
function compactArray<T>(reader: ByteReader, readEntry: () => T): T[] {
  const count = reader.unsignedVarint() - 1
  if (count > reader.remaining) {
    throw new MalformedBytes(
      `${count} entries are claimed where ${reader.remaining} bytes are left`,
      reader.position,
    )
  }
  const entries: T[] = []
  for (let index = 0; index < count; index++) entries.push(readEntry())
  return entries
}

function compactString(reader: ByteReader): string {
  const length = reader.unsignedVarint() - 1
  return new TextDecoder().decode(reader.slice(length))
}

function uuid(reader: ByteReader): string {
  const base64 = btoa(String.fromCharCode(...reader.slice(16)))
  return base64.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')
}

function readVoter(reader: ByteReader): { voterId: number } {
  const voterId = reader.int32()
  readTaggedFields(reader)
  return { voterId }
}

export function parseLeaderChange(reader: ByteReader): LeaderChangeMessage {
  const version = reader.int16()
  const leaderId = reader.int32()
  const voters = compactArray(reader, () => readVoter(reader))
  const grantingVoters = compactArray(reader, () => readVoter(reader))
  readTaggedFields(reader)
  return { version, leaderId, voters, grantingVoters }
}

export function parseSnapshotHeader(reader: ByteReader): SnapshotHeaderRecord {
  const header = { version: reader.int16(), lastContainedLogTimestamp: reader.int64() }
  readTaggedFields(reader)
  return header
}

export function parseSnapshotFooter(reader: ByteReader): SnapshotFooterRecord {
  const footer = { version: reader.int16() }
  readTaggedFields(reader)
  return footer
}

export function parseKRaftVersion(reader: ByteReader): KRaftVersionRecord {
  const record = { version: reader.int16(), kRaftVersion: reader.int16() }
  readTaggedFields(reader)
  return record
}

export function parseVoters(reader: ByteReader): VotersRecord {
  const version = reader.int16()
  const voters = compactArray(reader, () => {
    const voterId = reader.int32()
    const voterDirectoryId = uuid(reader)
    const endpoints = compactArray(reader, () => {
      const endpoint = { name: compactString(reader), host: compactString(reader), port: reader.uint16() }
      readTaggedFields(reader)
      return endpoint
    })
    const kRaftVersionFeature = { minSupportedVersion: reader.int16(), maxSupportedVersion: reader.int16() }
    readTaggedFields(reader) // of the feature
    readTaggedFields(reader) // of the voter
    return { voterId, voterDirectoryId, endpoints, kRaftVersionFeature }
  })
  readTaggedFields(reader)
  return { version, voters }
}
