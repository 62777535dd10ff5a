import assert from 'node:assert/strict'
import { exchangeCheckpoints } from '../../../server/src/core/services/checkpoint.ts'
import { openShop } from '../load.ts'
import type { Course } from '../suite.ts'
import { tourOfPoints } from '../visit-points.ts'
import { swapPoints } from './swap-points.ts'

export const namedPoints: Course = {
  networks: ['btc', 'eth'],
  // Private exchanges go through them.
  optional: ['ltc'],
  patient: ['xmr'],
  options: { apis: 2, workers: 2 },
  drills: [
    {
      name: 'F1: processes killed at every named point pay everything exactly once',
      work: async (run, { isThorough, dice }) => {
        const { fleet } = run
        const shop = await openShop(run, { everyMs: 700, dice })
        const missed = await tourOfPoints(fleet, isThorough)
        await shop.close()
        assert.deepEqual(missed, [])
        const killed = new Set(fleet.all.flatMap((one) => one.killedAt()))
        assert.deepEqual([...killed].sort(), [...exchangeCheckpoints].sort())
        assert.deepEqual(shop.refused(), [])
      },
    },
    swapPoints,
  ],
}
