import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Idempotency } from '../../core/services/interfaces.ts'
import { present } from '../../lib/assert.ts'
import type { ExchangeView } from '../domain/exchange.ts'
import type { PrivatePlan } from '../domain/private-plan.ts'
import type { PrivateExchangeOrder } from '../interfaces.ts'
import { isSameHolder } from '../ports/chain.ts'
import type { ChooseIntermediary, ChosenIntermediary } from '../quotes/choose-intermediary.ts'
import type { PrivacySettings } from '../settings.ts'
import { type CreateExchangeDeps, createFromOrder } from './create-exchange.ts'
import { type ResolvedOrder, readOrder } from './read-order.ts'

export type CreatePrivateDeps = CreateExchangeDeps &
  Readonly<{
    chooseIntermediary: ChooseIntermediary
    privacy: PrivacySettings
    /** A cryptographically random integer from 0 to `below` - 1. */
    draw(below: number): number
  }>

/** Creates one private exchange: two legs through the best intermediary, with its randomly drawn plan. */
export function createCreatePrivateExchange(deps: CreatePrivateDeps) {
  return async function createPrivateExchange(
    partner: Partner,
    order: PrivateExchangeOrder,
    idempotency: Idempotency | null,
  ): Promise<ExchangeView> {
    return createFromOrder(deps, partner, { ...order, flow: 'standard' }, idempotency, (standard) => {
      let chosen: ChosenIntermediary | null = null
      const resolved = readOrder(deps, partner, standard, (pair) => {
        deps.books.price({ ...pair, flow: 'standard', partnerFeeBps: partner.feeBps }, deps.clock.now())
        return (fromUnits) => {
          chosen = deps.chooseIntermediary(partner, pair, order.privateType, fromUnits)
          return chosen.quote
        }
      })
      assertDifferentHolders(deps, resolved)
      const intermediary = present<ChosenIntermediary>(chosen, 'the intermediary of a resolved order')
      return { resolved, private: drawPlan(deps, order, intermediary) }
    })
  }
}

/** A refund to the recipient's own address would reveal the recipient on the source chain. */
function assertDifferentHolders({ chains }: CreatePrivateDeps, { from, to, recipient, refund }: ResolvedOrder): void {
  if (recipient === null || refund === null) return
  const refundTo = { network: from.network.id, address: refund.address }
  const payTo = { network: to.network.id, address: recipient.address }
  if (isSameHolder(chains, refundTo, payTo)) throw revealsRecipient()
}

export const revealsRecipient = () =>
  new AppError(
    'INVALID_REFUND_ADDRESS',
    'refundAddress belongs to the recipient, so a refund would reveal the recipient: use another address',
    { field: 'refundAddress' },
  )

/** Draws all random values of the exchange. Later steps use only these stored values. */
function drawPlan(
  { privacy, draw }: CreatePrivateDeps,
  { privateType }: PrivateExchangeOrder,
  { via, considered, quoted }: ChosenIntermediary,
) {
  const { delayMaxMs, withheldMaxPpm, payoutMaxPpm, stallMs } = privacy
  // At least a tenth of the maximum: the intermediary amount must not equal the conversion of the deposit.
  const withheldMinPpm = Math.ceil(withheldMaxPpm / 10)
  const plan: PrivatePlan = {
    privateType,
    delaysMs: [draw(delayMaxMs + 1), draw(delayMaxMs + 1)],
    withheldPpm: withheldMinPpm + draw(withheldMaxPpm - withheldMinPpm + 1),
    // Symmetric around zero, so the mean is the converted amount.
    ...(payoutMaxPpm === 0 ? {} : { payoutPpm: draw(2 * payoutMaxPpm + 1) - payoutMaxPpm }),
    stallMs,
    considered,
    quoted,
  }
  return { via: via.asset, plan }
}
