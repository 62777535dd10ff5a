/* Fees of DeepBook v3: what a rate is multiplied with, and the rate of a trader. */
import { type DeepbookBalances, multiply, scaleBalances } from './deepbook-math.ts'

/** Who pays a fee in the input pays 1.25 times as much. */
export const INPUT_FEE_MULTIPLIER = 1_250_000_000n

/** What an order's fee in DEEP is computed with. 0 per asset: the fee is in the input. */
export type OrderDeepPrice = Readonly<{ assetIsBase: boolean; deepPerAsset: bigint }>

/** The price of orders whose fee is in the input, and of all orders of pools without fees. */
export const INPUT_FEE: OrderDeepPrice = { assetIsBase: false, deepPerAsset: 0n }

/** What the rate is multiplied with: DEEP, or the input times 1.25. */
export function feeQuantity(
  { assetIsBase, deepPerAsset }: OrderDeepPrice,
  base: bigint,
  quote: bigint,
  isBid: boolean,
): DeepbookBalances {
  if (deepPerAsset > 0n) return [0n, 0n, multiply(assetIsBase ? base : quote, deepPerAsset)]
  return isBid ? [0n, multiply(quote, INPUT_FEE_MULTIPLIER), 0n] : [multiply(base, INPUT_FEE_MULTIPLIER), 0n, 0n]
}

/** The fee in base, quote or DEEP, rounded down. */
export const feeOf = (
  price: OrderDeepPrice,
  base: bigint,
  quote: bigint,
  isBid: boolean,
  rate: bigint,
): DeepbookBalances => scaleBalances(feeQuantity(price, base, quote, isBid), rate)

export type DeepbookRates = Readonly<{
  /** Scaled by 10^9. */
  takerFee: bigint
  /** Base units of DEEP. Traders with this stake and this volume pay half the taker fee. */
  stakeRequired: bigint
  /** What the pool adds to the taker fee in this transaction because of its gas price; scaled by 10^9. */
  gasPricePenalty: bigint
}>

/** The taker fee of a trader, scaled by 10^9. Stake and volume of this epoch are in base units of DEEP. */
export function takerFeeOf(rates: DeepbookRates, stake: bigint, volume: bigint): bigint {
  const isHalved = stake >= rates.stakeRequired && volume >= rates.stakeRequired
  return (isHalved ? rates.takerFee / 2n : rates.takerFee) + rates.gasPricePenalty
}
