import { memoryStorage } from './memoryStorage.ts'
import { overlayStorage } from './overlayStorage.ts'
import type { LogStorage } from './storage.ts'

/**
 * What is in `below`, for a log that shows what opening it would make of it. Changes stay in memory, but for producer
 * snapshots, which are not made at all: those of all segments together grow with segments times producers.
 */
export function previewStorage(below: LogStorage): LogStorage {
  return { ...overlayStorage(below, memoryStorage()), isPreview: true }
}
