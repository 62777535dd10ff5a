import { AppError } from '../../core/domain/errors.ts'
import { trackExchange } from '../domain/tracked-exchange.ts'
import type { Tracking } from '../interfaces.ts'
import { checkRefundAddress, type NameRefundAddressDeps, nameRefund } from './name-refund-address.ts'
import type { TrackingTokens } from './tracking-tokens.ts'

export type TrackExchangesDeps = NameRefundAddressDeps &
  Readonly<{
    tokens: TrackingTokens
    /** Whether payers of this partner may name a refund address by their tracking link. */
    allowsRefundByLink(partnerId: string): Promise<boolean>
  }>

/** What the holder of a tracking link can see and do, without a key. */
export function createTracking(deps: TrackExchangesDeps): Tracking {
  const { tokens, exchanges } = deps
  const find: Tracking['find'] = async (token) => {
    const id = tokens.read(token)
    const view = id === null ? null : await exchanges.find(null, id)
    return view === null ? null : trackExchange(view)
  }
  const takesRefundAddress: Tracking['takesRefundAddress'] = async ({ needsRefundAddress, exchange }) =>
    needsRefundAddress && deps.allowsRefundByLink(exchange.partnerId)
  const findForRefund = async (token: string) => {
    const tracked = await find(token)
    if (tracked === null) throw new AppError('EXCHANGE_NOT_FOUND', 'no exchange with this token', { field: 'token' })
    if (await takesRefundAddress(tracked)) return tracked.exchange
    throw new AppError('REFUND_ADDRESS_SET', 'the exchange takes no refund address by this link')
  }
  return {
    tokenOf: tokens.of,
    find,
    takesRefundAddress,
    checkRefundAddress: async (token, address, memo) =>
      checkRefundAddress(deps, await findForRefund(token), address, memo),
    nameRefundAddress: async (token, address, memo) => {
      const exchange = await findForRefund(token)
      return nameRefund(deps, exchange, await checkRefundAddress(deps, exchange, address, memo))
    },
  }
}
