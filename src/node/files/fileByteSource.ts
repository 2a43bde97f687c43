import type { ByteSource } from '../../log/byteSource.ts'
import { onFile } from './ioErrors.ts'
import { changedMeanwhile, readWhole, type SourceFile } from './sourceFile.ts'

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
      readWhole({ path, handle }, room.subarray(0, length), position)
      return length
    },
  }
}
