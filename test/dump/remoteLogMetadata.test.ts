// Records of __remote_log_metadata and what Kafka's tool prints of them; test/kafka compares many more.
import { describe, expect, it } from 'vitest'
import { ByteWriter } from '../../src/bytes/byteWriter.ts'
import { RemoteLogMetadataDecoder } from '../../src/dump/messages/remoteLogMetadata.ts'
import { hex } from '../support/batches.ts'

const decoder = new RemoteLogMetadataDecoder()
const shown = (value: Uint8Array | null) => decoder.decode(null, value, 7n).value

const PARTITION = `076f7264657273${'00'.repeat(15)}0500000003 00`
const SEGMENT_ID = `${PARTITION}${'00'.repeat(15)}09 00`
const PARTITION_TEXT = 'AAAAAAAAAAAAAAAAAAAABQ:orders-3'
const SEGMENT_TEXT = `RemoteLogSegmentId{topicIdPartition=${PARTITION_TEXT}, id=AAAAAAAAAAAAAAAAAAAACQ}`
/** Offsets 10 to 99, broker 1, epochs 4 at 50 and 2 at 10, 4096 bytes. */
const SEGMENT =
  '000000000000000a 0000000000000063 00000001 0000018bcfe56800 0000018bcfe56801' +
  '03 00000004 0000000000000032 00 00000002 000000000000000a 00 00001000'
const bytes = (text: string) => hex(text.replaceAll(' ', ''))

describe('RemoteLogMetadataDecoder', () => {
  it('shows a segment: epochs in order, custom metadata by its size', () => {
    expect(shown(bytes(`01 00 00 ${SEGMENT_ID} ${SEGMENT} 04 010203 01 01 00 01 01`))).toBe(
      `RemoteLogSegmentMetadata{remoteLogSegmentId=${SEGMENT_TEXT}, startOffset=10, endOffset=99, brokerId=1, ` +
        'maxTimestampMs=1700000000000, eventTimestampMs=1700000000001, segmentLeaderEpochs={2=10, 4=50}, ' +
        'segmentSizeInBytes=4096, customMetadata=Optional[CustomMetadata{3 bytes}], state=COPY_SEGMENT_FINISHED, ' +
        'txnIdxEmpty=true}',
    )
  })

  it('shows an update', () => {
    expect(shown(bytes(`01 01 00 ${SEGMENT_ID} 00000001 0000018bcfe56801 00 02 00`))).toBe(
      `RemoteLogSegmentMetadataUpdate{remoteLogSegmentId=${SEGMENT_TEXT}, customMetadata=Optional.empty, ` +
        'state=DELETE_SEGMENT_STARTED, eventTimestampMs=1700000000001, brokerId=1}',
    )
  })

  it('shows a deleted partition', () => {
    expect(shown(bytes(`01 02 00 ${PARTITION} 00000001 0000018bcfe56801 00 00`))).toBe(
      `RemotePartitionDeleteMetadata{topicPartition=${PARTITION_TEXT}, state=DELETE_PARTITION_MARKED, ` +
        'eventTimestampMs=1700000000001, brokerId=1}',
    )
  })

  it('shows a snapshot of a segment', () => {
    expect(shown(bytes(`01 03 00 ${'00'.repeat(15)}09 ${SEGMENT} 00 03 00`))).toBe(
      'RemoteLogSegmentMetadataSnapshot{segmentId=AAAAAAAAAAAAAAAAAAAACQ, startOffset=10, endOffset=99, ' +
        'maxTimestampMs=1700000000000, segmentLeaderEpochs={2=10, 4=50}, segmentSizeInBytes=4096, ' +
        'customMetadata=Optional.empty, state=DELETE_SEGMENT_FINISHED, txnIdxEmpty=false}',
    )
  })

  it.each([
    [
      'a state that there is not',
      bytes(`01 01 00 ${SEGMENT_ID} 00000001 0000018bcfe56801 00 04 00`),
      'state can not be null',
    ],
    ['a deletion in no known state', bytes(`01 02 00 ${PARTITION} 00000001 0000018bcfe56801 03 00`), 'null'],
    [
      'a type that there is not',
      bytes('01 04 00'),
      'org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 4',
    ],
    ['a record that is cut', bytes(`01 02 00 ${PARTITION} 0000`), 'Failed to deserialize record with type 2'],
    ['a record without value', null, 'The record has no value'],
  ])('says why it cannot show %s', (_what, value, why) => {
    expect(shown(value)).toBe(`Error at offset 7, skipping. ${why}`)
  })

  it('sizes no memory by what a record claims', () => {
    const claim = new ByteWriter().unsignedVarint(0xffffffff).finish()
    const epochs = new Uint8Array([...bytes(`01 03 00 ${'00'.repeat(16)} ${'00'.repeat(36)}`), ...claim])
    expect(shown(epochs)).toBe('Error at offset 7, skipping. Failed to deserialize record with type 3')
  })
})
