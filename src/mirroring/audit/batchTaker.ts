/** What takes the batches of a log from a stream of its files. */
export interface BatchTaker {
  /**
   * The batch at `position` of `view`, of the size and magic that framing has found. Of one too large for memory the view
   * holds the header alone.
   */
  framed(view: DataView, position: number, size: number, magic: number): void
  /** The batches that stand next are of a file that was changed last at this time, in milliseconds since 1970. */
  modifiedAt?(time: number): void
  /** A batch that cannot be trusted, or a part that cannot be read, stands next. */
  damaged(): void
}
