import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { getPrice, usdValue } from '../../core/domain/price.ts'
import type { Log } from '../../lib/log.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { StoreTx } from '../ports/store/store.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'
import type { ServiceSettings } from '../settings.ts'
import { HOLD_MS } from './hold-payouts.ts'
import { exchangeJobs, pauseScopes } from './payment.ts'

export type CheckDeps = Readonly<{
  assetById(id: AssetId): Asset
  priceKeyOf(id: AssetId): string
  books: BookSnapshot
  settings: ServiceSettings
  log: Log
}>

/** Returns the payouts that may be signed now and holds the others. Runs inside the signing transaction (I-24, I-25). */
export async function selectPermitted(
  deps: CheckDeps,
  tx: StoreTx,
  payouts: readonly Payout[],
): Promise<readonly Payout[]> {
  const permitted: Payout[] = []
  for (const payout of payouts) {
    const isPaused = (await tx.pauses.active(pauseScopes(payout))).length > 0
    if (!isPaused && (await holdIfReleasedBefore(deps, tx, payout))) continue
    const verdict = isPaused ? 'paused' : await checkLimits(deps, tx, payout)
    if (verdict === 'permitted') permitted.push(payout)
    else await holdChecked(tx, payout, verdict)
  }
  return permitted
}

type LimitVerdict = 'permitted' | 'above payout limit' | 'outflow limit reached' | 'no price'

async function holdChecked(
  tx: StoreTx,
  payout: Payout,
  verdict: Exclude<LimitVerdict, 'permitted'> | 'paused',
): Promise<void> {
  if (verdict === 'above payout limit') {
    await tx.payouts.hold([payout.id], 'LIMIT', null)
    return tx.wake(exchangeJobs([payout]))
  }
  await tx.payouts.hold([payout.id], null, HOLD_MS)
  if (verdict === 'outflow limit reached')
    await tx.alarms.raise(`limit:${payout.network}`, 'the rolling outflow limit is reached', { payoutId: payout.id })
}

/**
 * After a restore: holds a payout that a signer's journal shows as paid, by its id or its destination. A payout that the
 * operator approved is not held.
 */
async function holdIfReleasedBefore({ log }: CheckDeps, tx: StoreTx, payout: Payout): Promise<boolean> {
  if (payout.approved || isToOurselves(payout)) return false
  const txHash = await tx.signingJournal.findEarlierPayment(payout)
  if (txHash === null) return false
  const { id, network, exchangeId } = payout
  log.error({ network, payoutId: id, txHash }, 'payout was released before the database was restored')
  await tx.payouts.hold([id], 'RELEASED', null)
  await tx.alarms.raise(`payout:${id}`, 'a payout to this destination was released before the database was restored', {
    code: 'RELEASED',
    txHash,
    exchangeId,
  })
  await tx.wake(exchangeJobs([payout]))
  return true
}

async function checkLimits(deps: CheckDeps, tx: StoreTx, payout: Payout): Promise<LimitVerdict> {
  if (isToOurselves(payout)) return 'permitted'
  const usd = usdOf(deps, payout)
  if (usd === null) return 'no price'
  const { perTransactionUsd, hourUsd, dayUsd } = deps.settings.limits
  if (usd > perTransactionUsd && !payout.approved) return 'above payout limit'
  const scopes = [
    'all',
    `asset:${payout.assetId}`,
    ...(payout.partnerId === null ? [] : [`partner:${payout.partnerId}`]),
  ]
  const exceeded = await tx.outflow.take(payout.id, scopes, usd, { hour: hourUsd, day: dayUsd })
  return exceeded === null ? 'permitted' : 'outflow limit reached'
}

/** A sweep or gas supply moves money between our own addresses, so it is no outflow. */
const isToOurselves = ({ purpose }: Payout): boolean => purpose === 'sweep' || purpose === 'gas'

/** Null while there is no current price. */
function usdOf({ assetById, priceKeyOf, books }: CheckDeps, { assetId, units }: Payout): bigint | null {
  try {
    return usdValue(units, assetById(assetId), getPrice(books.current().prices, priceKeyOf(assetId)).ask, 'up')
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
