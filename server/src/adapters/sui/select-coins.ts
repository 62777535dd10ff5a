import { requireBalance, type Shortage } from '../../swap/ports/insufficient-balance.ts'
import type { Coin, ObjectRef } from './node.ts'

/** A transaction pays with at most 256 gas coins. */
const COINS_MAX = 250

const sumOf = (coins: readonly Coin[]): bigint => coins.reduce((sum, { units }) => sum + units, 0n)

/**
 * The largest coins that cover the amount. Throws INSUFFICIENT_BALANCE, which says so if only too many coins together cover it. `coins`:
 * from the largest on.
 */
export function selectCoins(
  coins: readonly Coin[],
  required: bigint,
  { of, field }: Pick<Shortage, 'of' | 'field'>,
): readonly ObjectRef[] {
  const usable = coins.slice(0, COINS_MAX)
  const [available, total] = [sumOf(usable), sumOf(coins)]
  // What more coins would add is of no use where all of them are too few, too.
  if (total < required) requireBalance({ of, field, required, available: total })
  requireBalance({ of, field, required, available, coins: { held: coins.length, most: COINS_MAX } })
  let sum = 0n
  let count = 0
  while (sum < required) sum += usable[count++]?.units ?? 0n
  return usable.slice(0, count).map(({ ref }) => ref)
}
