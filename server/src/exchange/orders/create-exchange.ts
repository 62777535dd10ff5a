import { BPS } from '../../core/domain/amount.ts'
import type { Asset } from '../../core/domain/asset.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Screening } from '../../core/ports/screening.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { Idempotency } from '../../core/services/interfaces.ts'
import { largest } from '../../lib/bigint.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Exchange, ExchangeView, Leg, QuotedFees } from '../domain/exchange.ts'
import type { PrivatePlan } from '../domain/private-plan.ts'
import type { IssuedQuote, RateQuote } from '../domain/rate-quote.ts'
import type { ExchangeOrder, Expectations, RateRequest } from '../interfaces.ts'
import type { Destination } from '../ports/chain.ts'
import type { CreateOutcome, NewExchange } from '../ports/store/exchanges.ts'
import { fixedInclusionMsOf, type ServiceSettings } from '../settings.ts'
import { checkRecipientGas } from './check-recipient-gas.ts'
import { type ReadOrderDeps, type ResolvedOrder, readOrder } from './read-order.ts'

export type CreateExchangeDeps = ReadOrderDeps &
  Readonly<{
    /** For the fresh quote in RATE_ID_EXPIRED. */
    quoteRate(partner: Partner, request: RateRequest): IssuedQuote
    /** A new deposit destination on a network, with its derivation index. */
    allocateDeposit(network: string): Promise<{ destination: Destination; keyIndex: number }>
    /** Inserts the exchange. Concurrent calls share one transaction; resolves after its commit. */
    commit(row: NewExchange): Promise<CreateOutcome>
    findByIdempotencyKey(partnerId: string, key: string): Promise<{ requestHash: string; exchange: Exchange } | null>
    countOpen(partnerId: string, most: number): Promise<number>
    expectations: Pick<Expectations, 'confirmationsOf' | 'secondsOf'>
    screening: Screening
    settings: ServiceSettings
  }>

/** Creates one exchange, or throws all problems of the order together. A rejected order writes nothing. */
export function createCreateExchange(deps: CreateExchangeDeps) {
  return async function createExchange(
    partner: Partner,
    order: ExchangeOrder,
    idempotency: Idempotency | null,
  ): Promise<ExchangeView> {
    return createFromOrder(deps, partner, order, idempotency, (input) => ({
      resolved: readOrder(deps, partner, input),
    }))
  }
}

/** An order; for a private exchange with its intermediary and its plan. */
type PricedOrder = Readonly<{ resolved: ResolvedOrder; private?: Readonly<{ via: Asset; plan: PrivatePlan }> }>

/** The common part of standard and private creates. `resolve` reads and prices the order. */
export async function createFromOrder(
  deps: CreateExchangeDeps,
  partner: Partner,
  order: ExchangeOrder,
  idempotency: Idempotency | null,
  resolve: (order: ExchangeOrder) => PricedOrder,
): Promise<ExchangeView> {
  // First: a repeat returns the stored exchange, regardless of later changes of rates and limits.
  const existing = await findRepeated(deps, partner, idempotency)
  if (existing) return { exchange: existing, executions: [] }
  const { resolved, private: through } = resolve(order)
  const { from, to, fromUnits, quote, recipient, refund, rate } = resolved
  if (rate !== null && isWorse(quote.toUnits, rate.toUnits, deps.settings))
    throw expired(deps, partner, order, 'the price has moved since the quote')
  await screen(deps, to, recipient, 'recipient')
  await screen(deps, from, refund, 'refund')
  const open = await deps.countOpen(partner.id, partner.openExchangesMax)
  if (open >= partner.openExchangesMax)
    throw new AppError(
      'RATE_LIMIT_EXCEEDED',
      `the partner has ${open} open exchanges; its limit is ${partner.openExchangesMax}: wait until some close`,
      { retryAfterSeconds: 60 },
    )
  // Last: it asks nodes.
  await checkContracts(deps, resolved)
  const { destination, keyIndex } = await deps.allocateDeposit(from.network.id)
  const { guards } = deps.settings
  const terms = {
    type: through ? 'private' : 'standard',
    legs: legsThrough(from.asset, to.asset, through?.via),
    fromUnits,
  } as const
  const confirmations = deps.expectations.confirmationsOf(terms)
  const outcome = await deps.commit({
    ...terms,
    id: timeOrderedId(),
    partnerId: partner.id,
    flow: order.flow,
    estimate: { confirmations, seconds: deps.expectations.secondsOf(terms, confirmations) },
    toUnits: rate?.toUnits ?? quote.toUnits,
    // Covers the order: with a rateId it was within the bounds of then, and bounds compare 15 digits.
    maxUnits: quote.maxUnits === null ? null : largest(quote.maxUnits, fromUnits),
    deposit: destination,
    keyIndex,
    recipient,
    refund,
    externalId: order.externalId ?? null,
    partnerFeeBps: partner.feeBps,
    quotedFees: order.flow === 'fixed-rate' ? quotedFeesOf(quote) : null,
    rate: rate && { nonce: rate.nonce, expiresAt: rate.expiresAt },
    idempotency,
    expiryMs: deps.settings.expiryMs,
    fixedLockMs: order.flow === 'fixed-rate' ? deps.settings.fixedLockMs : null,
    fixedInclusionMs: order.flow === 'fixed-rate' ? fixedInclusionMsOf(guards, from.network.blockTimeMs) : null,
    fixedReservePercent: guards.fixedReservePercent,
    fixedPartnerPercent: guards.fixedPartnerPercent,
    ...(through ? { plan: through.plan } : {}),
  })
  checkpoint('create.committed')
  return { exchange: exchangeOf(deps, partner, order, outcome), executions: [] }
}

