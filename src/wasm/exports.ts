/** What the wasm core exports (assembly/index.ts): pointers and lengths in bytes, CRCs as signed 32-bit numbers. */
export interface CoreExports {
  memory: WebAssembly.Memory
  abi: WebAssembly.Global<'i32'>
  /** 1 where the build uses 128-bit SIMD. */
  simd: WebAssembly.Global<'i32'>
  /** Address of the report of the last call; fields in REPORT_FIELDS. */
  report: WebAssembly.Global<'i32'>
  /** A fixed region for bytes that are copied in to be read. */
  scratch: WebAssembly.Global<'i32'>
  SCRATCH_SIZE: WebAssembly.Global<'i32'>
  verifyNext: WebAssembly.Global<'i32'>
  allocate(byteLength: number): number
  free(region: number): void
  crc32(position: number, byteLength: number, initial: number): number
  crc32c(position: number, byteLength: number, initial: number): number
  patchCrc(crc: number, deltaHigh: number, deltaLow: number, tail: number): number
  check(start: number, byteLength: number, crcMode: number, direction: number): number
  rewrite(start: number, byteLength: number, crcMode: number, direction: number): number
  verify(start: number, byteLength: number, from: number): number
}

export const ABI = 2

/** Names of all exports; a module without one of them is not this core. */
export const EXPORT_NAMES = [
  'memory',
  'abi',
  'simd',
  'report',
  'scratch',
  'SCRATCH_SIZE',
  'verifyNext',
  'allocate',
  'free',
  'crc32',
  'crc32c',
  'patchCrc',
  'check',
  'rewrite',
  'verify',
] as const satisfies readonly (keyof CoreExports)[]

/** The report's u32 fields, in the order of assembly/report.ts. */
export const REPORT_FIELDS = [
  'batches',
  'rewritten',
  'alreadyMapped',
  'withoutProducer',
  'control',
  'legacy',
  'validBytes',
  'trailingKind',
  'trailingBytes',
  'faultPosition',
  'faultStored',
  'faultComputed',
] as const
