import { AppError } from '../../core/domain/errors.ts'
import type { ExchangeServices } from '../interfaces.ts'
import type { ExchangeStore } from '../ports/store/exchanges.ts'

/** Ends the time of an exchange for which no payment was seen. Only the sandbox offers this. */
export function createExpireExchange({
  exchanges,
}: Readonly<{ exchanges: Pick<ExchangeStore, 'find' | 'expire'> }>): ExchangeServices['expireExchange'] {
  return async (partner, id) => {
    const view = await exchanges.find(partner.id, id.toLowerCase())
    if (view === null)
      throw new AppError('EXCHANGE_NOT_FOUND', 'no exchange with this id: check the id', { field: 'id' })
    const expiresAt = await exchanges.expire(view.exchange.id)
    if (expiresAt !== null) return expiresAt
    const message = 'a payment of the exchange was seen, or it is closed: read its status'
    throw new AppError('EXCHANGE_NOT_PENDING', message, { field: 'id' })
  }
}
