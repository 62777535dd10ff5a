import type { PrivatePlan } from '../../../src/exchange/domain/private-plan.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/** Well above the least, well below what the wallets hold. */
export const SMALL = COIN / 200n

/** Nothing waits, and half a percent is withheld. */
export const plan: PrivatePlan = {
  privateType: 'efficient',
  delaysMs: [0, 0],
  withheldPpm: 5_000,
  stallMs: 3_600_000,
  considered: [],
}

const BLOCKS_MAX = 30

/** Three chains with full wallets: bitcoin and ether at the ends, litecoin between them. */
export async function startPrivateMoneyPath() {
  const fixture = await startMoneyPath({ three: true })
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER, ltc: 10_000n * COIN })
  return {
    ...fixture,
    /** Mines and lets every worker take its turn, until the condition holds. */
    async blocksUntil(condition: () => Promise<boolean>): Promise<void> {
      for (let n = 0; n < BLOCKS_MAX; n++) {
        if (await condition()) return
        await fixture.blocks(1)
      }
      throw new Error(`not within ${BLOCKS_MAX} blocks`)
    },
  }
}
