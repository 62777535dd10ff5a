import { SwapyardError } from './errors.ts'
import type { DexExchange, ExchangeRecord } from './generated/types.ts'
import { terminalExchangeStatuses, terminalSwapStatuses } from './generated/values.ts'
import { isTemporary } from './retry.ts'
import { sleep, TIMER_MAX_MS } from './sleep.ts'

export type FinalExchange = ExchangeRecord & { status: (typeof terminalExchangeStatuses)[number] }
export type FinalSwap = DexExchange & { status: (typeof terminalSwapStatuses)[number] }

export type WaitOptions<Item> = Readonly<{
  signal?: AbortSignal | undefined
  /** Rejects with `WAIT_TIMEOUT`. Default: no limit. */
  timeoutMs?: number | undefined
  /**
   * Called with the first state and after each change: a status, a confirmation, a hash. A promise that it returns is not awaited,
   * and its rejection is not handled: handle it, for example by an abort of `signal`.
   */
  onChange?: ((item: Item) => void) | undefined
  /** Called after a read that failed; reads continue if the failure is temporary. */
  onError?: ((error: SwapyardError) => void) | undefined
  /** Pause between two reads after a change. It grows by half with each read without a change. Default: 1 s. */
  minIntervalMs?: number | undefined
  /** Default: 15 s. A `Retry-After` that is longer is waited for. */
  maxIntervalMs?: number | undefined
}>

export const isFinalExchange = (exchange: ExchangeRecord): exchange is FinalExchange =>
  (terminalExchangeStatuses as readonly string[]).includes(exchange.status)

export const isFinalSwap = (swap: DexExchange): swap is FinalSwap =>
  (terminalSwapStatuses as readonly string[]).includes(swap.status)

/** Reads until the item is final. */
export async function waitUntilFinal<Item extends { status: string }, Final extends Item>(
  read: (signal: AbortSignal) => Promise<Item>,
  isFinal: (item: Item) => item is Final,
  { signal, timeoutMs, onChange, onError, minIntervalMs = 1_000, maxIntervalMs = 15_000 }: WaitOptions<Item>,
): Promise<Final> {
  signal?.throwIfAborted()
  let last = ''
  let status = 'unknown'
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const end = () =>
    controller.abort(new SwapyardError('WAIT_TIMEOUT', `after ${timeoutMs} ms the status is still ${status}`))
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, Math.min(timeoutMs, TIMER_MAX_MS))
  try {
    for (let intervalMs = minIntervalMs; ; intervalMs = Math.min(intervalMs * 1.5, maxIntervalMs)) {
      let retryAfterMs = 0
      try {
        const item = await read(controller.signal)
        const text = JSON.stringify(item)
        status = item.status
        if (text !== last) {
          intervalMs = minIntervalMs
          onChange?.(item)
        }
        last = text
        if (isFinal(item)) return item
      } catch (error) {
        if (!isTemporary(error)) throw error
        onError?.(error)
        retryAfterMs = error.retryAfterMs ?? 0
      }
      await sleep(Math.max(intervalMs, retryAfterMs), controller.signal)
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
