import type { AppError } from '../../core/domain/errors.ts'
import { accounts } from '../../core/domain/ledger/entries.ts'
import { staysInWallet } from '../../core/domain/payout-purpose.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { OutflowLimitError } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import { exchangeJobs } from './payment.ts'

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

/** How soon after the wallet is filled a payout that waits for it is tried again. */
const FUNDS_MAX_MS = 20_000

/**
 * Holds payouts that the hot wallet does not cover. Others pass them, also younger ones of the same asset (M7): what is promised
 * is covered, so that only refunds, whose deposits are swept, and outputs that are locked can be missing for a while.
 */
export async function holdForFunds(
  deps: HoldDeps,
  tx: StoreTx,
  { network }: Chain,
  uncovered: readonly Payout[],
): Promise<void> {
  const payouts = await cancelWithinWallet(deps, tx, uncovered)
  if (payouts.length === 0) return
  const ids = payouts.map(({ id }) => id)
  await tx.payouts.postpone(ids, payouts.every(({ purpose }) => purpose === 'sweep') ? undefined : FUNDS_MAX_MS)
  await reportWaiting(deps, tx, payouts, `wallet:${network.id}`, 'the hot wallet does not cover its queue')
}

/** Holds a payout that the hot wallet's account does not cover, before anything is asked of a node. True = it is held. */
export async function holdIfUncovered(
  deps: HoldDeps & Readonly<{ store: Store }>,
  chain: Chain,
  first: Payout,
): Promise<boolean> {
  if (first.from.branch !== 'hot' || staysInWallet(first)) return false
  if ((await deps.store.ledger.balance(accounts.wallet, first.assetId)) >= first.units) return false
  await deps.store.transaction(async (tx) => {
    const [payout] = await tx.payouts.find([first.id])
    if (payout?.state === 'reserved') await holdForFunds(deps, tx, chain, [payout])
  })
  return true
}

/** The network's fee is out of proportion to these payouts: they wait until it falls. */
export async function waitForFee(
  deps: HoldDeps,
  tx: StoreTx,
  { network }: Chain,
  expensive: readonly Payout[],
): Promise<void> {
  const payouts = await cancelWithinWallet(deps, tx, expensive)
  if (payouts.length === 0) return
  await tx.payouts.postpone(payouts.map(({ id }) => id))
  const alarm = 'payouts wait because their network fee is out of proportion'
  await reportWaiting(deps, tx, payouts, `payout-fee:${network.id}`, alarm)
}

/** What waits counts for no limit, and the operator sees it. */
async function reportWaiting(
  { log }: HoldDeps,
  tx: StoreTx,
  payouts: readonly Payout[],
  subject: string,
  alarm: string,
): Promise<void> {
  const ids = payouts.map(({ id }) => id)
  await tx.outflow.release(ids)
  await tx.alarms.raise(subject, alarm, { payouts: ids.length, payoutId: ids[0] })
  log.warn({ subject, payouts: ids.length }, alarm)
}
