/* The commands of a swap in a Cetus pool that takes as much of a coin as it uses. */
import type { Transaction, TransactionArgument } from '@mysten/sui/transactions'

type Result = Readonly<Record<number, TransactionArgument>>

/** Swaps up to `amount` of the coin until the price reaches the limit; returns the coin that the pool pays. */
export function addCetusSwap(
  t: Transaction,
  { address, config, pool, clock }: Readonly<{ address: string; config: string; pool: string; clock: string }>,
  swap: Readonly<{
    types: readonly [string, string]
    a2b: boolean
    coin: TransactionArgument
    amount: bigint
    sqrtPriceLimit: bigint
  }>,
): TransactionArgument {
  const { types, a2b, coin, amount, sqrtPriceLimit } = swap
  const [typeIn, typeOut] = a2b ? types : [types[1], types[0]]
  const call = (target: string, values: TransactionArgument[], typeArguments: readonly string[]) =>
    t.moveCall({ target, arguments: values, typeArguments: [...typeArguments] }) as unknown as Result
  const at = (result: Result, index: number) => result[index] as TransactionArgument
  const shared = [t.object(config), t.object(pool)]
  const inputs = [t.pure.bool(a2b), t.pure.bool(true), t.pure.u64(amount), t.pure.u128(sqrtPriceLimit)]
  const swapped = call(`${address}::pool::flash_swap`, [...shared, ...inputs, t.object(clock)], types)
  const receipt = at(swapped, 2)
  const owed = at(call(`${address}::pool::swap_pay_amount`, [receipt], types), 0)
  const paid = at(call('0x2::coin::split', [coin, owed], [typeIn]), 0)
  const payment = at(call('0x2::coin::into_balance', [paid], [typeIn]), 0)
  const zero = at(call('0x2::balance::zero', [], [typeOut]), 0)
  call('0x2::balance::destroy_zero', [at(swapped, a2b ? 0 : 1)], [typeIn])
  const payments = a2b ? [payment, zero] : [zero, payment]
  call(`${address}::pool::repay_flash_swap`, [...shared, ...payments, receipt], types)
  return at(call('0x2::coin::from_balance', [at(swapped, a2b ? 1 : 0)], [typeOut]), 0)
}
