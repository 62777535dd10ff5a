import type { ExchangeServices } from '../interfaces.ts'
import type { ChooseIntermediary } from './choose-intermediary.ts'
import { type CurrencyLookup, readPair } from './quote-rate.ts'

/** Quotes both legs from the book in memory. Not binding: a private create computes its own price. */
export function createQuotePrivate(
  catalogue: CurrencyLookup,
  chooseIntermediary: ChooseIntermediary,
): ExchangeServices['quotePrivate'] {
  return (partner, request) => {
    const { from, to, fromUnits } = readPair(catalogue, request)
    const { quote, seconds } = chooseIntermediary(partner, { from, to }, request.privateType, fromUnits)
    return { quote, expectedSeconds: seconds }
  }
}
