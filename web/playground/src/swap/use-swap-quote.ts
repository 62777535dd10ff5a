import type { SwapQuote } from '@swapyard/sdk'
import { useEffect, useState } from 'react'
import { explain, sleep, swapyard } from '../client.ts'
import { AMOUNT_HINT, isAmount } from '../currencies.ts'
import type { SwapTerms } from './run-swap.ts'

const INTERVAL_MS = 2_000
const PAUSE_MS = 250
const HISTORY_MAX = 60

export type SwapQuoteFeed = Readonly<{ quote: SwapQuote | null; problem: string | null; history: readonly number[] }>
const empty: SwapQuoteFeed = { quote: null, problem: null, history: [] }

/** Quotes a swap again and again while the page is visible. */
export function useSwapQuote(terms: SwapTerms | null): SwapQuoteFeed {
  const [feed, setFeed] = useState(empty)
  const { network, from, to, amount, slippage } = terms ?? {}
  // biome-ignore lint/correctness/useExhaustiveDependencies: the members of the terms, which are a new object in every rendering
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    if (terms === null) return
    setFeed({ ...empty, problem: isAmount(terms.amount) ? null : AMOUNT_HINT })
    if (!isAmount(terms.amount)) return
    const pair = { network: terms.network, fromTokenAddress: terms.from.address, toTokenAddress: terms.to.address }
    const poll = async () => {
      await sleep(PAUSE_MS, signal)
      for (;;) {
        if (!document.hidden)
          try {
            const request = { ...pair, amount: terms.amount, slippage: terms.slippage, referrerFee: '0' }
            const quote = await swapyard.quoteSwap(request, { signal })
            setFeed(({ history }) => ({
              quote,
              problem: null,
              history: [...history, Number(quote.toAmount)].slice(-HISTORY_MAX),
            }))
          } catch (error) {
            if (signal.aborted) return
            setFeed(({ history }) => ({ quote: null, problem: explain(error), history }))
          }
        await sleep(INTERVAL_MS, signal)
      }
    }
    poll().catch(() => undefined)
    return () => controller.abort()
  }, [network, from, to, amount, slippage])
  return feed
}
