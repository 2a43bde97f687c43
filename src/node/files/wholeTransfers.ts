import { readSync, writeSync } from 'node:fs'

/** Reads from a position on until the room is full or the file ends; returns how many bytes there were. */
export function readFully(descriptor: number, room: Uint8Array, position: number): number {
  let filled = 0
  while (filled < room.length) {
    const read = readSync(descriptor, room, filled, room.length - filled, position + filled)
    if (read === 0) break
    filled += read
  }
  return filled
}

/** Writes all the bytes from a position on. */
export function writeFully(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written)
  }
}
