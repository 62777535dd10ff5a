import type { OutflowLimits } from '../adapters/signers/outflow.ts'
import type { AssetId } from '../core/domain/asset.ts'
import type { Currency } from '../core/domain/currency.ts'
import { type PriceSnapshot, unitsWorth } from '../core/domain/price.ts'
import { largestPayoutUnits, largestPayoutUsd } from '../exchange/payouts/outflow-limits.ts'
import type { ServiceSettings } from '../exchange/settings.ts'
import { smallest } from '../lib/bigint.ts'

type Caps = Readonly<{
  prices: PriceSnapshot
  currencies: readonly Currency[]
  limits: ServiceSettings['limits']
  /** Of the signers, by asset. */
  signerLimits: OutflowLimits
}>

/** The largest payout of each asset that quotes promise: of the reserve, and within all limits that hold larger payouts. */
export function capReserves(
  available: ReadonlyMap<AssetId, bigint>,
  { prices, currencies, limits, signerLimits }: Caps,
): ReadonlyMap<AssetId, bigint> {
  const mostUsd = largestPayoutUsd(limits)
  const result = new Map<AssetId, bigint>()
  for (const { asset, definition } of currencies) {
    const units = available.get(asset.id)
    const price = prices.usd.get(definition.priceKey)
    if (units === undefined || price === undefined) continue
    const ofSigner = signerLimits.get(asset.id)
    const capped = smallest(units, unitsWorth(mostUsd, asset, price.ask, 'down'))
    result.set(asset.id, ofSigner === undefined ? capped : smallest(capped, largestPayoutUnits(ofSigner)))
  }
  return result
}
