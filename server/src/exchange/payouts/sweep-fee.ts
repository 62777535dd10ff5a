import type { Asset } from '../../core/domain/asset.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { smallest } from '../../lib/bigint.ts'
import type { Chain } from '../ports/chain.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store } from '../ports/store/store.ts'

/**
 * The native balance of a deposit address, less what its transactions that are in no block yet will take: an earlier sweep may still
 * be under way. The ledger has no account for it, so it is read from the chain.
 */
export async function readGasUnits(
  { transactions }: Pick<Store, 'transactions'>,
  { network, reader }: Chain,
  wallet: string,
  native: Asset,
): Promise<bigint> {
  // Before the balance: a transaction that is mined in between counts twice, and the sweep is planned again.
  const minedNonce = await reader.minedNonce?.(wallet)
  const taken =
    minedNonce === undefined ? 0n : await transactions.unminedUnits(network.id, wallet, minedNonce, native.id)
  return (await reader.balance(wallet, native)) - taken
}

/**
 * The fee rate of a sweep: what its deposit address can pay, up to the rate of other transactions. Null if that does not
 * pay the next block. `gasUnits`: the native balance, less what the sweep itself moves.
 */
export function sweepFee(fee: FeeRate, gasUnits: bigint, gasLimit: bigint): FeeRate | null {
  const affordable = (gasUnits - (fee.l1Fee ?? 0n)) / gasLimit
  return affordable < (fee.least ?? fee.rate) ? null : { ...fee, rate: smallest(fee.rate, affordable) }
}

/** The fee rose after the sweep was planned: its deposits can be swept again later, with as much gas as is needed then. */
export async function cancelSweep(store: Store, { id }: Payout): Promise<void> {
  await store.transaction(async (tx) => {
    if (!(await tx.payouts.void(id))) return
    await tx.operator.releaseSweptDeposits(id)
    await tx.alarms.clear(`payout:${id}`)
  })
}
