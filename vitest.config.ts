import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const tests = fileURLToPath(new URL('test', import.meta.url))
const withCounts = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => readFileSync(`${tests}/${name}`, 'utf8').includes('/support/counts.ts'))

// `npm test` runs all that needs no Java; `npm run test:slow` those of it that can go on for longer, with their long counts;
// `npm run test:kafka` the judgement of Kafka's own classes.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/kafka/**', 'test/package/**'],
          setupFiles: ['test/support/seed.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'slow',
          include: withCounts.map((name) => `test/${name}`),
          setupFiles: ['test/support/seed.ts'],
          env: { MIRRORPID_LONG: '1' },
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'package',
          include: ['test/package/*.test.ts'],
          globalSetup: 'test/package/setup.ts',
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'kafka',
          include: ['test/kafka/*.test.ts'],
          setupFiles: ['test/support/seed.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
