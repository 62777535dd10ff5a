import type { Currency } from '../domain/currency.ts'
import type { MemoRule } from './present.ts'

/** Which networks demand a memo, from the list that partners see. Worked out once per list. */
export function createMemoRule(listCurrencies: () => readonly Currency[]): MemoRule {
  let seen: readonly Currency[] | null = null
  let demanding: ReadonlySet<string> = new Set()
  return (network) => {
    const listed = listCurrencies()
    if (listed !== seen) {
      demanding = new Set(
        listed.flatMap((currency) => (currency.network.memo === 'required' ? [currency.network.id] : [])),
      )
      seen = listed
    }
    return demanding.has(network)
  }
}
