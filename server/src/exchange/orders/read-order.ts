import { formatUnits } from '../../core/domain/amount.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError, type ErrorKind, errorCodes, type Problem } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { quoteUnits } from '../domain/pricing.ts'
import type { RateQuote, RateTerms } from '../domain/rate-quote.ts'
import type { ExchangeOrder } from '../interfaces.ts'
import type { Chain, Destination } from '../ports/chain.ts'
import type { BookSnapshot } from '../quotes/book-snapshot.ts'
import { type CurrencyLookup, type QuoteClock, readParts } from '../quotes/quote-rate.ts'
import type { RateIds } from '../quotes/rate-id.ts'

export type ReadOrderDeps = Readonly<{
  catalogue: CurrencyLookup & Readonly<{ findNetwork(network: string): Network | null }>
  books: BookSnapshot
  clock: QuoteClock
  chains: ReadonlyMap<string, Chain>
  rateIds: RateIds
}>

/** An order whose every part is right by itself. */
export type ResolvedOrder = Readonly<{
  from: Currency
  to: Currency
  quote: RateQuote
  recipient: Destination | null
  refund: Destination | null
  /** What the order's rateId promised; null = it has none. */
  rate: RateTerms | null
}>

/** Prices a pair, then an amount of it; either may refuse. */
export type QuotePair = (pair: Readonly<{ from: Currency; to: Currency }>) => (fromUnits: bigint) => RateQuote

/** Reads an order from memory alone. Throws with every problem of it at once; parts that others stand on are judged first. */
export function readOrder(
  deps: ReadOrderDeps,
  partner: Partner,
  order: ExchangeOrder,
  quoting: QuotePair = direct(deps, partner, order),
): ResolvedOrder {
  const failures: AppError[] = []
  const problems: Problem[] = []
  const { from, to, fromUnits } = readParts(
    deps.catalogue,
    { ...order, amount: order.fromAmount },
    'fromAmount',
    problems,
  )
  const priced = from && to && attempt(() => quoting({ from, to }), failures)
  const quote = priced && fromUnits !== null ? attempt(() => priced(fromUnits), failures) : null
  const isFailed = () => problems.length + failures.length > 0
  // An address is judged by its network, even where the ticker is not listed there.
  const [source, target] = [placeOf(deps, from, order.fromNetwork), placeOf(deps, to, order.toNetwork)]
  const fallback = order.address === undefined && to ? partner.defaultRecipients.get(to.asset.id) : undefined
  const recipient = readDestination(
    target && { ...target, isRequired: !isFailed() },
    order.address ?? fallback?.address,
    order.memo ?? fallback?.memo ?? undefined,
    ['address', 'memo'],
    problems,
  )
  const refund = readDestination(
    source && { ...source, isRequired: !isFailed() },
    order.refundAddress,
    order.refundMemo,
    ['refundAddress', 'refundMemo'],
    problems,
  )
  const terms = from && to && fromUnits !== null ? { from, to, fromUnits } : null
  const rate = attempt(() => readRate(deps, partner, order, terms), failures)
  // What a rateId promised was within the bounds of its time.
  if (quote && from && !rate) checkBounds(quote, from, problems)
  if (isFailed() || !from || !to || !quote) throw refusal(problems, failures)
  return { from, to, quote, recipient, refund, rate }
}

function direct(deps: ReadOrderDeps, partner: Partner, { flow }: ExchangeOrder): QuotePair {
  return (pair) => {
    const pricing = deps.books.price({ ...pair, flow, partnerFeeBps: partner.feeBps }, deps.clock.now())
    return (fromUnits) => quoteUnits(pricing, fromUnits)
  }
}

function attempt<T>(work: () => T, failures: AppError[]): T | null {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'bug') throw error
    failures.push(error)
    return null
  }
}

/** What the caller must correct comes before what may pass by itself. */
const ranks: Partial<Record<ErrorKind, number>> = { not_found: 0, invalid: 0, unavailable: 2 }
const rankOf = ({ code }: Problem) => ranks[errorCodes[code]] ?? 1

