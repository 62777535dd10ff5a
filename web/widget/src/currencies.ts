import type { Currency } from '@swapyard/sdk'
import { networkNames } from './labels.ts'

export const tickerOf = ({ symbol }: Currency): string => symbol.toUpperCase()
export const networkOf = ({ network }: Pick<Currency, 'network'>): string => networkNameOf(network)
export const networkNameOf = (network: string): string => networkNames[network] ?? network.toUpperCase()

/** Finds `btc@btc`. Without a network, the first of the ticker. */
export function findCurrency(list: readonly Currency[], text: string | null): Currency | undefined {
  const [ticker = '', network] = (text ?? '').trim().toLowerCase().split('@')
  return list.find((one) => one.ticker === ticker && (network === undefined || one.network === network))
}

/** Every word must occur; the best match of the ticker first, else in the order of the list. */
export function searchCurrencies(list: readonly Currency[], text: string): readonly Currency[] {
  if (text.trim() === '') return list
  const words = text.trim().toLowerCase().split(/\s+/)
  const first = words[0] ?? ''
  const order = ({ ticker, name }: Currency) =>
    ticker === first ? 0 : ticker.startsWith(first) ? 1 : name.toLowerCase().startsWith(first) ? 2 : 3
  return list
    .filter((one) => {
      const searched = `${one.ticker} ${one.symbol} ${one.name} ${one.network} ${networkOf(one)}`.toLowerCase()
      return words.every((word) => searched.includes(word))
    })
    .toSorted((a, b) => order(a) - order(b))
}
