import { scale } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import { partnerAccount, partnerConversionEntry } from '../../core/domain/ledger/entries.ts'
import { usdValue } from '../../core/domain/price.ts'
import { refused } from '../../core/services/audit-note.ts'
import { beforeNetworkFee, priceDirection } from '../domain/pricing.ts'
import type { DueConversion } from '../ports/store/monthly-payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'
import type { ServiceSettings } from '../settings.ts'

export type ConvertBalancesDeps = Readonly<{
  store: Store
  books: BookSnapshot
  /** Null for tokens that are not listed: they have no price. */
  currencyOf(id: AssetId): Currency | null
  settings: Pick<ServiceSettings, 'limits'>
  clock: Readonly<{ now(): number }>
}>

/**
 * Converts a partner's other balances into the currency in which it is paid, at the price of a quote of now without network fees.
 * Each currency is converted at most once in a month, whatever crashes. A currency that cannot be exchanged at all keeps its balance.
 * Throws an AppError if the conversion must wait: for prices, a pause, the wallet, or the operator.
 */
export async function convertBalances(deps: ConvertBalancesDeps, due: DueConversion): Promise<void> {
  const { store, currencyOf } = deps
  const target = currencyOf(due.assetId)
  if (target === null) throw refused(`${due.assetId} is not listed: choose another currency for the monthly payout`)
  const balances = await store.ledger.balances(partnerAccount(due.partnerId))
  for (const assetId of balances.keys()) {
    const source = due.ownAssets.includes(assetId) ? null : currencyOf(assetId)
    if (source !== null) await store.transaction((tx) => convert(deps, tx, due, source, target))
  }
  await store.monthlyPayouts.setConverted(due)
}

async function convert(
  { books, settings, clock }: ConvertBalancesDeps,
  tx: StoreTx,
  { partnerId, month }: DueConversion,
  from: Currency,
  to: Currency,
): Promise<void> {
  const units = -(await tx.ledger.balance(partnerAccount(partnerId), from.asset.id))
  if (units <= 0n) return
  requireUnpaused(books, [from, to])
  const pricing = priceOrNull(() =>
    priceDirection(books.current(), { from, to, flow: 'standard', partnerFeeBps: 0 }, clock.now()),
  )
  if (pricing === null) return
  const usd = usdValue(units, from.asset, pricing.fromPrice, 'up')
  if (usd > settings.limits.perTransactionUsd)
    throw refused(`the balance in ${from.asset.id} is above limits.perTransactionUsd: pay it out by hand`)
  const takenUnits = beforeNetworkFee(pricing, units)
  if (takenUnits === 0n) return
  if (!(await tx.inventory.covers(to.asset.id, takenUnits)))
    throw new AppError('INSUFFICIENT_LIQUIDITY', `the wallet of ${to.asset.id} does not cover the conversion: fund it`)
  const grossUnits = scale(units, pricing.rate.numerator, pricing.rate.denominator, 'down')
  await tx.ledger.post(
    partnerConversionEntry({
      ...{ partnerId, month },
      give: { assetId: from.asset.id, units },
      take: { assetId: to.asset.id, units: takenUnits, spreadUnits: grossUnits - takenUnits },
    }),
  )
}

/** A paused asset counts as one that is not offered, but only until the pause ends. */
function requireUnpaused(books: BookSnapshot, currencies: readonly Currency[]): void {
  const { assets } = books.current().pauses
  const paused = currencies.find(({ asset }) => assets.has(asset.id))
  if (paused === undefined || currencies.some(({ enabled }) => !enabled)) return
  throw new AppError('NETWORK_PAUSED', `${paused.asset.id} is paused: resume it, or wait`)
}

/** Null if this direction is not offered. */
function priceOrNull<T>(price: () => T): T | null {
  try {
    return price()
  } catch (error) {
    if (error instanceof AppError && error.code === 'PAIR_UNAVAILABLE') return null
    throw error
  }
}
