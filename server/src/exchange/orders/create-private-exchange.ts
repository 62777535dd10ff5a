import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Idempotency } from '../../core/services/interfaces.ts'
import { present } from '../../lib/assert.ts'
import type { ExchangeView } from '../domain/exchange.ts'
import type { PrivatePlan } from '../domain/private-plan.ts'
import type { PrivateExchangeOrder } from '../interfaces.ts'
import type { ChooseIntermediary, ChosenIntermediary } from '../quotes/choose-intermediary.ts'
import type { PrivacySettings } from '../settings.ts'
import { type CreateExchangeDeps, createFromOrder } from './create-exchange.ts'
import { type ResolvedOrder, readOrder } from './read-order.ts'
import { isSameHolder } from './same-holder.ts'

export type CreatePrivateDeps = CreateExchangeDeps &
  Readonly<{
    chooseIntermediary: ChooseIntermediary
    privacy: PrivacySettings
    /** A whole number from 0 to `below` - 1 that nobody can foretell. */
    draw(below: number): number
  }>

/** Creates one private exchange: two legs through the intermediary that is the best now, and all that is drawn for it. */
export function createCreatePrivateExchange(deps: CreatePrivateDeps) {
  return async function createPrivateExchange(
    partner: Partner,
    order: PrivateExchangeOrder,
    idempotency: Idempotency | null,
  ): Promise<ExchangeView> {
    return createFromOrder(deps, partner, { ...order, flow: 'standard' }, idempotency, (standard) => {
      let way: ChosenIntermediary | null = null
      const read = readOrder(deps, partner, standard, (ends) => {
        deps.books.price({ ...ends, flow: 'standard', partnerFeeBps: partner.feeBps }, deps.clock.now())
        return (fromUnits) => {
          way = deps.findWay(partner, ends, order.privateType, fromUnits)
          return way.quote
        }
      })
      assertApart(deps, read)
      return {
        read,
        private: planOf(deps, order, present<ChosenIntermediary>(way, 'the way of an order that was read')),
      }
    })
  }
}

/** A refund to the recipient's own address would be on the source's chain, for everybody to see. */
function assertApart({ chains }: CreatePrivateDeps, { from, to, recipient, refund }: ResolvedOrder): void {
  if (recipient === null || refund === null) return
  const ends = [
    { network: from.network.id, address: refund.address },
    { network: to.network.id, address: recipient.address },
  ] as const
  if (isSameHolder(chains, ...ends))
    throw new AppError(
      'INVALID_REFUND_ADDRESS',
      'refundAddress is the recipient’s own: a refund to it would show who is paid',
      { field: 'refundAddress' },
    )
}

/** Delays and the withheld part are drawn here and nowhere else: what is stored with the exchange is what is done. */
function planOf({ privacy, draw }: CreatePrivateDeps, { privateType }: PrivateExchangeOrder, way: ChosenIntermediary) {
  const { delayMaxMs, withheldMaxPpm, payoutMaxPpm = 0, stallMs } = privacy
  // Never next to nothing: the intermediary's amount is never the plain conversion of the deposit.
  const leastPpm = Math.ceil(withheldMaxPpm / 10)
  const plan: PrivatePlan = {
    privateType,
    delaysMs: [draw(delayMaxMs + 1), draw(delayMaxMs + 1)],
    withheldPpm: leastPpm + draw(withheldMaxPpm - leastPpm + 1),
    // Either way alike, so that it costs nobody anything on average.
    ...(payoutMaxPpm === 0 ? {} : { payoutPpm: draw(2 * payoutMaxPpm + 1) - payoutMaxPpm }),
    stallMs,
    considered: way.considered,
  }
  return { via: way.via.asset, plan }
}
