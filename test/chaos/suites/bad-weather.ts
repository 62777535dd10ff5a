import assert from 'node:assert/strict'
import { openLoad } from '../load.ts'
import { storm } from '../storm.ts'
import type { Suite } from '../suite.ts'

/** Purchases a second: some hundreds in ten minutes. */
const EVERY_MS = 1_000

export const badWeather: Suite = {
  networks: ['btc', 'eth'],
  // Private exchanges go through it.
  optional: ['ltc'],
  options: { apis: 2, workers: 3 },
  cases: [
    {
      name: 'F2, F3, F8: killed processes, a crashing Postgres and deep reorganisations together cost nobody anything',
      work: async (run, { stormMs, random, say, note }) => {
        const shop = await openLoad(run, { everyMs: EVERY_MS, random })
        const before = run.fleet.cluster.damage()
        const { processMs, postgresMs } = await storm(run, stormMs, random, say)
        await shop.close()
        note('ready again after a kill', spread(processMs))
        note('answering again after a crash of Postgres', spread(postgresMs))
        const { crashes, reorgs } = run.fleet.cluster.damage()
        const happened = [run.fleet.kills(), crashes - before.crashes, reorgs - before.reorgs]
        assert.ok(
          happened.every((count) => count > 0),
          `nothing happened: ${happened}`,
        )
        assert.deepEqual(shop.refused(), [])
      },
    },
  ],
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => `${((sorted[Math.ceil(sorted.length * share) - 1] ?? 0) / 1000).toFixed(1)} s`
  return `median ${at(0.5)}, longest ${at(1)}`
}
