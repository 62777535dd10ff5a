import type { Book } from '../../core/domain/book.ts'
import { midPrice, type PriceSnapshot, usdValue } from '../../core/domain/price.ts'
import { isNative, type Token } from '../domain/token.ts'
import type { SwapChain } from '../ports/swap-chain.ts'

export type SwapValuesDeps = Readonly<{
  books: { current(): Book }
  /** Key of a token's reference price, by network and canonical address or `native`; null if it is not listed. */
  priceKeyOf(network: string, address: string | 'native'): string | null
  now(): number
}>

export type SwapValues = Readonly<{ fromUsd: bigint | null; toUsd: bigint | null }>
type Side = Readonly<{ token: Token; units: bigint }>

/** Older prices are not used. */
const STALE_MS = 30_000

/**
 * Values of both sides in US dollars, scaled by 10^12, for display. A side without a reference price is valued through the
 * pools' middle price.
 */
export function createSwapValues({ books, priceKeyOf, now }: SwapValuesDeps) {
  function usdValueOf(prices: PriceSnapshot, chain: SwapChain, { token, units }: Side): bigint | null {
    if (now() - prices.at > STALE_MS) return null
    const isNativeValue = isNative(token.address) || token.address === chain.wrapped
    const key = priceKeyOf(chain.network.id, isNativeValue ? 'native' : token.address)
    const price = key === null ? undefined : prices.usd.get(key)
    return price === undefined ? null : usdValue(units, token, midPrice(price), 'down')
  }

  return (chain: SwapChain, from: Side, to: Side, middleOut: bigint): SwapValues => {
    const { prices } = books.current()
    const [fromUsd, toUsd] = [usdValueOf(prices, chain, from), usdValueOf(prices, chain, to)]
    if (middleOut <= 0n) return { fromUsd, toUsd }
    return {
      fromUsd: fromUsd ?? usdValueOf(prices, chain, { token: to.token, units: middleOut }),
      toUsd: toUsd ?? (fromUsd === null ? null : (fromUsd * to.units) / middleOut),
    }
  }
}
