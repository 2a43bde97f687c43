/** How DumpLogSegments is called for the dumps stored beside the fixtures, by variant. */
const LOG_VARIANTS = {
  headers: [],
  deep: ['--deep-iteration'],
  data: ['--print-data-log'],
}

/** Not for all, to keep the fixtures small: these have null keys, null values, control and empty batches. */
const VALUES = ['idempotent-none-0', 'transactions-0', 'compacted-thrice-0']

/** Kafka's internal topics, where the tool can say what the records mean. */
const DECODERS = {
  '__cluster_metadata-0': '--cluster-metadata-decoder',
  '__consumer_offsets-0': '--offsets-decoder',
  '__transaction_state-0': '--transaction-log-decoder',
}

/** @type {typeof import('./dumps.js').dumpJobs} */
export function dumpJobs(partition, files) {
  return files.flatMap((file) => {
    const path = `${partition}/${file}`
    return Object.entries(variants(partition, file)).map(([variant, options]) => ({
      path,
      variant,
      args: [...options, '--files', path],
      stored: `dumps/${path}.${variant}.txt`,
    }))
  })
}

/**
 * @param {string} partition
 * @param {string} file
 * @returns {Record<string, string[]>}
 */
function variants(partition, file) {
  if (/\.(index|timeindex|txnindex|snapshot)$/.test(file)) return { headers: [] }
  if (!/\.(log|checkpoint)$/.test(file)) return {}
  const decoder = Object.entries(DECODERS).find(([name]) => name === partition)?.[1]
  return {
    ...LOG_VARIANTS,
    ...(VALUES.includes(partition) ? { values: ['--print-data-log', '--skip-record-metadata'] } : {}),
    ...(decoder ? { decoded: [decoder] } : {}),
  }
}

/** @type {typeof import('./dumps.js').errorsOf} */
export function errorsOf(stored) {
  return stored.replace(/\.txt$/, '.stderr.txt')
}
