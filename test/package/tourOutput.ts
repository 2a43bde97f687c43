const core = [
  'crc e3069283',
  'idempotent-none-0: 5 rewritten, 0 corrupt, mapped true, back true, CORRUPT_BATCH',
  'idempotent-gzip-0: 5 rewritten, 0 corrupt, mapped true, back true, CORRUPT_BATCH',
  'idempotent-snappy-0: 6 rewritten, 0 corrupt, mapped true, back true, CORRUPT_BATCH',
  'idempotent-lz4-0: 6 rewritten, 0 corrupt, mapped true, back true, CORRUPT_BATCH',
  'idempotent-zstd-0: 5 rewritten, 0 corrupt, mapped true, back true, CORRUPT_BATCH',
  'transactions-0: 23 rewritten, 0 corrupt, mapped true, back true, CORRUPT_BATCH',
]

const rest = [
  'barrier: MIRROR_PID_RESET 7 of A at 42',
  // what a producer sent uncompressed and by each codec; that of snappy and lz4 sent one record more
  'idempotent-none-0: 23 records, next 23, values f44a971d',
  'idempotent-gzip-0: 23 records, next 23, values f44a971d',
  'idempotent-snappy-0: 24 records, next 24, values dc206a49',
  'idempotent-lz4-0: 24 records, next 24, values dc206a49',
  'idempotent-zstd-0: 23 records, next 23, values f44a971d',
  'transactions-0: 23 records, next 31, values 8bdacb21',
  'log: 1650 bytes, end 23, producers 0',
  'stream: 1650 bytes',
]

/** What `tour()` gives everywhere: of `mirrorpid` with a core of either backend, and of `mirrorpid/js` alone. */
export const TOUR = {
  wasm: ['wasm', ...core, ...rest].join('\n'),
  'without wasm': ['js', ...core, ...rest].join('\n'),
  js: ['js', ...core].join('\n'),
}
