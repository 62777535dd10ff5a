import assert from 'node:assert/strict'
import { injectFaults } from '../inject-faults.ts'
import { STARTS_TAKE_CORES } from '../interruptions.ts'
import { startLoad } from '../load.ts'
import type { Suite } from '../suite.ts'

/** Interval between customers: about 600 in ten minutes. */
const EVERY_MS = 1_000

export const randomFaults: Suite = {
  networks: ['btc', 'eth'],
  // The intermediary of private exchanges.
  optional: ['ltc'],
  options: { apis: 2, workers: 3, overload: STARTS_TAKE_CORES, proxied: { networks: ['ltc'] }, fixedFees: ['ltc'] },
  cases: [
    {
      name: 'F2, F3, F8: pays every exchange once despite killed processes, Postgres crashes and deep reorganisations',
      work: async (run, { randomMs, random, log, note }) => {
        const load = await startLoad(run, { everyMs: EVERY_MS, random, adversaryPercent: 50 })
        const before = run.fleet.cluster.countFaults()
        const { processMs, postgresMs, startKills } = await injectFaults(run, randomMs, random, log)
        await load.close()
        note('ready again after a kill', formatTimes(processMs))
        note('answering again after a crash of Postgres', formatTimes(postgresMs))
        const { crashes, reorgs } = run.fleet.cluster.countFaults()
        note('kills of starting processes', String(startKills))
        const counts = [run.fleet.countFaults().kills, startKills, crashes - before.crashes, reorgs - before.reorgs]
        assert.ok(
          counts.every((count) => count > 0),
          `a kind of fault was not injected: ${counts}`,
        )
        assert.deepEqual(load.errors(), [])
      },
    },
  ],
}

function formatTimes(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => `${((sorted[Math.ceil(sorted.length * share) - 1] ?? 0) / 1000).toFixed(1)} s`
  return `median ${at(0.5)}, longest ${at(1)}`
}
