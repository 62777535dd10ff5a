import assert from 'node:assert/strict'
import { exchangeCheckpoints } from '../../../server/src/core/services/checkpoint.ts'
import { STARTS_TAKE_CORES } from '../interruptions.ts'
import { killAtCheckpoints } from '../kill-at-checkpoints.ts'
import { startLoad } from '../load.ts'
import type { Suite } from '../suite.ts'
import { swapCheckpointKills } from './swap-checkpoint-kills.ts'

export const checkpointKills: Suite = {
  networks: ['btc', 'eth'],
  // The intermediaries of private exchanges.
  optional: ['ltc'],
  optionalSlow: ['xmr'],
  options: { apis: 2, workers: 2, overload: STARTS_TAKE_CORES, proxied: { networks: ['ltc'] }, fixedFees: ['ltc'] },
  cases: [
    {
      name: 'F1: pays every exchange exactly once if processes are killed at every checkpoint',
      work: async (run, { isThorough, random }) => {
        const { fleet } = run
        const load = await startLoad(run, { everyMs: 700, random, adversaryPercent: 50 })
        const missed = await killAtCheckpoints(fleet, isThorough)
        await load.close()
        assert.deepEqual(missed, [])
        const killed = new Set(fleet.all.flatMap((one) => one.killedAt()))
        assert.deepEqual([...killed].sort(), [...exchangeCheckpoints].sort())
        assert.deepEqual(load.errors(), [])
      },
    },
    swapCheckpointKills,
  ],
}
