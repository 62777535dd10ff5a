import type { Asset } from '../../core/domain/asset.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Screening } from '../../core/ports/screening.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { Idempotency } from '../../core/services/interfaces.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Exchange, ExchangeView, Leg } from '../domain/exchange.ts'
import type { PrivatePlan } from '../domain/private-plan.ts'
import type { IssuedQuote } from '../domain/rate-quote.ts'
import type { ExchangeOrder, RateRequest } from '../interfaces.ts'
import type { Destination } from '../ports/chain.ts'
import type { CreateOutcome, NewExchange } from '../ports/store/exchanges.ts'
import type { ServiceSettings } from '../settings.ts'
import { type ResolvedOrder, type ReadOrderDeps, readOrder } from './read-order.ts'

export type CreateExchangeDeps = ReadOrderDeps &
  Readonly<{
    /** For the fresh quote beside an expired one. */
    quoteRate(partner: Partner, request: RateRequest): IssuedQuote
    /** The destination of a fresh derivation index on a network. */
    allocateDeposit(network: string): Promise<{ destination: Destination; keyIndex: number }>
    /** Commits what arrives together, answers after the commit. */
    commit(row: NewExchange): Promise<CreateOutcome>
    findByIdempotencyKey(partnerId: string, key: string): Promise<{ requestHash: string; exchange: Exchange } | null>
    countOpen(partnerId: string, most: number): Promise<number>
    screening: Screening
    settings: ServiceSettings
  }>

/** Creates one exchange, or says everything that is wrong with the order at once. Nothing is written for a refused one. */
export function createCreateExchange(deps: CreateExchangeDeps) {
  return async function createExchange(
    partner: Partner,
    order: ExchangeOrder,
    idempotency: Idempotency | null,
  ): Promise<ExchangeView> {
    return createFromOrder(deps, partner, order, idempotency, (one) => ({ read: readOrder(deps, partner, one) }))
  }
}

/** An order as it was read; `private`: through what, and as what was drawn for it. */
type Read = Readonly<{ read: ResolvedOrder; private?: Readonly<{ via: Asset; plan: PrivatePlan }> }>

/** What every create does with an order, however it is read and priced. */
export async function createFromOrder(
  deps: CreateExchangeDeps,
  partner: Partner,
  order: ExchangeOrder,
  idempotency: Idempotency | null,
  reading: (order: ExchangeOrder) => Read,
): Promise<ExchangeView> {
  // First of all: what was created once is answered again, whatever has become of rates and limits since.
  const repeated = await findRepeated(deps, partner, idempotency)
  if (repeated) return { exchange: repeated, executions: [] }
  const { read, private: through } = reading(order)
  const { from, to, quote, recipient, refund, rate } = read
  await screen(deps, to, recipient, 'recipient')
  await screen(deps, from, refund, 'refund')
  const open = await deps.countOpen(partner.id, partner.openExchangesMax)
  if (open >= partner.openExchangesMax)
    throw new AppError('RATE_LIMIT_EXCEEDED', `${open} exchanges are open, the most that this partner may have`, {
      retryAfterSeconds: 60,
    })
  const { destination, keyIndex } = await deps.takeDeposit(from.network.id)
  const outcome = await deps.commit({
    id: timeOrderedId(),
    partnerId: partner.id,
    type: through ? 'private' : 'standard',
    flow: order.flow,
    legs: legsThrough(from.asset, to.asset, through?.via),
    fromUnits: quote.fromUnits,
    toUnits: rate?.toUnits ?? quote.toUnits,
    deposit: destination,
    keyIndex,
    recipient,
    refund,
    partnerFeeBps: partner.feeBps,
    rate: rate && { nonce: rate.nonce, expiresAt: rate.expiresAt },
    idempotency,
    expiryMs: deps.settings.expiryMs,
    fixedLockMs: order.flow === 'fixed-rate' ? deps.settings.fixedLockMs : null,
    ...(through ? { plan: through.plan } : {}),
  })
  checkpoint('create.committed')
  return { exchange: resolve(deps, partner, order, outcome), executions: [] }
}

function legsThrough(from: Asset, to: Asset, via: Asset | undefined): readonly Leg[] {
  if (via === undefined) return [{ from, to }]
  return [
    { from, to: via },
    { from: via, to },
  ]
}

async function findRepeated(
  deps: CreateExchangeDeps,
  partner: Partner,
  idempotency: Idempotency | null,
): Promise<Exchange | null> {
  if (idempotency === null) return null
  const found = await deps.findRepeated(partner.id, idempotency.key)
  if (found && found.requestHash !== idempotency.requestHash)
    throw new AppError('IDEMPOTENCY_CONFLICT', 'this Idempotency-Key came with another body before')
  return found?.exchange ?? null
}

async function screen(
  deps: CreateExchangeDeps,
  { network }: Currency,
  destination: Destination | null,
  direction: 'recipient' | 'refund',
): Promise<void> {
  if (destination === null) return
  const verdict = await deps.screening.screen({ network: network.id, address: destination.address, direction })
  if (verdict !== 'allow')
    throw new AppError('RESTRICTED', 'this address cannot be served', {
      field: direction === 'recipient' ? 'address' : 'refundAddress',
    })
}

/** Outcomes of the commit as answers; an expired rate comes with a fresh quote. */
function resolve(deps: CreateExchangeDeps, partner: Partner, order: ExchangeOrder, outcome: CreateOutcome): Exchange {
  switch (outcome.kind) {
    case 'created':
    case 'repeated':
      return outcome.exchange
    case 'rate_expired':
      throw new AppError('RATE_ID_EXPIRED', 'the rateId has expired: take the fresh quote', {
        field: 'rateId',
        extra: { requote: deps.quoteRate(partner, { ...order, amount: order.fromAmount }) },
      })
    case 'rate_used':
      throw new AppError('RATE_ID_USED', 'the rateId was used already', { field: 'rateId' })
    case 'idempotency_conflict':
      throw new AppError('IDEMPOTENCY_CONFLICT', 'this Idempotency-Key came with another body before')
    case 'insufficient':
      throw new AppError('INSUFFICIENT_LIQUIDITY', 'the reserve does not cover this amount at a fixed rate now')
    case 'address_is_ours':
      throw new AppError('ADDRESS_IS_OURS', 'address is an address of this service', { field: 'address' })
    case 'refund_is_ours':
      throw new AppError('ADDRESS_IS_OURS', 'refundAddress is an address of this service', { field: 'refundAddress' })
  }
}
