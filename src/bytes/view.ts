import { InvalidArgumentError, MirrorPidError } from '../errors.ts'

function describe(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}

/** Refuses what `bytesOf` refuses. The tag is asked for directly, as calls on small batches are short. */
export function requireBytes(value: Uint8Array | DataView, name: string): void {
  const kind = (value as Partial<Uint8Array | DataView> | null | undefined)?.[Symbol.toStringTag]
  if (ArrayBuffer.isView(value) && (kind === 'Uint8Array' || kind === 'DataView')) return
  const found = describe(value)
  const mend = found.endsWith('ArrayBuffer') ? '; wrap it: new Uint8Array(buffer)' : ''
  throw new InvalidArgumentError(`${name} must be a Uint8Array, a Buffer or a DataView; got ${found}${mend}`)
}

/**
 * The caller's memory as a plain Uint8Array over the same bytes: a Buffer, a Uint8Array or a DataView, at any offset, on
 * an ArrayBuffer or a SharedArrayBuffer. Kinds with wider elements are refused, because their length is no byte count.
 */
export function bytesOf(value: Uint8Array | DataView, name: string): Uint8Array {
  requireBytes(value, name)
  try {
    // of a buffer that has shrunk below it, a view says that it is empty; its methods tell
    if (value.byteLength === 0 && 'at' in value) value.at(0)
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  } catch (cause) {
    throw new MirrorPidError(
      'DETACHED_BUFFER',
      `${name} is a view of memory that has moved (it was transferred or has shrunk, or the core's memory grew): take ` +
        'buffer.bytes again after allocate()',
      { cause },
    )
  }
}

/** Refuses what is no DataView; for calls on each batch of a log. */
export function requireView(view: DataView): DataView {
  if (view?.getInt32 !== undefined) return view
  throw new InvalidArgumentError(`view must be a DataView; got ${describe(view)}`)
}

/** The same bytes, for numbers of more than one. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
