import { decodeControlRecord } from '../../formats/controlRecord.ts'
import type { RecordBatch } from '../../formats/recordBatch.ts'
import { recordBatches } from '../../formats/recordBatches.ts'
import type { DrawnRow } from './drawing.ts'
import { placeOf } from './ledger.ts'

interface Row extends DrawnRow {
  baseOffset: bigint
}

/** Keeps the way that each batch takes. */
export class Route {
  readonly #rows = new Map<string, Row>()

  get rows(): DrawnRow[] {
    return [...this.#rows.values()].map(({ cells, notes }) => ({ cells, notes }))
  }

  /** A batch has been written to a cluster, or fetched from another. */
  reached(batch: RecordBatch, cluster: string, from: string | null): void {
    const place = placeOf(batch)
    const row = this.#rows.get(place) ?? { cells: [], notes: [], baseOffset: batch.baseOffset }
    row.cells = [
      ...row.cells.filter((cell) => cell.cluster !== cluster),
      { cluster, text: textOf(batch), from },
    ]
    this.#rows.set(place, row)
  }

  note(batch: RecordBatch, note: string): void {
    const row = this.#rows.get(placeOf(batch))
    if (row !== undefined && !row.notes.includes(note)) row.notes.push(note)
  }

  /** A cluster has cut its log. */
  cut(cluster: string, offset: bigint, isThere: (place: string) => boolean): void {
    for (const [place, row] of this.#rows) {
      if (row.baseOffset < offset || isThere(place)) continue
      if (!row.cells.some((cell) => cell.cluster === cluster)) continue
      const note = `dropped on ${cluster}`
      if (!row.notes.includes(note)) row.notes.push(note)
    }
  }
}

function textOf(batch: RecordBatch): string {
  if (!batch.isControl) return `${batch.producerId}`
  const name = decodeControlRecord(batch)?.name
  if (name === 'MIRROR_PID_RESET') return 'reset'
  return `${name === 'COMMIT' ? 'commit' : 'abort'} ${batch.producerId}`
}

/** The first batch of a record set that has one. */
export function oneBatch(bytes: Uint8Array): RecordBatch {
  const [batch] = recordBatches(bytes)
  return batch!
}
