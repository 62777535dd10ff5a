import { parseUnits } from '../../core/domain/amount.ts'
import { contractKey } from '../../core/domain/catalogue.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError, type Problem } from '../../core/domain/errors.ts'
import { quotedInputFor, quoteUnits } from '../domain/pricing.ts'
import type { ExchangeServices, PairIdentities, RateRequest } from '../interfaces.ts'
import type { BookSnapshot } from './book-snapshot.ts'
import type { RateIds } from './rate-id.ts'

/** Accepts any letter case and aliases. */
export type CurrencyLookup = Readonly<{ find(ticker: string, network: string): Currency | null }>

/** Milliseconds since 1970. `databaseNow` is this process's clock plus the sampled offset of the database's clock. */
export type QuoteClock = Readonly<{ now(): number; databaseNow(): number }>

type Dependencies = Readonly<{
  catalogue: CurrencyLookup
  books: BookSnapshot
  rateIds: RateIds
  clock: QuoteClock
  /** Validity of a rateId, from the receipt of the request. */
  rateIdTtlMs: number
}>

/** Quotes from the book in memory, synchronously and without a database query. */
export function createQuoteRate(dependencies: Dependencies): ExchangeServices['quoteRate'] {
  const { catalogue, books, rateIds, clock, rateIdTtlMs } = dependencies
  return (partner, request) => {
    const { from, to, units } = readPair(catalogue, request)
    const pair = { from, to, flow: request.flow, partnerFeeBps: partner.feeBps, partnerId: partner.id }
    const pricing = books.price(pair, clock.now())
    const quote = quoteUnits(pricing, request.amountOf === 'to' ? quotedInputFor(pricing, units) : units)
    if (!quote.withinBounds) return { quote, rateId: null, validUntil: null }
    const expiresAt = new Date(clock.databaseNow() + rateIdTtlMs)
    const rateId = rateIds.issue({
      partnerId: partner.id,
      fromAssetId: quote.from.id,
      toAssetId: quote.to.id,
      flow: quote.flow,
      fromUnits: quote.fromUnits,
      toUnits: quote.toUnits,
      expiresAt,
    })
    return { quote, rateId, validUntil: expiresAt }
  }
}

/** Finds both currencies and reads the positive amount, in units of the side that it is of. Throws all problems together. */
export function readPair(
  catalogue: CurrencyLookup,
  request: Omit<RateRequest, 'flow'>,
): { from: Currency; to: Currency; units: bigint } {
  const problems: Problem[] = []
  const field = request.amountOf === 'to' ? 'toAmount' : 'amount'
  const { from, to, units } = readParts(catalogue, request, field, problems)
  if (problems.length === 0 && from !== null && to !== null && units !== null) return { from, to, units }
  const [first] = problems
  throw new AppError(first?.code ?? 'VALIDATION_ERROR', first?.message ?? 'the request is not valid', { problems })
}

/** Like `readPair`, but adds problems to `problems` and returns null for the parts that have one. */
export function readParts(
  catalogue: CurrencyLookup,
  request: Omit<RateRequest, 'flow'>,
  amountField: string,
  problems: Problem[],
): { from: Currency | null; to: Currency | null; units: bigint | null } {
  const from = catalogue.find(request.fromCurrency, request.fromNetwork)
  const to = catalogue.find(request.toCurrency, request.toNetwork)
  if (from === null) problems.push(notFound('fromCurrency', request.fromCurrency, request.fromNetwork))
  if (to === null) problems.push(notFound('toCurrency', request.toCurrency, request.toNetwork))
  checkIdentity(from, 'from', request, problems)
  checkIdentity(to, 'to', request, problems)
  const units = readAmount(request.amount, request.amountOf === 'to' ? to : from, amountField)
  if (typeof units === 'bigint') return { from, to, units }
  problems.push(...units)
  return { from, to, units: null }
}

/** A wallet states what it means: another token with the same ticker must not be exchanged. */
function checkIdentity(
  currency: Currency | null,
  side: 'from' | 'to',
  request: PairIdentities,
  problems: Problem[],
): void {
  if (currency === null) return
  const { asset, network } = currency
  const [contract, chainId] = [request[`${side}ContractAddress`], request[`${side}ChainId`]]
  const refuse = (field: string, what: string, ours: string | number | null) =>
    void problems.push({
      code: 'VALIDATION_ERROR',
      field,
      message: `${field} is not the ${what} of ${asset.ticker.toUpperCase()} on ${network.id}, which is ${ours ?? 'none'}`,
    })
  if (contract !== undefined && contractKey(contract) !== contractKey(asset.contract ?? ''))
    refuse(`${side}ContractAddress`, 'contract', asset.contract)
  const ours = network.evm?.chainId ?? null
  if (chainId !== undefined && chainId !== String(ours)) refuse(`${side}ChainId`, 'chain id', ours)
}

/** The units, or the problems of the amount. Without a currency, its decimals are not checked. */
function readAmount(text: string, currency: Currency | null, field: string): bigint | readonly Problem[] {
  try {
    const units = parseUnits(text, currency?.asset ?? UNKNOWN, field)
    if (units > 0n) return units
    return [{ code: 'VALIDATION_ERROR', field, message: `${field} must be greater than zero` }]
  } catch (error) {
    if (error instanceof AppError) return error.problems
    throw error
  }
}

/** Replaces an unknown currency. Its 80 decimals accept every amount. */
const UNKNOWN = { id: 'unknown@unknown', ticker: 'unknown', network: 'unknown', decimals: 80, contract: null } as const

function notFound(field: 'fromCurrency' | 'toCurrency', ticker: string, network: string): Problem {
  const subject = `${field} ${JSON.stringify(ticker)} on network ${JSON.stringify(network)}`
  return { code: 'CURRENCY_NOT_FOUND', field, message: `${subject} is not listed: use a pair of the currency list` }
}
