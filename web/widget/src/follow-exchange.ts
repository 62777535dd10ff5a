import { SwapyardError, type TrackedExchange, terminalExchangeStatuses } from '@swapyard/sdk'
import type { Widget } from './widget.ts'

const POLL_MS = 2_500
const RETRY_MS = 5_000
/** A payment after the end can still need a refund address. */
const FAILED_POLL_MS = 30_000

export type FollowHandlers = Readonly<{
  onChange(tracked: TrackedExchange): void
  /** After `onChange`, if the status is another one. */
  onStatus(tracked: TrackedExchange): void
  /** It is tried again. */
  onInterruption(): void
  /** It is not tried again. */
  onEnd(error: unknown): void
}>

/** Reads the public status until it is final, and of a failed exchange at a slow pace. The host page hears of changes, so this continues while the page is hidden. */
export function followExchange({ publicApi, signal }: Widget, token: string, handlers: FollowHandlers): void {
  let shown = ''
  let status = ''
  let timer = 0
  const look = async (): Promise<void> => {
    let tracked: TrackedExchange
    try {
      tracked = await publicApi.getTrackedExchange({ token }, { signal, retries: 1 })
    } catch (error) {
      if (signal.aborted) return
      if (isFinal(error)) return handlers.onEnd(error)
      handlers.onInterruption()
      // The next answer is a change in any case.
      shown = ''
      timer = setTimeout(look, RETRY_MS)
      return
    }
    const text = JSON.stringify(tracked)
    if (text !== shown) handlers.onChange(tracked)
    shown = text
    if (tracked.status !== status) {
      status = tracked.status
      handlers.onStatus(tracked)
    }
    const isTerminal = terminalExchangeStatuses.some((terminal) => terminal === status)
    if (status === 'failed') timer = setTimeout(look, FAILED_POLL_MS)
    else if (!isTerminal) timer = setTimeout(look, POLL_MS)
  }
  signal.addEventListener('abort', () => clearTimeout(timer))
  void look()
}

/** A form that the API does not know will not become known. */
const isFinal = (error: unknown): boolean =>
  !(error instanceof SwapyardError) || error.statusCode === 400 || error.statusCode === 404
