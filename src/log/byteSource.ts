/** The bytes of a file, read where they are asked for. */
export interface ByteSource {
  /** Number of bytes when it was opened. */
  readonly size: number
  /** Fills the room from a position on; all of it must lie within the size. */
  read(room: Uint8Array, position: number): Promise<void>
  /** The same at once, for a few bytes; returns how many there were. */
  readNow(room: Uint8Array, position: number): number
}
