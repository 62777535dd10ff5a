import type { ExchangeServices } from '../interfaces.ts'
import type { ChooseIntermediary } from './choose-intermediary.ts'
import { type CurrencyLookup, readPair } from './quote-rate.ts'

/** Quotes both legs from the book in memory. It holds nothing: a private create prices anew. */
export function createQuotePrivate(
  catalogue: CurrencyLookup,
  findWay: ChooseIntermediary,
): ExchangeServices['quotePrivate'] {
  return (partner, request) => {
    const { from, to, fromUnits } = readPair(catalogue, request)
    const { quote, seconds } = findWay(partner, { from, to }, request.privateType, fromUnits)
    return { quote, expectedSeconds: seconds }
  }
}
