import type { Currency } from '@swapyard/sdk'

export const keyOf = ({ ticker, network }: Pick<Currency, 'ticker' | 'network'>): string => `${ticker}@${network}`

/** `BTC`, and with the network where that is another word: `USDC on eth`. */
export const labelOf = ({ ticker, network }: Pick<Currency, 'ticker' | 'network'>): string =>
  ticker === network ? ticker.toUpperCase() : `${ticker.toUpperCase()} on ${network}`

export const findCurrency = (currencies: readonly Currency[], ticker: string, network: string): Currency | undefined =>
  currencies.find((one) => one.ticker === ticker && one.network === network)

/** The path of the transaction in the explorer of this sandbox. */
export const linkOf = (currency: Pick<Currency, 'txExplorer'> | undefined, hash: string | null): string | undefined =>
  currency === undefined || hash === null ? undefined : pathOf(currency.txExplorer.replace('{}', hash))

const pathOf = (url: string): string => new URL(url, location.href).pathname

/** A decimal with at most this many digits after the point, rounded down. */
export function truncate(amount: string, decimals: number): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  const kept = fraction.slice(0, decimals).replace(/0+$/, '')
  return kept === '' ? whole : `${whole}.${kept}`
}

/** False while an amount is incomplete, such as `0.`: nothing is asked then. */
export const isAmount = (text: string): boolean => /^\d+(\.\d+)?$/.test(text) && /[1-9]/.test(text)
export const AMOUNT_HINT = 'Type an amount, for example 0.01.'
