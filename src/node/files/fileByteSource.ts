import { readSync } from 'node:fs'
import type { ByteSource } from '../../log/byteSource.ts'
import { asLogFileError, onFile } from './ioErrors.ts'
import { changedMeanwhile, type SourceFile } from './sourceFile.ts'

/** An open file as a source of bytes. A file that has become shorter since is an error. */
export function byteSourceOf({ path, handle, size }: SourceFile): ByteSource {
  return {
    size,
    async read(room, position) {
      for (let filled = 0; filled < room.length; ) {
        const { bytesRead } = await onFile('read it', path, () =>
          handle.read(room, filled, room.length - filled, position + filled),
        )
        if (bytesRead === 0) throw changedMeanwhile(path)
        filled += bytesRead
      }
    },
    readNow(room, position) {
      const length = Math.max(0, Math.min(room.length, size - position))
      for (let filled = 0; filled < length; ) {
        const bytesRead = readAt(path, handle.fd, room, filled, length - filled, position + filled)
        if (bytesRead === 0) throw changedMeanwhile(path)
        filled += bytesRead
      }
      return length
    },
  }
}

function readAt(
  path: string,
  fd: number,
  room: Uint8Array,
  offset: number,
  length: number,
  position: number,
): number {
  try {
    return readSync(fd, room, offset, length, position)
  } catch (error) {
    throw asLogFileError(error, 'read it', path)
  }
}
