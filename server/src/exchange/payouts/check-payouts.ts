import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { accounts } from '../../core/domain/ledger/entries.ts'
import { isToOurselves } from '../../core/domain/payout-purpose.ts'
import { getPrice, usdValue } from '../../core/domain/price.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain } from '../ports/chain.ts'
import type { Signer } from '../ports/signer.ts'
import type { ReachedLimit } from '../ports/store/outflow.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, Stores, StoreTx } from '../ports/store/store.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'
import type { ServiceSettings } from '../settings.ts'
import { POSTPONE_MS, postpone, refusePayout } from './hold-payouts.ts'
import { limitsOf, payoutCapUsd } from './outflow-limits.ts'
import { exchangeJobs, pauseScopes } from './payment.ts'

export type CheckDeps = Readonly<{
  assetById(id: AssetId): Asset
  priceKeyOf(id: AssetId): string
  chains: ReadonlyMap<string, Chain>
  books: BookSnapshot
  settings: ServiceSettings
  signer: Pick<Signer, 'payoutId'>
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
    if (!payout.isAuthentic) {
      await holdForged(deps, tx, payout)
      continue
    }
    const isPaused = (await tx.pauses.active(pauseScopes(payout))).length > 0
    if (isCapital(payout) && !isToColdAddress(deps, payout)) {
      await refusePayout(deps, tx, payout, notCold())
      continue
    }
    if (!isPaused && (await holdIfReleasedBefore(deps, tx, payout))) continue
    const refusal = isPaused ? 'paused' : await checkLimits(deps, tx, payout, 'take')
    if (refusal === null) permitted.push(payout)
    else await holdChecked(tx, payout, refusal)
  }
  return permitted
}

/** A row that this program did not write, or that was changed since (I-39). No release pays it. */
async function holdForged({ log }: CheckDeps, tx: StoreTx, payout: Payout): Promise<void> {
  const { id, network, purpose, exchangeId, address } = payout
  log.error({ network, payoutId: id, purpose, exchangeId }, 'a payout was written outside of the program')
  await tx.payouts.holdForOperator([id], 'PAYEE')
  await tx.alarms.raise(`payee:${id}`, 'a payout was written or changed outside of the program', {
    network,
    purpose,
    exchangeId,
    address,
  })
  await tx.wake(exchangeJobs([payout]))
}

/** The operator's own money, on its way to a cold wallet: no outflow, and to no other address. */
const isCapital = ({ owedFrom }: Payout): boolean => owedFrom === accounts.capital

const notCold = () => new AppError('SIMULATION_FAILED', 'capital is withdrawn to treasury.coldAddresses only')

/** Another encoding of an address is no other address. */
const canonicalOf = ({ chains }: CheckDeps, network: string, address: string): string =>
  chains.get(network)?.addresses.parse(address) ?? address

/** Compared in canonical form, so that the setting may have any encoding. */
function isToColdAddress(deps: CheckDeps, { network, address }: Payout): boolean {
  const canonical = canonicalOf(deps, network, address)
  return deps.settings.coldAddresses.some(
    (cold) =>
      cold.startsWith(`${network}:`) && canonicalOf(deps, network, cold.slice(network.length + 1)) === canonical,
  )
}

type Refusal = 'above payout limit' | 'no price' | 'paused' | ReachedLimit

/**
 * Holds a payout without a valid code, or one that a limit or a missing price stops, before anything about it is asked of a
 * node: however many such payouts wait, they delay no other one. True = it is held.
 */
export async function holdIfLimited(deps: CheckDeps & Readonly<{ store: Store }>, first: Payout): Promise<boolean> {
  if (first.isAuthentic && (await checkLimits(deps, deps.store, first, 'check')) === null) return false
  await deps.store.transaction(async (tx) => {
    const [payout] = await tx.payouts.find([first.id])
    if (payout?.state !== 'reserved') return
    if (!payout.isAuthentic) return holdForged(deps, tx, payout)
    const refusal = await checkLimits(deps, tx, payout, 'check')
    if (refusal !== null) await holdChecked(tx, payout, refusal)
  })
  return true
}

