import { readFileSync } from 'node:fs'

/**
 * Whether the address space of this process is limited (ulimit -v), as far as the system tells. Each thread with a core of its
 * own reserves some 12 GB of it, and where they are not to be had the engine may end the process.
 */
export function isAddressSpaceLimited(): boolean {
  try {
    return /^Max address space +\d/m.test(readFileSync('/proc/self/limits', 'latin1'))
  } catch {
    return false
  }
}
