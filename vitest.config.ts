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

/** Minutes long, and mostly waiting: one of them at a time leaves the processor to the others. */
const LONG = /\/test\/((faults|starts|privacy)\/|swap\/api\/networks)/
/** The longest, so that none of them is waited for alone in the end. */
const LONGEST = [
  'faults/planted-bugs',
  'faults/killed-at-every',
  'faults/operations',
  'privacy/',
  'faults/killed-crashed',
]
/** So many files are tested meanwhile by the other workers. */
const MEANWHILE = 11

/** They wait for each other, because they trade on the same markets: side by side, workers would stand idle. */
const IN_TURN = /\/server\/test\/swap\/api\//
/** Of so many files one is of those. */
const TURN = 4

const spread = <T>(files: T[], among: readonly T[], every: number): T[] =>
  among.reduce((all, file, n) => all.toSpliced(n * (every + 1), 0, file), files)

/** Without a cache Vitest begins with the largest files. */
class Interleaved extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((part) => moduleId.includes(`/test/${part}`))
      return place < 0 ? LONGEST.length : place
    }
    const long = sorted.filter(({ moduleId }) => LONG.test(moduleId)).sort((a, b) => placeOf(a) - placeOf(b))
    const inTurn = sorted.filter((file) => IN_TURN.test(file.moduleId) && !long.includes(file))
    const others = sorted.filter((file) => !long.includes(file) && !inTurn.includes(file))
    return spread(spread(others, inTurn, TURN), long, MEANWHILE)
  }
}

/** `units` need nothing but Node; `nodes` share one Postgres cluster and one set of sandbox chains. */
export default defineConfig({
  test: {
    // For two cores: process-level tests start databases and chains of their own, and spend half of their time waiting.
    maxWorkers: 3,
    sequence: { sequencer: Interleaved },
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
