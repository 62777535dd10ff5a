import { useEffect, useState } from 'react'
import { explain, sleep } from '../client.ts'
import { AMOUNT_HINT, isAmount } from '../currencies.ts'
import { type Quote, requestQuote, type Terms } from './order.ts'

const INTERVAL_MS = 1_500
/** While an amount is typed, nothing is asked. */
const PAUSE_MS = 250
const HISTORY_MAX = 60

export type QuoteFeed = Readonly<{
  quote: Quote | null
  problem: string | null
  /** What the recipient would have got, the oldest first. */
  history: readonly number[]
}>

const empty: QuoteFeed = { quote: null, problem: null, history: [] }

/** Quotes the terms again and again while the page is visible. */
export function useQuote(terms: Terms): QuoteFeed {
  const [feed, setFeed] = useState(empty)
  const { from, to, amount, flow, privateType, isPrivate } = terms
  // biome-ignore lint/correctness/useExhaustiveDependencies: the members of the terms, which are a new object in every rendering
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    setFeed({ ...empty, problem: isAmount(amount) ? null : AMOUNT_HINT })
    const poll = async () => {
      await sleep(PAUSE_MS, signal)
      for (;;) {
        if (!document.hidden)
          try {
            const quote = await requestQuote(terms, signal)
            setFeed(({ history }) => ({
              quote,
              problem: null,
              history: [...history, quote.toAmount].slice(-HISTORY_MAX),
            }))
          } catch (error) {
            if (signal.aborted) return
            setFeed(({ history }) => ({ quote: null, problem: explain(error), history }))
          }
        await sleep(INTERVAL_MS, signal)
      }
    }
    if (isAmount(amount)) poll().catch(() => undefined)
    return () => controller.abort()
  }, [from, to, amount, flow, privateType, isPrivate])
  return feed
}
