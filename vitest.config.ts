import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import createReporter from './scripts/test-reporter.mjs'

const globalSetup = 'test/global-setup.ts'

export default defineConfig({
  test: {
    include: ['{schema,server,sandbox,test}/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    ...(existsSync(globalSetup) ? { globalSetup } : {}),
    // Process-level tests start databases and chains of their own: more workers only make each other slow.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', createReporter()],
  },
})
