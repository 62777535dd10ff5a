import assert from 'node:assert/strict'
import { exchangeCheckpoints } from '../../../server/src/core/services/checkpoint.ts'
import { openLoad } from '../load.ts'
import type { Suite } from '../suite.ts'
import { visitPoints } from '../visit-points.ts'
import { swapPoints } from './swap-points.ts'

export const namedPoints: Suite = {
  networks: ['btc', 'eth'],
  // Private exchanges go through them.
  optional: ['ltc'],
  patient: ['xmr'],
  options: { apis: 2, workers: 2 },
  cases: [
    {
      name: 'F1: processes killed at every named point pay everything exactly once',
      work: async (run, { isThorough, random }) => {
        const { fleet } = run
        const shop = await openLoad(run, { everyMs: 700, random })
        const missed = await visitPoints(fleet, isThorough)
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
