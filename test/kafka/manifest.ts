import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SegmentFacts } from './judge.js'

export interface ManifestFile {
  size: number
  sha256: string
  /** Of `.log` and `.checkpoint` files. */
  facts?: SegmentFacts
}

export interface ManifestPartition {
  holds: string
  topicSettings?: Record<string, string>
  producers?: Record<string, Record<string, string>>
  steps?: string[]
  files: Record<string, ManifestFile>
}

export interface Manifest {
  kafkaVersion: string
  command: string
  partitions: Record<string, ManifestPartition>
}

export const committed = fileURLToPath(new URL('../fixtures/kafka-4.3.1', import.meta.url))

export async function readManifest(directory: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8'))
}
