// The report of the last call: u32 fields at fixed places, read by src/wasm/wasmCore.ts.

export const REPORT: usize = memory.data(48)

export const REPORT_BATCHES: usize = 0
export const REPORT_REWRITTEN: usize = 4
export const REPORT_ALREADY_MAPPED: usize = 8
export const REPORT_WITHOUT_PRODUCER: usize = 12
export const REPORT_CONTROL: usize = 16
export const REPORT_LEGACY: usize = 20
export const REPORT_VALID_BYTES: usize = 24
export const REPORT_TRAILING_KIND: usize = 28
export const REPORT_TRAILING_BYTES: usize = 32
export const REPORT_FAULT_POSITION: usize = 36
export const REPORT_FAULT_STORED: usize = 40
export const REPORT_FAULT_COMPUTED: usize = 44

export function resetReport(): void {
  memory.fill(REPORT, 0, 48)
}

export function count(field: usize): void {
  store<u32>(REPORT + field, load<u32>(REPORT + field) + 1)
}

export function set(field: usize, value: u32): void {
  store<u32>(REPORT + field, value)
}
