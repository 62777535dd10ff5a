import type { Book } from '../../core/domain/book.ts'
import { midPrice, type PriceSnapshot, usdValue } from '../../core/domain/price.ts'
import { isNative, type Token } from '../domain/token.ts'
import type { SwapChain } from '../ports/swap-chain.ts'

export type SwapValuesDeps = Readonly<{
  books: { current(): Book }
  /** Key of the reference price of a token by its network and canonical address (`native`: the coin); null where it is not listed. */
  priceKeyOf(network: string, address: string | 'native'): string | null
  now(): number
}>

export type SwapValues = Readonly<{ fromUsd: bigint | null; toUsd: bigint | null }>
type Side = Readonly<{ token: Token; units: bigint }>

/** Older prices say nothing. */
const STALE_MS = 30_000

/**
 * What both sides are worth in US dollars, scaled by 10^12, for display. A side without a price of its own is worth what the
 * pools' middle price makes it.
 */
export function createSwapValues({ books, priceKeyOf, now }: SwapValuesDeps) {
  function worth(prices: PriceSnapshot, chain: SwapChain, { token, units }: Side): bigint | null {
    if (now() - prices.at > STALE_MS) return null
    const isCoin = isNative(token.address) || token.address === chain.wrapped
    const key = priceKeyOf(chain.network.id, isCoin ? 'native' : token.address)
    const price = key === null ? undefined : prices.usd.get(key)
    return price === undefined ? null : usdValue(units, token, midPrice(price), 'down')
  }

  return (chain: SwapChain, from: Side, to: Side, middleOut: bigint): SwapValues => {
    const { prices } = books.current()
    const [fromUsd, toUsd] = [worth(prices, chain, from), worth(prices, chain, to)]
    if (middleOut <= 0n) return { fromUsd, toUsd }
    return {
      fromUsd: fromUsd ?? worth(prices, chain, { token: to.token, units: middleOut }),
      toUsd: toUsd ?? (fromUsd === null ? null : (fromUsd * to.units) / middleOut),
    }
  }
}
