import { defineConfig } from 'vitest/config'

// `npm test` runs all that needs no Java; `npm run test:kafka` the judgement of Kafka's own classes.
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
