import { basename, dirname, join } from 'node:path'
import type { JobProgress } from '../node/index.ts'
import { formatBytes } from './output.ts'

/** Bars on the terminal while a job goes on. */
export interface ProgressBars {
  show: (progress: JobProgress) => void
  /** Clears them away, so that results can be printed. */
  stop: () => void
}

const NAME_WIDTH = 36

/** Bars for the whole job and for each file at work, on stderr; nothing unless that is a terminal. */
export async function startProgress(isWanted: boolean): Promise<ProgressBars> {
  if (!isWanted || !process.stderr.isTTY) return { show: () => {}, stop: () => {} }
  const { default: cliProgress } = await import('cli-progress')
  const bars = new cliProgress.MultiBar({
    stream: process.stderr,
    format: '{name} [{bar}] {percentage}% {done} of {all}',
    barsize: 24,
    clearOnComplete: true,
    // our own handlers end the job first
    gracefulExit: false,
  })
  const total = bars.create(1, 0, labels('total', 0, 0))
  const atWork = new Map<string, Bar>()
  const idle: Bar[] = []
  return {
    show({ file, fileBytes, fileSize, bytes, size }) {
      update(total, 'total', bytes, size)
      if (file === '') return
      const bar = atWork.get(file) ?? idle.pop() ?? bars.create(1, 0, labels('', 0, 0))
      update(bar, shortName(file), fileBytes, fileSize)
      atWork.set(file, bar)
      if (fileBytes < fileSize) return
      atWork.delete(file)
      idle.push(bar)
    },
    stop: () => bars.stop(),
  }
}

interface Bar {
  setTotal(total: number): void
  update(value: number, payload: object): void
}

function update(bar: Bar, name: string, done: number, size: number): void {
  bar.setTotal(Math.max(size, 1))
  // an empty file is done at once
  bar.update(size === 0 ? 1 : done, labels(name, done, size))
}

function labels(name: string, done: number, size: number): object {
  return { name: name.padEnd(NAME_WIDTH), done: formatBytes(done), all: formatBytes(size) }
}

function shortName(path: string): string {
  const name = join(basename(dirname(path)), basename(path))
  return name.length <= NAME_WIDTH ? name : `…${name.slice(1 - NAME_WIDTH)}`
}
