/** What was measured: printed as tables, written as JSON, and what the targets and the chart are made of. */

export type Unit = 'ns' | 's' | 'ms' | 'MB'

/** A median, and what is furthest from it. */
export interface Spread {
  median: number
  low: number
  high: number
}

/** One contender in one case: the median of its rounds, and the rounds furthest from it. */
export interface Figure extends Spread {
  section: string
  /** Such as a size of batches. */
  case: string
  name: string
  unit: Unit
  rounds: readonly number[]
  /** Bytes that one operation reads, where a speed makes sense. */
  bytes?: number
}

export class Results {
  readonly figures: Figure[] = []

  add(figure: Omit<Figure, keyof Spread | 'rounds'>, rounds: readonly number[]): Figure {
    const added = { ...figure, ...spread(rounds), rounds }
    this.figures.push(added)
    return added
  }

  of(section: string): Figure[] {
    return this.figures.filter((figure) => figure.section === section)
  }

  /** What a contender took in all cases of a section; none where the section was not measured in this run. */
  by(section: string, name: string): Figure[] {
    const figures = this.of(section)
    const own = figures.filter((figure) => figure.name === name)
    if (figures.length > 0 && own.length === 0) throw new Error(`${section} has no ${name}`)
    return own
  }

  /** The median; undefined where the section was not measured in this run. */
  median(section: string, caseName: string, name: string): number | undefined {
    return this.#find(section, caseName, name)?.median
  }

  /** The highest median of all contenders in a case; undefined where the section was not measured in this run. */
  highest(section: string, caseName: string): number | undefined {
    const figures = this.of(section)
    if (figures.length === 0) return undefined
    const medians = figures.filter((figure) => figure.case === caseName).map((figure) => figure.median)
    if (medians.length === 0) throw new Error(`${section} has no ${caseName}`)
    return Math.max(...medians)
  }

  /**
   * How many times as much as `ours` the least of the others takes, round by round: in a round all had the same machine,
   * which another program may slow down for seconds. Undefined where the section was not measured in this run.
   */
  times(section: string, caseName: string, ours: string, others: readonly string[]): Spread | undefined {
    const mine = this.#find(section, caseName, ours)
    const theirs = others.map((name) => this.#find(section, caseName, name))
    if (mine === undefined || theirs.includes(undefined)) return undefined
    return spread(
      mine.rounds.map((time, round) => Math.min(...theirs.map((figure) => figure!.rounds[round]!)) / time),
    )
  }

  /** Throws where the section is there without the figure: a name changed in one place would drop what hangs on it. */
  #find(section: string, caseName: string, name: string): Figure | undefined {
    const own = this.by(section, name)
    const figure = own.find((figure) => figure.case === caseName)
    if (own.length > 0 && figure === undefined) throw new Error(`${section} has no ${name}, ${caseName}`)
    return figure
  }
}

function spread(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) }
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
