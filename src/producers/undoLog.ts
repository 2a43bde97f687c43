/**
 * How to take back what an append of several batches has changed for good before its end. A step for each change, so that
 * an append costs what it holds, not what the state holds.
 */
export class UndoLog {
  #steps: (() => void)[] | null = null

  /** Whether changes must leave a step here. */
  get isOn(): boolean {
    return this.#steps !== null
  }

  begin(): void {
    this.#steps ??= []
  }

  /** How to undo a change; the changes after it are undone before. */
  push(step: () => void): void {
    this.#steps?.push(step)
  }

  /** The append was refused: all is as it was at `begin`. */
  undo(): void {
    const steps = this.#steps ?? []
    this.#steps = null
    for (const step of steps.reverse()) step()
  }

  /** The append was taken. */
  forget(): void {
    this.#steps = null
  }
}
