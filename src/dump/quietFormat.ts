import type { DumpFormat } from './dumpFormat.ts'
import { TextBuffer } from './textBuffer.ts'

/** Prints nothing: findings are told elsewhere. */
export class QuietFormat implements DumpFormat {
  readonly out = new TextBuffer()
  begin(): void {}
  beginFile(): void {}
  logHead(): void {}
  batch(): void {}
  record(): void {}
  controlRecord(): void {}
  legacyRecord(): void {}
  endBatch(): void {}
  trailing(): void {}
  indexEntry(): void {}
  timeIndexEntry(): void {}
  transaction(): void {}
  producer(): void {}
  emptyIndex(): void {}
  passedSanityCheck(): void {}
  endFile(): void {}
  end(): void {}
}
