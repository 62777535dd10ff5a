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

/** An order whose members are all valid. */
export type ResolvedOrder = Readonly<{
  from: Currency
  to: Currency
  /** The ordered amount with all its digits; the quote counts 15 of them. */
  fromUnits: bigint
  quote: RateQuote
  recipient: Destination | null
  refund: Destination | null
  /** Terms of the order's rateId; null = no rateId. */
  rate: RateTerms | null
}>

/** Prices a pair, then an amount. Both may throw. */
export type QuotePair = (pair: Readonly<{ from: Currency; to: Currency }>) => (fromUnits: bigint) => RateQuote

/** Validates and prices an order from memory. Throws all its problems together; a check that depends on a wrong member is skipped. */
export function readOrder(
  deps: ReadOrderDeps,
  partner: Partner,
  order: ExchangeOrder,
  quotePair: QuotePair = quoteDirectly(deps, partner, order),
): ResolvedOrder {
  const failures: AppError[] = []
  const problems: Problem[] = []
  const {
    from,
    to,
    units: fromUnits,
  } = readParts(deps.catalogue, { ...order, amount: order.fromAmount }, 'fromAmount', problems)
  const priced = from && to && attempt(() => quotePair({ from, to }), failures)
  const quote = priced && fromUnits !== null ? attempt(() => priced(fromUnits), failures) : null
  const hasFailed = () => problems.length + failures.length > 0
  // An address is checked by its network even if the ticker is not listed there.
  const source = locate(deps, from, order.fromNetwork)
  const target = locate(deps, to, order.toNetwork)
  const fallback = order.address === undefined && to ? partner.defaultRecipients.get(to.asset.id) : undefined
  const recipient = readDestination(
    target && { ...target, isRequired: !hasFailed() },
    order.address ?? fallback?.address,
    order.memo ?? fallback?.memo ?? undefined,
    ['address', 'memo'],
    problems,
  )
  const refund = readDestination(
    source && { ...source, isRequired: !hasFailed() },
    order.refundAddress,
    order.refundMemo,
    ['refundAddress', 'refundMemo'],
    problems,
  )
  const terms = from && to && fromUnits !== null ? { from, to, fromUnits } : null
  const rate = attempt(() => readRate(deps, partner, order, terms), failures)
  // The terms of a rateId were within the bounds when it was issued.
  if (quote && from && to && !rate) checkBounds(quote, { from, to }, problems)
  if (hasFailed() || !from || !to || fromUnits === null || !quote) throw combineProblems(problems, failures)
  return { from, to, fromUnits, quote, recipient, refund, rate }
}

