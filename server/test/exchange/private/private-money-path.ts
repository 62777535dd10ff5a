import type { PrivatePlan } from '../../../src/exchange/domain/private-plan.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/** In bitcoin: above the minimum deposit, below the limits and the wallet balances. */
export const SMALL = COIN / 200n

/** No delays; 0.5 % is withheld. The row adds the quote of each leg. */
export const plan: Omit<PrivatePlan, 'quoted'> = {
  privateType: 'efficient',
  delaysMs: [0, 0],
  withheldPpm: 5_000,
  stallMs: 3_600_000,
  considered: [],
}

const BLOCKS_MAX = 30

/** Three chains with funded wallets: bitcoin and ether at the ends, litecoin as the intermediary. */
export async function startPrivateMoneyPath() {
  const fixture = await startMoneyPath({ withLitecoin: true })
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER, ltc: 10_000n * COIN })
  return {
    ...fixture,
    /** Mines blocks and runs the workers until the condition holds. */
    async mineBlocksUntil(condition: () => Promise<boolean>): Promise<void> {
      for (let n = 0; n < BLOCKS_MAX; n++) {
        if (await condition()) return
        await fixture.mineBlocks(1)
      }
      throw new Error(`the condition did not hold within ${BLOCKS_MAX} blocks`)
    },
  }
}
