/** What was measured: printed as tables, written as JSON, and what the targets and the chart are made of. */

export type Unit = 'ns' | 's' | 'ms' | 'MB'

/** One contender in one case: the median of its rounds, and the rounds furthest from it. */
export interface Figure {
  section: string
  /** Such as a size of batches. */
  case: string
  name: string
  unit: Unit
  median: number
  low: number
  high: number
  /** Bytes that one operation reads, where a speed makes sense. */
  bytes?: number
}

export class Results {
  readonly figures: Figure[] = []

  add(figure: Omit<Figure, 'median' | 'low' | 'high'>, rounds: readonly number[]): Figure {
    const added = {
      ...figure,
      median: median(rounds),
      low: Math.min(...rounds),
      high: Math.max(...rounds),
    }
    this.figures.push(added)
    return added
  }

  of(section: string): Figure[] {
    return this.figures.filter((figure) => figure.section === section)
  }

  /** The median; undefined where it was not measured in this run. */
  median(section: string, caseName: string, name: string): number | undefined {
    return this.of(section).find((figure) => figure.case === caseName && figure.name === name)?.median
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** A row for each contender, a column for each case: the median and the range of the rounds. */
export function printTable(title: string, figures: readonly Figure[]): void {
  const rows: Record<string, Record<string, string>> = {}
  for (const figure of figures) {
    rows[figure.name] ??= {}
    rows[figure.name]![figure.case] = `${short(figure.median)} (${short(figure.low)}-${short(figure.high)})`
  }
  console.log(`\n${title}: median (range of the rounds), ${figures[0]?.unit}`)
  console.table(rows)
}

/** The same as speeds. */
export function printSpeeds(title: string, figures: readonly Figure[]): void {
  const rows: Record<string, Record<string, string>> = {}
  for (const { name, case: column, bytes, median } of figures) {
    rows[name] ??= {}
    rows[name]![column] = ((bytes ?? Number.NaN) / median).toFixed(2)
  }
  console.log(`\n${title}: GB/s by the median`)
  console.table(rows)
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
