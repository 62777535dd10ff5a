import { globSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import createReporter from './scripts/test-reporter.mjs'
import { partOf } from './test/support/part.ts'
import { PATIENCE_MS } from './test/support/patience.ts'
import { seed } from './test/support/seed.ts'

/**
 * `maxConcurrency`: the twelve networks of swaps are tested at a time. `isolate`: with a process per file, the imports of the program
 * are about a third of the work of a run. So the files of a worker share its modules, and a file undoes what it changes in them.
 */
const common = {
  setupFiles: ['test/support/setup-seed.ts'],
  isolate: false,
  testTimeout: 2 * PATIENCE_MS,
  hookTimeout: 2 * PATIENCE_MS,
  maxConcurrency: 12,
  exclude: ['**/node_modules/**'],
}

/** Files of `long`. A build server runs half of them, as the commit chooses (docs/decisions/0153). */
const longByHalves = [
  'test/chaos/{checkpoint-kills,deposit-reorgs,monero-reorgs,operations,races,stopped-processes,stuck-payouts,unanswered-requests}.test.ts',
  'test/pages/{docs,monero-explorer,playground,solana-sui-explorer}.test.ts',
  'test/pages/{console,widget}/*.test.ts',
  'test/pages/tracking/states.test.ts',
  'test/scenarios/{deposits-after-finish,double-spend-before-payout,exchange-expiry,fee-on-transfer-deposit,final-payout-reorg,late-deposit-refund,locked-monero,missing-input-dropped,missing-input-restored,monero-address-kinds,pinned-payout,stuck-payout-replacement}.test.ts',
  'test/scenarios/{fixed-rate-late-deposit,fixed-rate-unconfirmed,fixed-rate-underpayment,forced-native-transfers,held-wrong-asset,private-exchange-cases,split-hot-wallet,sweep-to-hot-wallet,uncredited-deposits,wrong-asset-refund}.test.ts',
  'sandbox/test/{dexes,markets,monero,restart,solana-swaps}.test.ts',
  'server/test/adapters/chains/monero/{extra-wallet,fake-deposits,outputs-ready,unmined,wallet,wallet-reorgs}.test.ts',
  'server/test/adapters/dex/{dynamic-fee-v3,hostile-pools,liquidity-book,sandbox-pools}.test.ts',
  'server/test/adapters/solana/{solana-nodes,unreadable-pools}.test.ts',
  'server/test/swap/api/{aggregator-swaps,alternatives,bad-inputs,deadline,fees,resending,solana-controlled-node,tracking,unlisted-tokens,unreported-fees}.test.ts',
]
const filesByHalves = globSync(longByHalves, { cwd: import.meta.dirname }).sort()
const inThisBuild = partOf(filesByHalves, 2)
const otherBuilds = filesByHalves.filter((file) => !inThisBuild.includes(file))

/**
 * Long, and each with a shorter relative in `nodes`: kills at every checkpoint, planted bugs, a hundred private exchanges, all
 * networks, fuzzing, thousands of hostile pools, further repairs of transactions. `npm run test:long` and `npm test -- --all`.
 */
const long = [
  ...longByHalves,
  'test/chaos/{check-credits,planted-bugs,restored-backup}.test.ts',
  'test/adversaries/adversaries.test.ts',
  'test/privacy/private-exchange-linkability.test.ts',
  'test/contracts/forge.test.ts',
  'test/interface/{bad-inputs,openapi-property}.test.ts',
  'server/test/events/{disabled-webhooks,failing-receivers,killed-workers}.test.ts',
  'server/test/admin/openapi.test.ts',
  'test/support/invariants.test.ts',
  'test/starts/{production,production-refusals,production-solana-sui,start-environments}.test.ts',
  'server/test/adapters/embedded-postgres.test.ts',
  'server/test/cli/{balances-command,environments,remote-admin}.test.ts',
  'server/test/conformance/{bcoin,litecoind,monerod}.test.ts',
  'server/test/exchange/deposits/many-deposits.test.ts',
  'server/test/exchange/payouts/{missing-inputs,reversed-payouts}.test.ts',
  'server/test/exchange/private/{bounds,crash-recovery,reorgs,stalled-networks}.test.ts',
  'server/test/exchange/settlement/{crash-recovery,held-refunds}.test.ts',
  'server/test/swap/api/{every-network,networks}.test.ts',
]

/** `all`: `npm test -- --all`. `long`: `npm run test:long`. */
const run = process.env['TEST_RUN']
/** Files of `nodes` that `npm run test:long` repeats, with twice as many swaps per contract. */
const repeated = run === 'long' ? ['server/test/swap/routing/differential/*.test.ts'] : []
const longSwaps = { TEST_SWAPS: process.env['TEST_SWAPS'] ?? '1200' }

/** A minute or more, and mostly waiting: started last, the run would wait for them alone. */
const SLOW =
  /\/test\/((adversaries|chaos|starts|privacy)\/|swap\/api\/networks|scenarios\/private-exchange-cases|exchange\/private\/)/

/**
 * Tests that mostly wait: for blocks, or for each other, because they trade on the same markets. Side by side, workers would stand
 * idle. So they are spread over the run, except its end.
 */
const WAITING = /\/test\/(swap\/api|scenarios|conformance|adapters\/chains\/monero)\//
/** Percent of the other files that start after the last one that waits. They are the smallest, and take seconds together. */
const END_PERCENT = 40

/** Without a cache Vitest begins with the largest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const slow = sorted.filter(({ moduleId }) => SLOW.test(moduleId))
    const waiting = sorted.filter((file) => WAITING.test(file.moduleId) && !slow.includes(file))
    const others = sorted.filter((file) => !slow.includes(file) && !waiting.includes(file))
    const spread = (others.length * (100 - END_PERCENT)) / 100
    const distance = 1 + Math.floor(spread / Math.max(waiting.length, 1))
    for (const [n, file] of waiting.entries()) others.splice(n * distance, 0, file)
    return [...slow, ...others]
  }
}

/** Tests that need nothing but Node and take about five seconds or more. */
const slowUnits = [
  'server/src/adapters/signers/{keystore,outflow}.test.ts',
  'server/src/adapters/solana/aggregator-swap.test.ts',
  'server/src/cli/price-commands.test.ts',
  'server/src/exchange/domain/lifecycle.test.ts',
  'server/src/lib/log.test.ts',
  'server/test/cli/lab.test.ts',
  'server/test/core/catalogue/address-patterns.test.ts',
  'server/src/adapters/router/thread-router.test.ts',
  'server/test/core/http/{bad-inputs,connections,openapi-headers,openapi-lint,openapi-property,optional-members}.test.ts',
  'server/test/swap/routing/{four-hops,gas-free-route,net-bound,net-of-gas,parallel-pools,shared-pools,solana-limits}.test.ts',
  'test/privacy/{figures,model}.test.ts',
  'sandbox/src/sui/sui-trader.test.ts',
  'sdk/src/cli/exchange-commands.test.ts',
  'sdk/test/package.test.ts',
  'test/test-summary.test.ts',
]

/** Long tests that need nothing but Node. `figures` compares a few figures in other runs. */
const longUnits = [
  'server/src/adapters/signers/large-journal.test.ts',
  'server/test/swap/routing/{independent-bounds,optimality,production-limits}.test.ts',
  'test/privacy/figures.test.ts',
]

/** Tests outside of the source tree that need nothing but Node. */
const units = [
  'server/test/core/{catalogue,http}/**/*.test.ts',
  'server/test/exchange/api/**/*.test.ts',
  'server/test/swap/routes/**/*.test.ts',
  'server/test/swap/routing/*.test.ts',
  'test/dexes/*.test.ts',
  'test/privacy/{assignment,document,guessable-ids,matcher,observed-payments,observer,run-exchanges}.test.ts',
]

// For the processes of the tests, and for the reporter, which prints it.
process.env['TEST_SEED'] = String(seed)

/**
 * `units` and `slow-units` need nothing but Node. `nodes` and `long` start one Postgres cluster and one set of sandbox chains for
 * all their files. `npm test` runs all but `long`, `npm test -- --unit` the first, `npm run test:long` the last; with a path,
 * `npm test` looks in all of them. With `npm test -- --all`, the files of `long` belong to `nodes` or `slow-units`, so that all share one start.
 */
export default defineConfig({
  test: {
    // For two cores. Four do not end sooner: a server polls its nodes while it waits, so that a slower run costs more CPU time.
    maxWorkers: 3,
    // V8 begins with a young generation of 1 MB and collects it often, in threads that the other workers' tests wait for.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=32'],
    sequence: { sequencer: LongestFirst },
    reporters: ['default', createReporter()],
    projects: [
      {
        test: {
          ...common,
          name: 'units',
          include: ['{lib,sandbox,schema,sdk,server}/src/**/*.test.ts', ...units, 'test/*.test.ts'],
          exclude: [...common.exclude, ...longUnits, ...slowUnits],
        },
      },
      { test: { ...common, name: 'slow-units', include: [...slowUnits, ...(run === 'all' ? longUnits : [])] } },
      {
        test: {
          ...common,
          name: 'nodes',
          include: ['{sandbox,sdk,test}/**/*.test.ts', 'server/test/**/*.test.ts'],
          exclude: [
            ...common.exclude,
            ...units,
            ...slowUnits,
            ...(run === 'all' ? otherBuilds : long),
            '{sandbox,sdk}/src/**',
            'test/*.test.ts',
          ],
          globalSetup: 'test/global-setup.ts',
          env: run === 'all' ? longSwaps : {},
        },
      },
      {
        test: {
          ...common,
          name: 'long',
          include: run === 'all' ? [] : [...long, ...longUnits, ...repeated],
          globalSetup: 'test/global-setup.ts',
          env: longSwaps,
        },
      },
    ],
  },
})
