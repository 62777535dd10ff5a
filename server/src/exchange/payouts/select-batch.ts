import { accounts } from '../../core/domain/ledger/entries.ts'
import { staysInWallet } from '../../core/domain/payout-purpose.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { CONSOLIDATED_MAX, type OutputSettings, smallUnits, type WalletOutputs } from '../domain/output-plan.ts'
import type { Chain } from '../ports/chain.ts'
import type { KeyPath, Utxo } from '../ports/spend.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { StoreTx } from '../ports/store/store.ts'
import type { TransactionStore } from '../ports/store/transactions.ts'
import type { CheckDeps } from './check-payouts.ts'
import { spendDepths } from './payment.ts'

/** Outputs that one transaction considers as inputs. */
const UTXOS_MAX = 500

const isSamePath = (a: KeyPath, b: KeyPath): boolean => a.branch === b.branch && a.index === b.index

/**
 * The payouts that may share a transaction with the first one. A consolidation spends other outputs than a payout does. Splits
 * come last: a batch that the wallet does not cover loses its last payouts.
 */
export function selectBatch(queue: readonly Payout[], first: Payout, canBatch: boolean): readonly Payout[] {
  const isAlone = !canBatch || first.purpose === 'consolidate'
  const batch = queue.filter(({ id, from, purpose }) =>
    isAlone ? id === first.id : isSamePath(from, first.from) && purpose !== 'consolidate',
  )
  return [...batch.filter((payout) => !staysInWallet(payout)), ...batch.filter(staysInWallet)]
}

export const listSpendable = (transactions: TransactionStore, { network }: Chain) =>
  transactions.listSpendable(network.id, spendDepths(network), UTXOS_MAX)

/** The outputs that this batch may spend: a consolidation spends the small ones, and all of them. */
export async function listInputs(
  { settings, assetById }: Pick<CheckDeps, 'settings' | 'assetById'>,
  tx: StoreTx,
  chain: Chain,
  [first]: readonly Payout[],
  fee: FeeRate,
): Promise<readonly Utxo[]> {
  if (first?.purpose !== 'consolidate') return listSpendable(tx.transactions, chain)
  const walletUnits = await tx.ledger.balance(accounts.wallet, first.assetId)
  const inputFeeUnits = chain.sender.depositFee?.(assetById(first.assetId), fee) ?? 0n
  return listSmall(tx, chain, { walletUnits, inputFeeUnits }, settings.outputs)
}

/** The small outputs that a consolidation merges, at most `CONSOLIDATED_MAX`. Each is worth twice the fee of spending it. */
export function listSmall(
  tx: StoreTx,
  { network }: Pick<Chain, 'network'>,
  { walletUnits, inputFeeUnits }: Pick<WalletOutputs, 'walletUnits' | 'inputFeeUnits'>,
  settings: OutputSettings,
): Promise<readonly Utxo[]> {
  const range = { min: 2n * inputFeeUnits, max: smallUnits(walletUnits, settings) }
  return tx.transactions.listSmall(network.id, spendDepths(network), range, CONSOLIDATED_MAX)
}
