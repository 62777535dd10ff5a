/* The commands of a swap in a Turbos pool that takes as much of a coin as it uses. */
import type { Transaction, TransactionArgument } from '@mysten/sui/transactions'

type Pool = Readonly<{ address: string; versioned: string; pool: string; clock: string }>
type Swap = Readonly<{
  types: readonly [coinA: string, coinB: string, fee: string]
  a2b: boolean
  coin: TransactionArgument
  amount: bigint
  sqrtPriceLimit: bigint
  recipient: string
  /** Whether `amount` is the input; otherwise the output. */
  isExactIn?: boolean
  /** Base units: the least output, or the largest input. */
  threshold?: bigint
  deadlineMs?: bigint
}>

const never = 2n ** 64n - 1n

/** Swaps up to `amount` of the coin until the price reaches the limit; returns the coin that the pool pays, and the rest. */
export function addTurbosSwap(
  t: Transaction,
  { address, versioned, pool, clock }: Pool,
  { types, a2b, coin, amount, sqrtPriceLimit, recipient, isExactIn = true, threshold = 0n, deadlineMs = never }: Swap,
): readonly [TransactionArgument, TransactionArgument] {
  const coins = t.makeMoveVec({ type: `0x2::coin::Coin<${types[a2b ? 0 : 1]}>`, elements: [coin] })
  const terms = [t.pure.u64(amount), t.pure.u64(threshold), t.pure.u128(sqrtPriceLimit), t.pure.bool(isExactIn)]
  const swapped = t.moveCall({
    target: `${address}::swap_router::${a2b ? 'swap_a_b_with_return_' : 'swap_b_a_with_return_'}`,
    arguments: [
      ...[t.object(pool), coins, ...terms, t.pure.address(recipient), t.pure.u64(deadlineMs)],
      ...[t.object(clock), t.object(versioned)],
    ],
    typeArguments: [...types],
  }) as unknown as Readonly<Record<number, TransactionArgument>>
  return [swapped[0] as TransactionArgument, swapped[1] as TransactionArgument]
}
