import { AppError } from '../../core/domain/errors.ts'
import type { RoutedSwap, RouteOrder } from '../../swap/ports/router.ts'

type Waiting = Readonly<{
  order: RouteOrder
  resolve(swap: RoutedSwap): void
  reject(error: AppError): void
  timer: NodeJS.Timeout
}>

/** Orders that the thread has not answered yet: a bounded number, each for a bounded time. */
export type PendingOrders = Readonly<{
  /** Counts an order in; `send` gives it to the thread, `onSilence` is told where no answer came. */
  add(order: RouteOrder, send: (id: number) => void, onSilence: () => void): Promise<RoutedSwap>
  /** The order with this number, which waits no more. */
  take(id: number): Waiting | undefined
  rejectAll(error: () => AppError): void
}>

export function createPendingOrders(most: number, answerMs: number): PendingOrders {
  const waiting = new Map<number, Waiting>()
  let last = 0

  const take = (id: number): Waiting | undefined => {
    const found = waiting.get(id)
    if (found) clearTimeout(found.timer)
    waiting.delete(id)
    return found
  }

  return {
    take,
    add(order, send, onSilence) {
      if (waiting.size >= most) {
        const text = 'the router has too much to search'
        return Promise.reject(new AppError('OVERLOADED', text, { retryAfterSeconds: 1 }))
      }
      const id = ++last
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          take(id)
          reject(new AppError('OVERLOADED', 'the router gave no answer in time'))
          onSilence()
        }, answerMs)
        waiting.set(id, { order, resolve, reject, timer })
        send(id)
      })
    },
    rejectAll(error) {
      for (const id of [...waiting.keys()]) take(id)?.reject(error())
    },
  }
}
