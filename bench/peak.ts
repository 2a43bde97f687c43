// Loaded into a command by --import: writes its peak of memory, in KiB, when it ends.
import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const { MIRRORPID_BENCH_PEAK: file } = process.env

/** On Linux not by resourceUsage, which begins with the memory of the process that has started this one. */
function peakKibibytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
}

if (isMainThread && file !== undefined) {
  process.on('exit', () => writeFileSync(file, String(peakKibibytes())))
}
