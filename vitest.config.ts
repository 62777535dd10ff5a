import { defineConfig } from 'vitest/config'
import createReporter from './scripts/test-reporter.mjs'

const common = { testTimeout: 60_000, hookTimeout: 90_000, exclude: ['**/node_modules/**'] }

/** `units` need nothing but Node; `nodes` share one Postgres cluster and one set of sandbox chains. */
export default defineConfig({
  test: {
    // For two cores: process-level tests start databases and chains of their own, and spend half of their time waiting.
    maxWorkers: 3,
    reporters: ['default', createReporter()],
    projects: [
      {
        test: {
          ...common,
          name: 'units',
          include: [
            '{schema,server}/src/**/*.test.ts',
            'server/test/{catalogue,http}/**/*.test.ts',
            'server/test/swap/*.test.ts',
            'test/*.test.ts',
          ],
        },
      },
      {
        test: {
          ...common,
          name: 'nodes',
          include: ['{sandbox,test}/**/*.test.ts', 'server/test/**/*.test.ts'],
          exclude: [
            ...common.exclude,
            'server/test/{catalogue,http}/**',
            'server/test/swap/*.test.ts',
            'test/*.test.ts',
          ],
          globalSetup: 'test/global-setup.ts',
        },
      },
    ],
  },
})
