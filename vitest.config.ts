import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import createReporter from './scripts/test-reporter.mjs'
import { PATIENCE_MS } from './test/support/patience.ts'

/** `maxConcurrency`: the twelve networks of swaps are tested at a time. */
const common = {
  testTimeout: 2 * PATIENCE_MS,
  hookTimeout: 2 * PATIENCE_MS,
  maxConcurrency: 12,
  exclude: ['**/node_modules/**'],
}

/** Minutes long, and mostly waiting: begun last, one of them would be waited for alone. */
const LONG = /\/test\/((chaos|starts|privacy)\/|swap\/api\/networks)/

/** They wait for each other, because they trade on the same markets: side by side, workers would stand idle. */
const IN_TURN = /\/server\/test\/swap\/api\//
/** Of so many files one is of those. */
const TURN = 4

/** Without a cache Vitest begins with the largest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const long = sorted.filter(({ moduleId }) => LONG.test(moduleId))
    const inTurn = sorted.filter((file) => IN_TURN.test(file.moduleId) && !long.includes(file))
    const others = sorted.filter((file) => !long.includes(file) && !inTurn.includes(file))
    for (const [n, file] of inTurn.entries()) others.splice(n * TURN, 0, file)
    return [...long, ...others]
  }
}

/** Tests outside of the source tree that need nothing but Node. */
const units = [
  'server/test/core/{catalogue,http}/**/*.test.ts',
  'server/test/exchange/api/**/*.test.ts',
  'server/test/swap/routes/**/*.test.ts',
  'server/test/swap/routing/*.test.ts',
  'server/test/cli/lab.test.ts',
]

/** `units` need nothing but Node; `nodes` share one Postgres cluster and one set of sandbox chains. */
export default defineConfig({
  test: {
    // For two cores: process-level tests start databases and chains of their own, and spend half of their time waiting.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', createReporter()],
    projects: [
      {
        test: {
          ...common,
          name: 'units',
          include: ['{lib,schema,server}/src/**/*.test.ts', ...units, 'test/*.test.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'nodes',
          include: ['{sandbox,test}/**/*.test.ts', 'server/test/**/*.test.ts'],
          exclude: [...common.exclude, ...units, 'test/*.test.ts'],
          globalSetup: 'test/global-setup.ts',
        },
      },
    ],
  },
})
