import { AppError } from '../../core/domain/errors.ts'
import type { ExchangeServices } from '../interfaces.ts'
import type { ExchangeStore } from '../ports/store/exchanges.ts'

/** Cancels an exchange for which no payment was seen. */
export function createCancelExchange({
  exchanges,
}: Readonly<{ exchanges: Pick<ExchangeStore, 'find' | 'cancel'> }>): ExchangeServices['cancelExchange'] {
  return async (partner, id) => {
    const view = await exchanges.find(partner.id, id.toLowerCase())
    if (view === null)
      throw new AppError('EXCHANGE_NOT_FOUND', 'no exchange with this id: check the id', { field: 'id' })
    const outcome = await exchanges.cancel(view.exchange.id)
    if (outcome === 'cancelled') return
    const message = 'a payment of the exchange was seen, or it is closed: read its status'
    throw new AppError('EXCHANGE_NOT_PENDING', message, { field: 'id' })
  }
}
