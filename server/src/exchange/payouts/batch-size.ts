import type { Utxo } from '../ports/spend.ts'

/**
 * How many payouts leave in the next transaction where it should be one, for who shares a transaction is seen to belong
 * together: as many as it takes for all of them to leave now by half of the coins that could pay any of them. The other
 * half is for what comes next, since change is locked for long.
 */
export function batchSize(payouts: readonly Readonly<{ units: bigint }>[], coins: readonly Utxo[]): number {
  const able = coins.filter((coin) => payouts.every(({ units }) => units < coin.units)).length
  return Math.ceil(payouts.length / Math.max(1, Math.floor(able / 2)))
}
