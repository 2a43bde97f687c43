/** A batch on its way: what it looks like on each cluster that it has got to. */
export interface DrawnRow {
  cells: DrawnCell[]
  /** What is to be said of it, such as `collision`. */
  notes: string[]
}

/** One batch in the column of one cluster. */
export interface DrawnCell {
  cluster: string
  /** The producer id; of control batches what they are. */
  text: string
  /** Where it was fetched from; null where it was written. */
  from: string | null
}

/** Room for an arrow between two columns. */
const GAP = 10

/**
 * Draws batches as the draft of Cluster Mirroring does: a column for each cluster, a row for each batch.
 *
 * @example
 * drawRows(['A', 'B'], rows)
 * // A           B
 * // 5 -------> -7
 */
export function drawRows(clusters: readonly string[], rows: readonly DrawnRow[]): string {
  const widths = clusters.map((name) => {
    const texts = rows.flatMap(({ cells }) => cells.filter((cell) => cell.cluster === name))
    return Math.max(name.length, ...texts.map(({ text }) => text.length))
  })
  const ends = widths.map((_, at) => widths.slice(0, at + 1).reduce((sum, width) => sum + width, at * GAP))
  const header = clusters.reduce((line, name, at) => line.padEnd(ends[at]! - name.length) + name, '')
  return [header, ...rows.map((row) => drawRow(clusters, ends, row))].join('\n')
}

function drawRow(clusters: readonly string[], ends: readonly number[], { cells, notes }: DrawnRow): string {
  let line = ''
  let left: string | null = null
  for (const [at, name] of clusters.entries()) {
    const cell = cells.find(({ cluster }) => cluster === name)
    if (cell === undefined) continue
    const start = ends[at]! - cell.text.length
    const gap = start - line.length
    const fromRight = cells.find(({ cluster }) => cluster === left)?.from === name
    if (left !== null && cell.from === left) line += ` ${'-'.repeat(gap - 3)}> `
    else if (left !== null && fromRight) line += ` <${'-'.repeat(gap - 3)} `
    line = line.padEnd(start) + cell.text
    left = name
  }
  return line + notes.map((note) => ` # ${note}`).join('')
}
