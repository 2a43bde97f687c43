// What the package must be able to do wherever it is put: in other versions of Node, threads, bundles and pages. Without
// Node, and without tests' helpers. A text, so that it can be compared as it is.

/** What both entries can do, by a core of either. */
function tourCore({ mapProducerId, MirrorPidError, CorruptBatchError }, core, segments) {
  const firstId = (bytes) => new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(43)
  return Object.entries(segments).map(([name, segment]) => {
    const before = segment.slice()
    const source = firstId(segment)
    const { rewritten } = core.rewrite(segment, { crc: 'verify' })
    const isMapped = firstId(segment) === mapProducerId(source)
    const { corrupt } = core.verify(segment)
    const damaged = segment.slice()
    damaged[60] ^= 1
    let code = null
    try {
      core.rewrite(damaged, { crc: 'verify', direction: 'unmap' })
    } catch (error) {
      code = error instanceof CorruptBatchError && MirrorPidError.is(error) && error.code
    }
    core.rewrite(segment, { direction: 'unmap' })
    const isBack = before.every((byte, at) => byte === segment[at])
    return `${name}: ${rewritten} rewritten, ${corrupt.length} corrupt, mapped ${isMapped}, back ${isBack}, ${code}`
  })
}

/** What only `mirrorpid` can do; a core of either kind will do. */
async function tourAll(mirrorpid, core, segments) {
  const { consumerView, decodeControlRecord, encodeMirrorPidReset, recordBatches } = mirrorpid
  const { PartitionLog, memoryStorage, rewriteStream } = mirrorpid
  const [first] = Object.values(segments)
  const lines = []
  const barrier = encodeMirrorPidReset({
    baseOffset: 42n,
    leaderEpoch: 7,
    timestamp: 1700000000000n,
    sourceClusterId: 'A',
  })
  const [batch] = recordBatches(barrier)
  const { name, type, sourceClusterId } = decodeControlRecord(batch)
  lines.push(`barrier: ${name} ${type} of ${sourceClusterId} at ${batch.baseOffset}`)

  for (const [partition, segment] of Object.entries(segments)) {
    const { records, nextOffset } = await consumerView(segment, { isolation: 'read_committed' })
    const values = records.map(({ value }) => (value === null ? 'null' : new TextDecoder().decode(value)))
    const crc = core.crc32c(new TextEncoder().encode(values.join())).toString(16)
    lines.push(`${partition}: ${records.length} records, next ${nextOffset}, values ${crc}`)
  }

  const storage = memoryStorage()
  const log = PartitionLog.open(storage, { core })
  log.append(first, 'replication')
  log.updateHighWatermark(log.logEndOffset)
  const read = log.read(0n).records
  log.close()
  const again = PartitionLog.open(storage, { core })
  const producers = [...again.producerState.producers.keys()]
  lines.push(`log: ${read.length} bytes, end ${again.logEndOffset}, producers ${producers}`)

  const stream = rewriteStream({ core })
  const writer = stream.writable.getWriter()
  writer.write(first.slice(0, 100))
  writer.write(first.slice(100))
  writer.close()
  let streamed = 0
  for (const reader = stream.readable.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) break
    streamed += value.length
  }
  lines.push(`stream: ${streamed} bytes`)
  return lines
}

/** @returns one text; all places must give the same */
export async function tour({ mirrorpid, js }, core, segments) {
  const lines = [core.backend, `crc ${core.crc32c(new TextEncoder().encode('123456789')).toString(16)}`]
  lines.push(...tourCore(mirrorpid ?? js, core, segments))
  if (mirrorpid !== undefined) lines.push(...(await tourAll(mirrorpid, core, segments)))
  return lines.join('\n')
}
