import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import type { Job } from '../../core/ports/jobs.ts'
import type { Chain } from '../ports/chain.ts'
import type { StoredPayout } from '../ports/signer.ts'
import type { KeyPath, Payment } from '../ports/spend.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { SpendDepths } from '../ports/store/transactions.ts'

/** Our own change may be spent once it is in a block. Monero locks every output for ten blocks. */
export const spendDepths = ({ confirmations, bitcoin }: Network): SpendDepths => ({
  others: confirmations,
  own: bitcoin ? 1 : confirmations,
})

/** Of payouts to ourselves. */
export const noExchange = { exchangeId: null, executionId: null, depositId: null, leg: null, memo: null } as const

/** Wakes the exchanges of these payouts. */
export const exchangeJobs = (payouts: readonly Pick<Payout, 'exchangeId'>[]): readonly Job[] =>
  payouts.flatMap(({ exchangeId }) => (exchangeId === null ? [] : [{ kind: 'exchange', id: exchangeId }]))

/** Refund of a second leg: pays the proceeds of its order. Of a first leg: pays the deposit, and its order was cancelled. */
export const paysOrder = ({ purpose, leg }: Payout): boolean =>
  purpose === 'payout' || (purpose === 'refund' && leg !== 0)

/** Alarms about an unsettled transaction; cleared when it is confirmed or invalidated. */
export const transactionAlarms = (transactionId: string): readonly string[] =>
  ['broadcast', 'inputs', 'orphaned', 'release', 'stuck', 'unmined'].map((alarm) => `${alarm}:${transactionId}`)

/** The scopes whose pause stops this payout (I-25). */
export const pauseScopes = ({ network, assetId, partnerId }: Payout): readonly string[] => [
  'all',
  'payouts:all',
  `network:${network}`,
  `payouts:${network}`,
  `asset:${assetId}`,
  ...(partnerId === null ? [] : [`partner:${partnerId}`]),
]

export function toPayment(
  { assetById }: Readonly<{ assetById(id: AssetId): Asset }>,
  { id, address, memo, assetId, units }: Payout,
): Payment {
  return { payoutId: id, address, memo, asset: assetById(assetId), units }
}

/** The payout as the signer compares it with the intent. */
export function toStoredPayout(payout: Payout): StoredPayout {
  const { id, purpose, toKeyIndex, network, address, memo, assetId, units, exchangeId, depositId, owedFrom, mac } =
    payout
  return { id, purpose, toKeyIndex, network, address, memo, assetId, units, exchangeId, depositId, owedFrom, mac }
}

/** The address whose lane a key path uses: the hot wallet, or the deposit address to sweep. */
export function walletOf(chain: Chain, path: KeyPath): string {
  return path.branch === 'deposit' ? chain.addresses.deposit(path.index).address : chain.addresses.hot()
}

/**
 * Reports an unexpected error as INTERNAL, so that a bug in building or signing one payout does not stop the queue. Not for
 * database calls: their failure is an outage and must not count against the payout.
 */
export async function wrapBuildError<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('INTERNAL', 'a payout cannot be built or signed', { cause: error })
  }
}