/** The fees of the fresh quote, from which a fixed rate may differ by the last look at most. */
function quotedFeesOf({ toUnits, fees }: RateQuote): QuotedFees {
  const { serviceUnits, partnerUnits, networkUnits } = fees
  return { grossUnits: toUnits + serviceUnits + partnerUnits + networkUnits, networkUnits }
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
  const stored = await deps.findByIdempotencyKey(partner.id, idempotency.key)
  if (stored && stored.requestHash !== idempotency.requestHash) throw idempotencyConflict()
  return stored?.exchange ?? null
}

async function screen(
  deps: CreateExchangeDeps,
  { network }: Currency,
  destination: Destination | null,
  direction: 'recipient' | 'refund',
): Promise<void> {
  if (destination === null) return
  const verdict = await deps.screening.screen({ network: network.id, address: destination.address, direction })
  if (verdict === 'allow') return
  const field = direction === 'recipient' ? 'address' : 'refundAddress'
  throw new AppError('RESTRICTED', `${field} is rejected by address screening: use another address`, { field })
}

/** We pay the gas of the payout and of a refund. */
const checkContracts = ({ chains }: CreateExchangeDeps, { from, to, recipient, refund }: ResolvedOrder) =>
  Promise.all([
    checkRecipientGas(chains, to.asset, recipient, 'address'),
    checkRecipientGas(chains, from.asset, refund, 'refundAddress'),
  ])

const idempotencyConflict = () =>
  new AppError(
    'IDEMPOTENCY_CONFLICT',
    'this Idempotency-Key was used with another body or for another operation: use a new key for a new request',
  )

const ownAddress = (field: 'address' | 'refundAddress') =>
  new AppError('ADDRESS_IS_OURS', `${field} is an address of this service: use an address of the user`, { field })

/** The last look: a rateId is no option to take a price of up to a minute ago after the market has moved. */
function isWorse(liveUnits: bigint, promisedUnits: bigint, { guards }: ServiceSettings): boolean {
  return liveUnits * BPS < promisedUnits * (BPS - BigInt(guards.lastLookBps))
}

function expired(deps: CreateExchangeDeps, partner: Partner, order: ExchangeOrder, reason: string): AppError {
  return new AppError('RATE_ID_EXPIRED', `${reason}: use the fresh quote in requote`, {
    field: 'rateId',
    extra: { requote: deps.quoteRate(partner, { ...order, amount: order.fromAmount }) },
  })
}

/** The exchange of a commit, or its failure as an error. An expired rateId comes with a fresh quote. */
function exchangeOf(
  deps: CreateExchangeDeps,
  partner: Partner,
  order: ExchangeOrder,
  outcome: CreateOutcome,
): Exchange {
  switch (outcome.kind) {
    case 'created':
    case 'repeated':
      return outcome.exchange
    case 'rate_expired':
      throw expired(deps, partner, order, 'rateId has expired')
    case 'rate_used':
      throw new AppError('RATE_ID_USED', 'rateId was used for another exchange: request a new quote', {
        field: 'rateId',
      })
    case 'idempotency_conflict':
      throw idempotencyConflict()
    case 'insufficient':
      throw new AppError(
        'INSUFFICIENT_LIQUIDITY',
        `the reserve does not cover a fixed rate for fromAmount ${order.fromAmount}: lower the amount or retry later`,
      )
    case 'address_is_ours':
      throw ownAddress('address')
    case 'refund_is_ours':
      throw ownAddress('refundAddress')
  }
}
