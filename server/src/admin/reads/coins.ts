import type { AssetId } from '../../core/domain/asset.ts'
import { formatSigned, isListed, listedCurrency } from '../actions/lookup.ts'

export const coins = (units: bigint, assetId: string): string =>
  formatSigned(units, listedCurrency(assetId as AssetId).decimals)

/** Null without an amount, and for an asset that is not listed. */
export function coinsOrNull(units: unknown, assetId: unknown): string | null {
  if (units === null || units === undefined || !isListed(String(assetId))) return null
  return coins(BigInt(String(units)), String(assetId))
}
