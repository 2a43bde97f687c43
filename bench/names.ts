/** What is compared, by the names that tie figures to targets, losses and the chart. */

export const INSIDE = 'mirrorpid, in wasm memory'
export const ON_A_BUFFER = 'mirrorpid, on a Buffer'
export const JS = 'mirrorpid/js'
export const NATIVE = '@node-rs/crc32 (native)'
export const PLATFORMATIC = '@platformatic/wasm-utils'
export const HASH_WASM = 'hash-wasm'
export const PLAIN = 'plain JavaScript, a table'
export const SCAN = 'v128 XOR scan (the limit)'

export const LOAD_CORE = 'mirrorpid: loadCore'

/** Where the batches are that a rewrite is given. */
export const PLACES = ['in wasm memory', 'on a Buffer'] as const
export const rewriteIn = (place: (typeof PLACES)[number], crc: string) => `${crc}, ${place}`
export const NATIVE_REWRITE = 'native: recompute'
export const NATIVE_CHECKED_REWRITE = 'native: verify, then recompute'
export const PLAIN_REWRITE = 'plain JavaScript: BigInt, full CRC'

// as kafka/KafkaBench.java prints them
export const KAFKA_VERIFY = 'Kafka: ensureValid'
export const KAFKA_REWRITE = 'Kafka: producer id and Crc32C'
export const KAFKA_CHECKED_REWRITE = 'Kafka: ensureValid, then producer id and Crc32C'

export const OUT_PATCH = 'rewrite --out, patch'
export const OUT_VERIFY = 'rewrite --out, verify'
export const IN_PLACE = 'rewrite --in-place'
export const COPY = 'cp'
export const COPY_AND_SYNC = 'cp and sync'

export const ONE_THREAD = '1 segment, 1 thread'
export const TWO_THREADS = '2 segments, 2 threads'
