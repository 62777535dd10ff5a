import { AppError } from '../../core/domain/errors.ts'

type PendingOrder<Order, Answer> = Readonly<{
  order: Order
  resolve(answer: Answer): void
  reject(error: AppError): void
  timer: NodeJS.Timeout
}>

/** Orders without an answer yet, bounded in number and time. */
export type PendingOrders<Order, Answer> = Readonly<{
  /** Adds an order and sends it. Without an answer in time the order fails and `onTimeout` is called. */
  add(order: Order, send: (id: number) => void, onTimeout: () => void): Promise<Answer>
  /** Removes and returns the order with this id. */
  take(id: number): PendingOrder<Order, Answer> | undefined
  rejectAll(error: () => AppError): void
}>

export function createPendingOrders<Order, Answer>(max: number, answerMs: number): PendingOrders<Order, Answer> {
  const orders = new Map<number, PendingOrder<Order, Answer>>()
  let lastId = 0

  const take = (id: number): PendingOrder<Order, Answer> | undefined => {
    const order = orders.get(id)
    if (order) clearTimeout(order.timer)
    orders.delete(id)
    return order
  }

  return {
    take,
    add(order, send, onTimeout) {
      if (orders.size >= max) {
        const text = 'the router is overloaded: try again'
        return Promise.reject(new AppError('OVERLOADED', text, { retryAfterSeconds: 1 }))
      }
      const id = ++lastId
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          take(id)
          reject(new AppError('OVERLOADED', 'the router did not answer in time: try again'))
          onTimeout()
        }, answerMs)
        orders.set(id, { order, resolve, reject, timer })
        send(id)
      })
    },
    rejectAll(error) {
      for (const id of [...orders.keys()]) take(id)?.reject(error())
    },
  }
}