function quoteDirectly(deps: ReadOrderDeps, partner: Partner, { flow }: ExchangeOrder): QuotePair {
  return (pair) => {
    const pricing = deps.books.price(
      { ...pair, flow, partnerFeeBps: partner.feeBps, partnerId: partner.id },
      deps.clock.now(),
    )
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

/** Problems that the caller must correct come before transient ones. */
const ranks: Partial<Record<ErrorKind, number>> = { not_found: 0, invalid: 0, unavailable: 2 }
const rankOf = ({ code }: Problem) => ranks[errorCodes[code]] ?? 1

function combineProblems(own: readonly Problem[], failures: readonly AppError[]): AppError {
  const [only] = failures
  if (only && failures.length === 1 && own.length === 0) return only
  const problems = [...own, ...failures.flatMap((failure) => failure.problems)].sort((a, b) => rankOf(a) - rankOf(b))
  const [first] = problems
  return new AppError(first?.code ?? 'VALIDATION_ERROR', first?.message ?? 'the order is invalid: see errors', {
    problems,
  })
}

type ChainOfNetwork = Readonly<{ network: Network; chain: Chain | null }>

function locate(deps: ReadOrderDeps, currency: Currency | null, name: string): ChainOfNetwork | null {
  const network = currency?.network ?? deps.catalogue.findNetwork(name)
  return network && { network, chain: deps.chains.get(network.id) ?? null }
}

/** Checks by the rules of the network's family, not by the published regex. Adds problems to `problems`. */
export function readDestination(
  target: (ChainOfNetwork & Readonly<{ isRequired: boolean }>) | null,
  address: string | undefined,
  memo: string | undefined,
  [field, memoField]: [string, string],
  problems: Problem[],
): Destination | null {
  const add = (code: Problem['code'], at: string, message: string) => void problems.push({ code, field: at, message })
  if (address === undefined) {
    if (memo !== undefined)
      add('VALIDATION_ERROR', memoField, `${memoField} was sent without ${field}: send both or neither`)
    return null
  }
  if (target === null) return null
  const { network, chain, isRequired } = target
  if (chain === null) {
    if (isRequired) add('NETWORK_UNAVAILABLE', field, `the network ${network.id} does not answer: retry later`)
    return null
  }
  const canonical = chain.addresses.parse(address)
  if (canonical === null)
    add(
      field === 'address' ? 'INVALID_ADDRESS' : 'INVALID_REFUND_ADDRESS',
      field,
      `${field} is not a valid address on ${network.id}: check the address and the network`,
    )
  else if (canonical === chain.addresses.hot())
    add('ADDRESS_IS_OURS', field, `${field} is an address of this service: use an address of the user`)
  if (memo === undefined) {
    if (network.memo === 'required')
      add('MEMO_REQUIRED', memoField, `${memoField} is required on ${network.id}: ask the user for it`)
    return canonical === null ? null : { address: canonical, memo: null }
  }
  if (network.memo === 'none')
    add('MEMO_NOT_SUPPORTED', memoField, `${memoField} is not supported on ${network.id}: leave it out`)
  const parsed = network.memo === 'none' ? null : chain.addresses.parseMemo(memo)
  if (network.memo !== 'none' && parsed === null)
    add('MEMO_INVALID', memoField, `${memoField} is not a valid memo on ${network.id}: check it with the user`)
  return canonical === null ? null : { address: canonical, memo: parsed }
}

/** Without `terms`, checks only that a required rateId is there. */
function readRate(
  deps: ReadOrderDeps,
  partner: Partner,
  order: ExchangeOrder,
  terms: Readonly<{ from: Currency; to: Currency; fromUnits: bigint }> | null,
): RateTerms | null {
  if (order.rateId === undefined) {
    if (order.flow === 'fixed-rate')
      throw new AppError(
        'RATE_ID_REQUIRED',
        'the flow fixed-rate requires a rateId: request a quote with flow=fixed-rate first',
        { field: 'rateId' },
      )
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

function checkBounds(
  quote: RateQuote,
  { from, to }: Readonly<{ from: Currency; to: Currency }>,
  problems: Problem[],
): void {
  if (quote.withinBounds) return
  const { ticker, network, decimals } = from.asset
  const isBelow = quote.fromUnits < quote.minUnits
  const min = formatUnits(quote.minUnits, decimals)
  const max = quote.maxUnits === null ? null : formatUnits(quote.maxUnits, decimals)
  const limit = isBelow ? `below the minimum of ${min}` : `above the maximum of ${max}`
  problems.push({
    code: isBelow ? 'AMOUNT_BELOW_MIN' : 'AMOUNT_ABOVE_MAX',
    field: 'fromAmount',
    message: `fromAmount ${formatUnits(quote.fromUnits, decimals)} is ${limit} ${ticker.toUpperCase()}`,
    min,
    ...(max === null ? {} : { max }),
    currency: ticker,
    network,
    minTo: formatUnits(quote.minToUnits, to.asset.decimals),
    ...(quote.maxToUnits === null ? {} : { maxTo: formatUnits(quote.maxToUnits, to.asset.decimals) }),
    toCurrency: to.asset.ticker,
    toNetwork: to.asset.network,
  })
}