async function holdChecked(tx: StoreTx, payout: Payout, refusal: Refusal): Promise<void> {
  if (refusal === 'above payout limit') return holdAboveCap(tx, payout)
  if (refusal === 'paused' || refusal === 'no price') return tx.payouts.retryAfter([payout.id], POSTPONE_MS)
  await postpone(tx, [payout], { kind: 'limit', of: refusal.scope, detail: { window: refusal.window } })
}

async function holdAboveCap(tx: StoreTx, payout: Payout): Promise<void> {
  const { id, exchangeId, isReversed, purpose, partnerId, assetId, units } = payout
  await tx.payouts.holdForOperator([id], 'LIMIT')
  // A payout without an open execution needs an alarm of its own, because no held execution shows it.
  if (exchangeId === null || isReversed)
    await tx.alarms.raise(`payout:${id}`, 'a payout is above the limit of one payout', {
      ...{ code: 'LIMIT', purpose, partnerId, assetId },
      units: units.toString(),
    })
  await tx.wake(exchangeJobs([payout]))
}

/** Further payouts of a deposit whose ids are compared. Each is made after the one before was voided. */
const LATER_PAYOUTS_MAX = 10

/**
 * After a restore: holds a payout that a signer's journal shows as paid, by its id or its destination, and one whose deposit was
 * paid by another payout: the lost part of the database may have voided this one and refunded the deposit. The operator's approval
 * ends the hold. One that was given before, for its amount, says nothing about the release.
 */
async function holdIfReleasedBefore({ signer, log }: CheckDeps, tx: StoreTx, payout: Payout): Promise<boolean> {
  const { signingJournal } = tx
  if (isToOurselves(payout) || !(await signingJournal.hasMissing())) return false
  const { executionId, depositId, leg } = payout
  const origins =
    executionId === null || depositId === null || leg === null
      ? []
      : await signingJournal.listPayoutOrigins(depositId, leg, LATER_PAYOUTS_MAX)
  const txHash = await signingJournal.findEarlierPayment({ ...payout, others: origins.map(signer.payoutId) })
  if (txHash === null) return false
  const { id, network, exchangeId } = payout
  log.error({ network, payoutId: id, txHash }, 'payout was released before the database was restored')
  await tx.payouts.holdForOperator([id], 'RELEASED')
  await tx.alarms.raise(
    `payout:${id}`,
    'a payout to it or of its deposit was released before a restore of the database',
    {
      code: 'RELEASED',
      txHash,
      exchangeId,
    },
  )
  await tx.wake(exchangeJobs([payout]))
  return true
}

/** Null = within all limits. `take` also counts the payout. */
async function checkLimits(
  deps: CheckDeps,
  store: Stores,
  payout: Payout,
  mode: 'check' | 'take',
): Promise<Exclude<Refusal, 'paused'> | null> {
  if (isToOurselves(payout) || isCapital(payout)) return null
  const usd = usdOf(deps, payout)
  if (usd === null) return 'no price'
  // A person has looked at an approved payout: the shares of its partner and of its recipient do not stop it.
  const shares = payout.approved ? { partnerPercent: 100, recipientPercent: 100 } : {}
  const address = canonicalOf(deps, payout.network, payout.address)
  const limits = limitsOf({ ...deps.settings.limits, ...shares }, { ...payout, address })
  if (usd > payoutCapUsd(deps.settings.limits, limits) && !payout.approved) return 'above payout limit'
  return store.outflow[mode](payout.id, usd, limits)
}

/** Null while there is no current price. */
function usdOf({ assetById, priceKeyOf, books }: CheckDeps, { assetId, units }: Payout): bigint | null {
  try {
    return usdValue(units, assetById(assetId), getPrice(books.current().prices, priceKeyOf(assetId)).ask, 'up')
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
