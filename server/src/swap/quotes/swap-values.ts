import type { Book } from '../../core/domain/book.ts'
import { midPrice, priceTime, unitsWorth, usdValue } from '../../core/domain/price.ts'
import type { Token } from '../domain/token.ts'
import { poolToken } from '../networks.ts'
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

/** The middle reference price of a token in US dollars, scaled by 10^12; null without a current one. */
export function createReferencePrice({ books, priceKeyOf, now }: SwapValuesDeps) {
  return (chain: SwapChain, token: Token): bigint | null => {
    const { prices } = books.current()
    const isNativeValue = poolToken(chain, token.address) === chain.wrapped
    const key = priceKeyOf(chain.network.id, isNativeValue ? 'native' : token.address)
    const price = key === null ? undefined : prices.usd.get(key)
    return key === null || price === undefined || now() - priceTime(prices, key) > STALE_MS ? null : midPrice(price)
  }
}

export type ReferenceOutOf = (chain: SwapChain, from: Side, to: Token) => bigint | null

/** Units of `to` that `from` is worth at reference prices; null without both prices. Independent of all pools. */
export function createReferenceOut(deps: SwapValuesDeps): ReferenceOutOf {
  const priceOf = createReferencePrice(deps)
  return (chain, from, to) => {
    const [fromPrice, toPrice] = [priceOf(chain, from.token), priceOf(chain, to)]
    if (fromPrice === null || toPrice === null) return null
    const units = unitsWorth(usdValue(from.units, from.token, fromPrice, 'down'), to, toPrice, 'down')
    return units === 0n ? null : units
  }
}

/**
 * Values of both sides in US dollars, scaled by 10^12, for display. A side without a reference price is valued through the
 * pools' middle price.
 */
export function createSwapValues(deps: SwapValuesDeps) {
  const priceOf = createReferencePrice(deps)
  function usdValueOf(chain: SwapChain, { token, units }: Side): bigint | null {
    const price = priceOf(chain, token)
    return price === null ? null : usdValue(units, token, price, 'down')
  }

  return (chain: SwapChain, from: Side, to: Side, middleOut: bigint): SwapValues => {
    const [fromUsd, toUsd] = [usdValueOf(chain, from), usdValueOf(chain, to)]
    if (middleOut <= 0n) return { fromUsd, toUsd }
    return {
      fromUsd: fromUsd ?? usdValueOf(chain, { token: to.token, units: middleOut }),
      toUsd: toUsd ?? (fromUsd === null ? null : (fromUsd * to.units) / middleOut),
    }
  }
}
