import type { AppError } from '../../core/domain/errors.ts'
import { accounts } from '../../core/domain/ledger/entries.ts'
import { isUtxoFamily } from '../../core/domain/network.ts'
import { staysInWallet } from '../../core/domain/payout-purpose.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { OutflowLimitError } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import { exchangeJobs, spendDepths } from './payment.ts'

/** A payout that cannot be signed now is tried again after this time. If only it waits, the time grows: `postpone`. */
export const POSTPONE_MS = 5_000

type HoldDeps = Readonly<{ log: Log }>

/** Holds a payout that cannot be built, signed or executed, for the operator. The queue continues without it. */
export async function refusePayout({ log }: HoldDeps, tx: StoreTx, payout: Payout, error: AppError): Promise<void> {
  const { code, cause } = error
  const { id, network, purpose, exchangeId } = payout
  log.error({ network, payoutId: id, purpose, exchangeId, err: error }, 'payout held for the operator')
  await tx.payouts.holdForOperator([id], code)
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
  const { id, assetId, purpose, exchangeId } = payout
  await tx.outflow.release([id])
  if (window !== 'transaction')
    return postpone(tx, [payout], { kind: 'signer-limit', of: assetId, detail: { reason: message } })
  await tx.payouts.holdForOperator([id], 'LIMIT')
  await tx.alarms.raise(`payout:${id}`, "a payout is above the signer's limit of one transaction", {
    code: 'LIMIT',
    reason: message,
    purpose,
    exchangeId,
  })
  await tx.wake(exchangeJobs([payout]))
}

/** What payouts wait for without a decision, with the alarm's text. Each alarm ends when no payout waits for its cause. */
const waits = {
  limit: 'a rolling outflow limit is reached',
  'signer-limit': "the signer's own outflow limit is reached",
  wallet: 'the hot wallet does not cover its queue',
  outputs: 'payouts wait for outputs that transactions in progress hold',
  'payout-fee': 'payouts wait because their network fee is out of proportion',
} as const
export const waitKinds = Object.keys(waits)

type Wait = Readonly<{
  kind: keyof typeof waits
  of: string
  detail?: Record<string, unknown>
  maxMs?: number
  /** Age of the oldest payout before the alarm. Default 0. */
  alarmAfterMs?: number
}>

/** Tries these payouts again later. The alarm names the oldest of all that wait for the same. */
export async function postpone(
  tx: StoreTx,
  payouts: readonly Payout[],
  { kind, of, detail = {}, maxMs, alarmAfterMs = 0 }: Wait,
): Promise<void> {
  const subject = `${kind}:${of}`
  const ids = payouts.map(({ id }) => id)
  await tx.payouts.postpone(ids, subject, maxMs)
  const oldest = await tx.payouts.oldestWaiting(subject)
  if (oldest === null || Date.now() - oldest.createdAt.getTime() < alarmAfterMs) return
  await tx.alarms.raise(subject, waits[kind], {
    ...detail,
    payouts: oldest.count,
    payoutId: oldest.id,
    exchangeId: oldest.exchangeId,
    assetId: oldest.assetId,
    units: oldest.units.toString(),
    since: oldest.createdAt.toISOString(),
  })
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
/** Blocks that outputs may be late, and the least time, before the alarm that payouts wait for them. */
const LATE_BLOCKS = 6
const LATE_MS_MIN = 600_000

/**
 * Postpones payouts that the hot wallet does not cover. Others pass them, also younger ones of the same asset (M7): what is promised
 * is covered, so that only refunds, whose deposits are swept, and outputs that are locked can be missing for a while.
 */
export async function postponeForFunds(
  deps: HoldDeps,
  tx: StoreTx,
  { network }: Chain,
  uncovered: readonly Payout[],
): Promise<void> {
  const payouts = await cancelWithinWallet(deps, tx, uncovered)
  for (const [assetId, ofAsset] of Map.groupBy(payouts, ({ assetId }) => assetId)) {
    const maxMs = ofAsset.every(({ purpose }) => purpose === 'sweep') ? {} : { maxMs: FUNDS_MAX_MS }
    // A wallet of outputs that holds enough is short only until its own transactions are in blocks.
    const walletUnits = isUtxoFamily(network) ? await tx.ledger.balance(accounts.wallet, assetId) : 0n
    const late = ofAsset.filter(({ units }) => units < walletUnits)
    const missing = ofAsset.filter(({ units }) => units >= walletUnits)
    const alarmAfterMs = Math.max((spendDepths(network).own + LATE_BLOCKS) * network.blockTimeMs, LATE_MS_MIN)
    await postponeUncounted(deps, tx, late, { kind: 'outputs', of: assetId, ...maxMs, alarmAfterMs })
    await postponeUncounted(deps, tx, missing, { kind: 'wallet', of: assetId, ...maxMs })
  }
}

/** Postpones a payout that the hot wallet's account does not cover, before anything is asked of a node. True = it is postponed. */
export async function postponeIfUncovered(
  deps: HoldDeps & Readonly<{ store: Store }>,
  chain: Chain,
  first: Payout,
): Promise<boolean> {
  if (first.from.branch !== 'hot' || staysInWallet(first)) return false
  if ((await deps.store.ledger.balance(accounts.wallet, first.assetId)) >= first.units) return false
  await deps.store.transaction(async (tx) => {
    const [payout] = await tx.payouts.find([first.id])
    if (payout?.state === 'reserved') await postponeForFunds(deps, tx, chain, [payout])
  })
  return true
}

/** The network's fee is out of proportion to these payouts: they wait until it falls. */
export async function postponeForFee(
  deps: HoldDeps,
  tx: StoreTx,
  { network }: Chain,
  expensive: readonly Payout[],
): Promise<void> {
  const payouts = await cancelWithinWallet(deps, tx, expensive)
  await postponeUncounted(deps, tx, payouts, { kind: 'payout-fee', of: network.id })
}

/** What waits counts for no limit. */
async function postponeUncounted(
  { log }: HoldDeps,
  tx: StoreTx,
  payouts: readonly Payout[],
  wait: Wait,
): Promise<void> {
  if (payouts.length === 0) return
  const payoutIds = payouts.map(({ id }) => id)
  await tx.outflow.release(payoutIds)
  await postpone(tx, payouts, wait)
  log.warn({ subject: `${wait.kind}:${wait.of}`, payoutIds }, waits[wait.kind])
}
