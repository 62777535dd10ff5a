import { formatUnits } from '../domain/amount.ts'
import type { Currency } from '../domain/currency.ts'
import { AppError, type Problem } from '../domain/errors.ts'
import type { Exchange, ExchangeView } from '../domain/exchange.ts'
import type { Partner } from '../domain/partner.ts'
import { quoteUnits } from '../domain/pricing.ts'
import type { IssuedQuote, RateQuote, RateTerms } from '../domain/rate-quote.ts'
import { checkpoint } from '../lib/checkpoint.ts'
import { timeOrderedId } from '../lib/id.ts'
import type { Chain, Destination } from '../ports/chain.ts'
import type { CreateOutcome } from '../ports/create-outcome.ts'
import type { Screening } from '../ports/screening.ts'
import type { NewExchange } from '../ports/store.ts'
import type { BookSnapshot } from './book-snapshot.ts'
import type { ExchangeOrder, Idempotency, RateRequest } from './interfaces.ts'
import { type CurrencyLookup, type QuoteClock, readPair } from './quote-rate.ts'
import type { RateIds } from './rate-id.ts'
import type { ServiceSettings } from './settings.ts'

export type CreateExchangeDeps = Readonly<{
  catalogue: CurrencyLookup
  books: BookSnapshot
  clock: QuoteClock
  chains: ReadonlyMap<string, Chain>
  rateIds: RateIds
  /** For the fresh quote beside an expired one. */
  quoteRate(partner: Partner, request: RateRequest): IssuedQuote
  /** The destination of a fresh derivation index on a network. */
  takeDeposit(network: string): Promise<{ destination: Destination; keyIndex: number }>
  /** Commits what arrives together, answers after the commit. */
  commit(row: NewExchange): Promise<CreateOutcome>
  findRepeated(partnerId: string, key: string): Promise<{ requestHash: string; exchange: Exchange } | null>
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
    // First of all: what was created once is answered again, whatever has become of rates and limits since.
    const repeated = await findRepeated(deps, partner, idempotency)
    if (repeated) return { exchange: repeated, executions: [] }
    const { from, to, fromUnits } = readPair(deps.catalogue, { ...order, amount: order.fromAmount }, 'fromAmount')
    const pair = { from, to, flow: order.flow, partnerFeeBps: partner.feeBps }
    const quote = quoteUnits(deps.books.price(pair, deps.clock.now()), fromUnits)
    const { recipient, refund } = destinations(deps, partner, order, from, to)
    const rate = readRate(deps, partner, order, from, to, quote.fromUnits)
    if (!rate) checkBounds(quote, from)
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
      type: 'standard',
      flow: order.flow,
      legs: [{ from: from.asset, to: to.asset }],
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
    })
    checkpoint('create.committed')
    return { exchange: resolve(deps, partner, order, outcome), executions: [] }
  }
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

function destinations(deps: CreateExchangeDeps, partner: Partner, order: ExchangeOrder, from: Currency, to: Currency) {
  const problems: Problem[] = []
  const fallback = order.address === undefined ? partner.defaultRecipients.get(to.asset.id) : undefined
  const recipient = destinationOf(
    deps,
    to,
    order.address ?? fallback?.address,
    order.memo ?? fallback?.memo ?? undefined,
    ['address', 'memo'],
    problems,
  )
  const refund = destinationOf(
    deps,
    from,
    order.refundAddress,
    order.refundMemo,
    ['refundAddress', 'refundMemo'],
    problems,
  )
  const [first] = problems
  if (first) throw new AppError(first.code, first.message ?? 'an address is not valid', { problems })
  return { recipient, refund }
}

/** Family rules, not the published regex, decide. Every problem is added to `problems`. */
function destinationOf(
  deps: CreateExchangeDeps,
  { network, asset }: Currency,
  address: string | undefined,
  memo: string | undefined,
  [field, memoField]: [string, string],
  problems: Problem[],
): Destination | null {
  if (address === undefined) {
    if (memo !== undefined)
      problems.push({ code: 'VALIDATION_ERROR', field: memoField, message: `${memoField} needs ${field}` })
    return null
  }
  const chain = deps.chains.get(network.id)
  if (!chain) throw new AppError('NETWORK_UNAVAILABLE', `the network ${network.id} cannot be reached`)
  const canonical = chain.addresses.parse(address)
  const code = field === 'address' ? 'INVALID_ADDRESS' : 'INVALID_REFUND_ADDRESS'
  if (canonical === null)
    problems.push({
      code,
      field,
      message: `${field} is not a ${asset.ticker} address on ${network.id} that can be paid`,
    })
  else if (canonical === chain.addresses.hot())
    problems.push({ code: 'ADDRESS_IS_OURS', field, message: `${field} is an address of this service` })
  if (memo === undefined) {
    if (network.memo === 'required')
      problems.push({ code: 'MEMO_REQUIRED', field: memoField, message: `${asset.ticker} needs a ${memoField}` })
    return canonical === null ? null : { address: canonical, memo: null }
  }
  if (network.memo === 'none')
    problems.push({
      code: 'MEMO_NOT_SUPPORTED',
      field: memoField,
      message: `${asset.ticker} on ${network.id} has no memo`,
    })
  const parsed = network.memo === 'none' ? null : chain.addresses.parseMemo(memo)
  if (network.memo !== 'none' && parsed === null)
    problems.push({ code: 'MEMO_INVALID', field: memoField, message: `${memoField} is not a memo of ${network.id}` })
  return canonical === null ? null : { address: canonical, memo: parsed }
}

function readRate(
  deps: CreateExchangeDeps,
  partner: Partner,
  order: ExchangeOrder,
  from: Currency,
  to: Currency,
  fromUnits: bigint,
): RateTerms | null {
  if (order.rateId === undefined) {
    if (order.flow === 'fixed-rate')
      throw new AppError('RATE_ID_REQUIRED', 'a fixed rate needs the rateId of a quote', { field: 'rateId' })
    return null
  }
  return deps.rateIds.read(order.rateId, {
    partnerId: partner.id,
    fromAssetId: from.asset.id,
    toAssetId: to.asset.id,
    flow: order.flow,
    fromUnits,
  })
}

function checkBounds(quote: RateQuote, from: Currency): void {
  if (quote.withinBounds) return
  const below = quote.fromUnits < quote.minUnits
  const limit = formatUnits(below ? quote.minUnits : (quote.maxUnits ?? 0n), from.asset.decimals)
  const name = below ? 'min' : 'max'
  throw new AppError(
    below ? 'AMOUNT_BELOW_MIN' : 'AMOUNT_ABOVE_MAX',
    `fromAmount is ${below ? 'below the minimum' : 'above the maximum'} of ${limit}`,
    {
      field: 'fromAmount',
      extra: { [name]: limit, currency: from.asset.ticker, network: from.asset.network },
    },
  )
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
