import { type CoreExports, REPORT_FIELDS } from './exports.ts'
import type { Report } from './report.ts'

const AT = Object.fromEntries(REPORT_FIELDS.map((name, index) => [name, index])) as Report

/** Views of the core's memory, kept from call to call: to make one takes longer than to patch a batch. */
export class CoreMemory {
  readonly #wasm: CoreExports
  #buffer: ArrayBuffer
  #report: Uint32Array<ArrayBuffer>
  #scratch: Uint8Array<ArrayBuffer>

  constructor(wasm: CoreExports) {
    this.#wasm = wasm
    this.#buffer = wasm.memory.buffer
    this.#report = new Uint32Array(0)
    this.#scratch = new Uint8Array(0)
    this.#take()
  }

  /** The memory as it is now. */
  get buffer(): ArrayBuffer {
    // growth detaches it, and no wasm memory is empty
    if (this.#buffer.byteLength === 0) this.#take()
    return this.#buffer
  }

  /** The region for bytes that are copied in to be read. */
  get scratch(): Uint8Array<ArrayBuffer> {
    if (this.#buffer.byteLength === 0) this.#take()
    return this.#scratch
  }

  /** The report of the last call; field by field, since a loop over names takes as long as to patch twenty batches. */
  get report(): Report {
    if (this.#buffer.byteLength === 0) this.#take()
    const fields = this.#report
    return {
      batches: fields[AT.batches]!,
      rewritten: fields[AT.rewritten]!,
      alreadyMapped: fields[AT.alreadyMapped]!,
      withoutProducer: fields[AT.withoutProducer]!,
      control: fields[AT.control]!,
      legacy: fields[AT.legacy]!,
      validBytes: fields[AT.validBytes]!,
      trailingKind: fields[AT.trailingKind]!,
      trailingBytes: fields[AT.trailingBytes]!,
      faultPosition: fields[AT.faultPosition]!,
      faultStored: fields[AT.faultStored]!,
      faultComputed: fields[AT.faultComputed]!,
    }
  }

  /** Whether a view lies here. The last byte of a memory of 4 GiB is left out: its end is no 32-bit number. */
  holds(view: Uint8Array | DataView): boolean {
    return (
      view?.buffer === this.buffer && view.byteLength > 0 && view.byteOffset + view.byteLength <= 0xffffffff
    )
  }

  #take(): void {
    const { memory, report, scratch, SCRATCH_SIZE } = this.#wasm
    this.#buffer = memory.buffer
    this.#report = new Uint32Array(this.#buffer, report.value, REPORT_FIELDS.length)
    this.#scratch = new Uint8Array(this.#buffer, scratch.value, SCRATCH_SIZE.value)
  }
}
