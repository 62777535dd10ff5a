import { currencies } from '../../../../currencies/index.ts'
import { formatUnits } from '../../../core/domain/amount.ts'
import { assetId } from '../../../core/domain/asset.ts'

const decimals = new Map(currencies.map((one) => [assetId(one.ticker, one.network) as string, one.decimals]))

/** In coins of a listed currency; in base units of any other, and says so. */
export function formatAmount(units: bigint, asset: string): string {
  const places = decimals.get(asset)
  if (places === undefined) return `${units} base units`
  return units < 0n ? `-${formatUnits(-units, places)}` : formatUnits(units, places)
}
