import { type EventsOptions, type PartnerEvent, readEvents } from './events.ts'
import { type Operations, operations } from './generated/operations.ts'
import type { DexExchange, ExchangeRecord } from './generated/types.ts'
import { type CallOptions, type ClientOptions, createSend } from './http.ts'
import {
  type FinalExchange,
  type FinalSwap,
  isFinalExchange,
  isFinalSwap,
  type WaitOptions,
  waitUntilFinal,
} from './wait.ts'

export interface Swapyard extends Operations {
  /** Polls an exchange of either kind until its status is `finished`, `failed` or `refunded`. */
  waitForExchange(input: { id: string }, options?: WaitOptions<ExchangeRecord>): Promise<FinalExchange>
  /** Polls a swap by its id or its transaction hash until its status is `finished` or `failed`. */
  waitForSwap(input: { id: string } | { hash: string }, options?: WaitOptions<DexExchange>): Promise<FinalSwap>
  /**
   * The events of the partner, from now on or after `lastEventId`, without an end. It connects again after a failure and
   * continues after its last event: none is missing and none is repeated. It rejects with `EVENT_NOT_FOUND` if events were
   * deleted meanwhile, which are 30 days old then; `errors[0].resumeAfter` begins with the oldest one that is kept.
   */
  events(options?: EventsOptions): AsyncIterableIterator<PartnerEvent>
}

/** Creates a client: one method for each operation of the API, the two waits, and the stream of events. */
export function createSwapyard(options: ClientOptions): Swapyard {
  const send = createSend(options)
  const methods = Object.entries(operations).map(([id, operation]) => [
    id,
    operation[2] === 'none'
      ? (call?: CallOptions) => send(operation, undefined, call)
      : (input?: unknown, call?: CallOptions) => send(operation, input, call),
  ])
  const calls = Object.fromEntries(methods) as Operations
  return {
    ...calls,
    waitForExchange: ({ id }, wait = {}) =>
      waitUntilFinal(
        async (signal) => (await calls.getExchangeStatus({ id }, { signal })).exchange,
        isFinalExchange,
        wait,
      ),
    waitForSwap: (input, wait = {}) =>
      waitUntilFinal((signal) => calls.getSwapStatus(input, { signal }), isFinalSwap, wait),
    events: (call = {}) => readEvents(options, call),
  }
}
