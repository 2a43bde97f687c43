import type { FileHandle } from 'node:fs/promises'

/** When a file was read and written last, in milliseconds since 1970, with fractions. */
export interface FileTimes {
  atimeMs: number
  mtimeMs: number
}

/**
 * Gives an open file these times, to the microsecond: a broker without timestamps goes by a segment's age. Where only the
 * file's owner may, and this user is another one, it keeps those of now.
 */
export async function setFileTimes(handle: FileHandle, { atimeMs, mtimeMs }: FileTimes): Promise<void> {
  try {
    await handle.utimes(asTime(atimeMs), asTime(mtimeMs))
  } catch (error) {
    const isOwner = (await handle.stat()).uid === process.geteuid?.()
    if (isOwner || (error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

/** Node cuts off what is below a microsecond, also what only rounding has put there, and takes negative numbers for now. */
function asTime(milliseconds: number): number | Date {
  return milliseconds < 0 ? new Date(milliseconds) : (milliseconds + 0.0005) / 1000
}
