import { type Flow, type QuoteRateQuery, type RateQuote, SwapyardError } from '@swapyard/sdk'
import type { Widget } from './widget.ts'

/** After the last key press. */
const SETTLE_MS = 350
const FLOATING_REFRESH_MS = 10_000
const RETRY_MS = 5_000
/** A `rateId` is good for 60 seconds from the quote. Counted here, so that the clock of the device does not matter. */
const RATE_ID_MS = 60_000
/** A fixed rate is replaced while the old one is still good for a create. */
const FIXED_REFRESH_MS = 50_000

export type QuoteLoop = Readonly<{
  /** Asks for these terms now and again while the page is visible; null ends that. */
  ask(query: QuoteRateQuery | null): void
  /** Resolves when the quote that was asked for is there, or has failed. */
  settled(): Promise<void>
  /** Continues with a quote that an error contained. */
  accept(quote: RateQuote): void
}>

/** `isAsked`: the user changed the terms; else it is a refresh. `heldUntil`: of a fixed rate, by the local clock. */
export type QuoteHandlers = Readonly<{
  onQuote(quote: RateQuote, heldUntil: number | null, isAsked: boolean): void
  onFailure(error: unknown): void
}>

export function createQuoteLoop({ api, signal }: Widget, handlers: QuoteHandlers): QuoteLoop {
  let query: QuoteRateQuery | null = null
  let running = new AbortController()
  let timer = 0
  let isPending = false
  let waiting: (() => void)[] = []

  const settle = () => {
    isPending = false
    for (const resolve of waiting) resolve()
    waiting = []
  }
  const flowOf = (): Flow => query?.flow ?? 'standard'
  const schedule = (delayMs: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => run(false), delayMs)
  }
  const show = (quote: RateQuote, since: number, isAsked: boolean) => {
    const isHeld = flowOf() === 'fixed-rate' && quote.rateId !== null
    handlers.onQuote(quote, isHeld ? since + RATE_ID_MS : null, isAsked)
    settle()
    schedule(isHeld ? FIXED_REFRESH_MS : FLOATING_REFRESH_MS)
  }
  const run = async (isAsked: boolean): Promise<void> => {
    if (query === null || signal.aborted) return
    // A return to the page asks again.
    if (document.hidden && !isAsked) return
    running.abort()
    running = new AbortController()
    const mine = running.signal
    const since = Date.now()
    try {
      const quote = await api.quoteRate(query, { signal: AbortSignal.any([mine, signal]), retries: 0 })
      show(quote, since, isAsked)
    } catch (error) {
      if (mine.aborted || signal.aborted) return
      handlers.onFailure(error)
      settle()
      schedule(Math.max(RETRY_MS, error instanceof SwapyardError ? (error.retryAfterMs ?? 0) : 0))
    }
  }
  document.addEventListener('visibilitychange', () => void run(false), { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
  return {
    ask(next) {
      query = next
      running.abort()
      clearTimeout(timer)
      if (next === null) {
        settle()
        return
      }
      isPending = true
      timer = setTimeout(() => run(true), SETTLE_MS)
    },
    settled: () => (isPending ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve()),
    accept(quote) {
      running.abort()
      show(quote, Date.now(), true)
    },
  }
}