function refusal(own: readonly Problem[], failures: readonly AppError[]): AppError {
  const [only] = failures
  if (only && failures.length === 1 && own.length === 0) return only
  const problems = [...own, ...failures.flatMap((failure) => failure.problems)].sort((a, b) => rankOf(a) - rankOf(b))
  const [first] = problems
  return new AppError(first?.code ?? 'VALIDATION_ERROR', first?.message ?? 'the order is not valid', { problems })
}

type Place = Readonly<{ network: Network; chain: Chain | null }>

function placeOf(deps: ReadOrderDeps, currency: Currency | null, name: string): Place | null {
  const network = currency?.network ?? deps.catalogue.findNetwork(name)
  return network && { network, chain: deps.chains.get(network.id) ?? null }
}

/** Family rules, not the published regex, decide. Every problem is added to `problems`. */
function readDestination(
  place: (Place & Readonly<{ isRequired: boolean }>) | null,
  address: string | undefined,
  memo: string | undefined,
  [field, memoField]: [string, string],
  problems: Problem[],
): Destination | null {
  const add = (code: Problem['code'], at: string, message: string) => void problems.push({ code, field: at, message })
  if (address === undefined) {
    if (memo !== undefined) add('VALIDATION_ERROR', memoField, `${memoField} needs ${field}`)
    return null
  }
  if (place === null) return null
  const { network, chain } = place
  if (chain === null) {
    if (place.isRequired) add('NETWORK_UNAVAILABLE', field, `the network ${network.id} cannot be reached`)
    return null
  }
  const canonical = chain.addresses.parse(address)
  if (canonical === null)
    add(
      field === 'address' ? 'INVALID_ADDRESS' : 'INVALID_REFUND_ADDRESS',
      field,
      `${field} is not an address on ${network.id} that can be paid`,
    )
  else if (canonical === chain.addresses.hot()) add('ADDRESS_IS_OURS', field, `${field} is an address of this service`)
  if (memo === undefined) {
    if (network.memo === 'required') add('MEMO_REQUIRED', memoField, `an address on ${network.id} needs a ${memoField}`)
    return canonical === null ? null : { address: canonical, memo: null }
  }
  if (network.memo === 'none') add('MEMO_NOT_SUPPORTED', memoField, `addresses on ${network.id} have no memo`)
  const parsed = network.memo === 'none' ? null : chain.addresses.parseMemo(memo)
  if (network.memo !== 'none' && parsed === null)
    add('MEMO_INVALID', memoField, `${memoField} is not a memo of ${network.id}`)
  return canonical === null ? null : { address: canonical, memo: parsed }
}

/** Without terms that it could be compared with, only whether there must be one. */
function readRate(
  deps: ReadOrderDeps,
  partner: Partner,
  order: ExchangeOrder,
  terms: Readonly<{ from: Currency; to: Currency; fromUnits: bigint }> | null,
): RateTerms | null {
  if (order.rateId === undefined) {
    if (order.flow === 'fixed-rate')
      throw new AppError('RATE_ID_REQUIRED', 'a fixed rate needs the rateId of a quote', { field: 'rateId' })
    return null
  }
  if (terms === null) return null
  return deps.rateIds.read(order.rateId, {
    partnerId: partner.id,
    fromAssetId: terms.from.asset.id,
    toAssetId: terms.to.asset.id,
    flow: order.flow,
    fromUnits: terms.fromUnits,
  })
}

function checkBounds(quote: RateQuote, from: Currency, problems: Problem[]): void {
  if (quote.withinBounds) return
  const below = quote.fromUnits < quote.minUnits
  const min = formatUnits(quote.minUnits, from.asset.decimals)
  const max = quote.maxUnits === null ? null : formatUnits(quote.maxUnits, from.asset.decimals)
  problems.push({
    code: below ? 'AMOUNT_BELOW_MIN' : 'AMOUNT_ABOVE_MAX',
    field: 'fromAmount',
    message: `fromAmount is ${below ? `below the minimum of ${min}` : `above the maximum of ${max}`}`,
    min,
    ...(max === null ? {} : { max }),
    currency: from.asset.ticker,
    network: from.asset.network,
  })
}
