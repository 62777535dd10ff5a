import type { Currency } from '@swapyard/sdk'
import { useSyncExternalStore } from 'react'
import { swapyard } from './client.ts'
import type { Quote, Terms } from './exchange/order.ts'

/** Prices that this page has fixed, in US dollars by ticker. A reload of the page keeps them. */
const KEY = 'fixed-prices'
let fixed: Readonly<Record<string, string>> = JSON.parse(sessionStorage.getItem(KEY) ?? '{}')
const listeners = new Set<() => void>()

function keep(next: Readonly<Record<string, string>>): void {
  fixed = next
  sessionStorage.setItem(KEY, JSON.stringify(next))
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useFixedPrices = () => useSyncExternalStore(subscribe, () => fixed)

/** The reference price of a currency of the pair, as its quote shows it. */
function priceIn(quote: Quote, { from }: Pick<Terms, 'from'>, currency: Currency): number {
  return currency.ticker === from.ticker
    ? Number(quote.amountFromUsd) / quote.fromAmount
    : Number(quote.amountToUsd) / quote.toAmount
}

/** Fixes the price of a currency this many percent above the quote's. */
export async function setPrice(
  currency: Currency,
  quote: Quote,
  terms: Pick<Terms, 'from'>,
  percent: number,
): Promise<string> {
  const price = priceIn(quote, terms, currency) * (1 + percent / 100)
  const usd = price >= 1 ? price.toFixed(2) : price.toFixed(8)
  await swapyard.setSandboxPrice({ currency: currency.ticker, usd })
  keep({ ...fixed, [currency.ticker]: usd })
  return usd
}

export async function releasePrice(ticker: string): Promise<void> {
  await swapyard.setSandboxPrice({ currency: ticker, usd: null })
  keep(Object.fromEntries(Object.entries(fixed).filter(([one]) => one !== ticker)))
}
