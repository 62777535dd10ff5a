import type { AppError } from '../../core/domain/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { OutflowLimitError } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { StoreTx } from '../ports/store/store.ts'
import { exchangeJobs, staysInWallet } from './payment.ts'

/** A payout that cannot be signed now is tried again after this time. If only it waits, the time grows: `postpone`. */
export const HOLD_MS = 5_000

type HoldDeps = Readonly<{ log: Log }>

/** Holds a payout that cannot be built, signed or executed, for the operator. The queue continues without it. */
export async function refusePayout({ log }: HoldDeps, tx: StoreTx, payout: Payout, error: AppError): Promise<void> {
  const { code, cause } = error
  const { id, network, purpose, exchangeId } = payout
  log.error({ network, payoutId: id, purpose, exchangeId, err: error }, 'payout held for the operator')
  await tx.payouts.hold([id], code, null)
  await tx.outflow.release([id])
  await tx.alarms.raise(
    `payout:${id}`,
    code === 'INTERNAL' ? 'a payout cannot be built or signed' : 'a payout would fail on its chain',
    { code, reason: cause instanceof Error ? cause.message : error.message, purpose, exchangeId },
  )
  await tx.wake(exchangeJobs([payout]))
}

/** Holds a payout above the signer's own limit: for the operator if it exceeds one transaction, else until the window moves. */
export async function holdForSignerLimit(
  tx: StoreTx,
  payout: Payout,
  { message, window }: OutflowLimitError,
): Promise<void> {
  const isTooLarge = window === 'transaction'
  if (isTooLarge) await tx.payouts.hold([payout.id], 'LIMIT', null)
  else await tx.payouts.postpone([payout.id])
  await tx.outflow.release([payout.id])
  await tx.alarms.raise(`signer-limit:${payout.assetId}`, "the signer's own outflow limit is reached", {
    payoutId: payout.id,
    reason: message,
  })
  if (isTooLarge) await tx.wake(exchangeJobs([payout]))
}

/** Cancels splits and consolidations, which are planned again. Returns the other payouts. */
async function cancelWithinWallet(
  { log }: HoldDeps,
  tx: StoreTx,
  payouts: readonly Payout[],
): Promise<readonly Payout[]> {
  for (const { id, network, purpose } of payouts.filter(staysInWallet)) {
    await tx.payouts.void(id)
    log.info({ network, payoutId: id, purpose }, 'not worth its fee, or not covered now: cancelled')
  }
  return payouts.filter((payout) => !staysInWallet(payout))
}

/** Holds payouts that the hot wallet does not cover. The queue waits with them until the wallet is filled. */
export async function holdForFunds(
  { log }: HoldDeps,
  tx: StoreTx,
  { network }: Chain,
  uncovered: readonly Payout[],
): Promise<void> {
  const payouts = await cancelWithinWallet({ log }, tx, uncovered)
  if (payouts.length === 0) return
  const ids = payouts.map(({ id }) => id)
  // A deposit address has one sweep, so the others cannot wait with it.
  if (payouts.every(({ purpose }) => purpose === 'sweep')) await tx.payouts.postpone(ids)
  else {
    await tx.payouts.hold(ids, null, HOLD_MS)
    await tx.payouts.deferYounger(ids)
  }
  await tx.outflow.release(ids)
  await tx.alarms.raise(`wallet:${network.id}`, 'the hot wallet does not cover its queue', { payouts: payouts.length })
  log.warn({ network: network.id, payouts: payouts.length }, 'hot wallet does not cover its queue')
}

/** The network's fee is out of proportion to these payouts: they wait until it falls. */
export async function waitForFee(
  { log }: HoldDeps,
  tx: StoreTx,
  { network }: Chain,
  expensive: readonly Payout[],
): Promise<void> {
  const payouts = await cancelWithinWallet({ log }, tx, expensive)
  if (payouts.length === 0) return
  const ids = payouts.map(({ id }) => id)
  await tx.payouts.postpone(ids)
  await tx.outflow.release(ids)
  await tx.alarms.raise(`payout-fee:${network.id}`, 'payouts wait because their network fee is out of proportion', {
    payouts: payouts.length,
    payoutId: ids[0],
  })
  log.warn({ network: network.id, payouts: payouts.length }, 'payouts wait for a lower network fee')
}
