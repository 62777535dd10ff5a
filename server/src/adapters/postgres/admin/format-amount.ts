import { currencies } from '../../../../currencies/index.ts'
import { formatUnits } from '../../../core/domain/amount.ts'
import { assetId } from '../../../core/domain/asset.ts'

const decimals = new Map(currencies.map((one) => [assetId(one.ticker, one.network) as string, one.decimals]))

export const listedDecimals = (asset: string): number | undefined => decimals.get(asset)

/** In coins of a listed currency; in base units of any other, and says so. */
export function formatAmount(units: bigint, asset: string): string {
  const places = listedDecimals(asset)
  if (places === undefined) return `${units} base units`
  return units < 0n ? `-${formatUnits(-units, places)}` : formatUnits(units, places)
}
