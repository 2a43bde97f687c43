import { realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { InvalidArgumentError } from '../../errors.ts'
import { onFile } from '../files/ioErrors.ts'
import { requireAbsent } from '../files/temporaryFiles.ts'
import type { LogFile, LogPath, LogUnit } from '../paths/logPaths.ts'

/** One thing that appears whole in the output directory. */
export type PlannedOutput =
  | { kind: 'segment'; unit: LogUnit; file: LogFile; out: string }
  | { kind: 'partition'; unit: LogUnit & { directory: string }; out: string }
  | { kind: 'copy'; file: LogFile; out: string }

/**
 * What goes where. Nothing has been written when this refuses.
 * @throws InvalidArgumentError where two inputs would have one output, or the output directory lies in an input
 * @throws LogFileError OUTPUT_EXISTS where an output is there already
 */
export async function planOutputs(logs: readonly LogPath[], directory: string): Promise<PlannedOutput[]> {
  const outputs = logs.flatMap((log) => [...outputsOf(log, directory)])
  const sources = new Map<string, string>()
  for (const output of outputs) {
    const source = output.kind === 'partition' ? output.unit.directory : output.file.path
    const other = sources.get(output.out)
    if (other !== undefined) {
      throw new InvalidArgumentError(
        `${other} and ${source} would both become ${output.out}; give them output directories of their own`,
      )
    }
    sources.set(output.out, source)
  }
  await requireOutside(logs, directory)
  for (const { out } of outputs) await requireAbsent(out)
  return outputs
}

function* outputsOf(log: LogPath, directory: string): Iterable<PlannedOutput> {
  for (const unit of log.units) {
    if (unit.directory !== null) {
      const out = join(directory, basename(resolve(unit.directory)))
      yield { kind: 'partition', unit: { ...unit, directory: unit.directory }, out }
    } else {
      for (const file of unit.files) {
        yield { kind: 'segment', unit, file, out: join(directory, basename(file.path)) }
      }
    }
  }
  for (const file of log.ownFiles) {
    yield { kind: 'copy', file, out: join(directory, basename(file.path)) }
  }
}

/** Output inside an input directory would be part of the log. */
async function requireOutside(logs: readonly LogPath[], directory: string): Promise<void> {
  const target = await realPathOfNew(directory)
  for (const log of logs) {
    if (log.kind === 'segment') continue
    const source = await onFile('read it', log.path, () => realpath(log.path))
    const way = relative(source, target)
    if (way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && way !== resolve(way))) {
      throw new InvalidArgumentError(
        `the output directory ${directory} lies in the input ${log.path}; choose one elsewhere`,
      )
    }
  }
}

/** The real path of something that may not be there yet, by that of the nearest directory above it. */
async function realPathOfNew(path: string): Promise<string> {
  const absolute = resolve(path)
  try {
    return await realpath(absolute)
  } catch {
    const above = dirname(absolute)
    return above === absolute ? absolute : join(await realPathOfNew(above), basename(absolute))
  }
}
