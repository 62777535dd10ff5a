import type {
  CreatedExchange,
  ExchangeRecord,
  ExchangeStatusAnswer,
  ListedExchange,
  PrivateRateQuote,
  Currency as WireCurrency,
  RateQuote as WireQuote,
} from '@swapyard/schema'
import { formatUnits, type Rounding, toSignificant } from '../../core/domain/amount.ts'
import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { iconPath } from '../../core/domain/catalogue.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { formatUsd } from '../../core/domain/price.ts'
import { assert, present } from '../../lib/assert.ts'
import type { Exchange, ExchangeView, ExecutionView, Leg, RefundView } from '../domain/exchange.ts'
import type { IssuedQuote, RateQuote } from '../domain/rate-quote.ts'

/** Powers of ten that are exact in binary64: 10^0 to 10^22. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))
const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Amount as a JSON number, which only the quotes of the partner API use. At most 15 significant digits, so that its shortest
 * text is the exact amount. If both operands are exact in binary64, one division rounds correctly and takes a fifth of the
 * time of parsing the text.
 */
function toNumber(units: bigint, decimals: number, rounding: Rounding): number {
  const rounded = toSignificant(units, rounding)
  const power = POWERS[decimals]
  if (rounded <= EXACT_MAX && power !== undefined) return Number(rounded) / power
  return Number(formatUnits(rounded, decimals))
}

/** The sandbox's explorer pages are paths on this server. */
const absolute = (template: string, publicUrl: string): string =>
  template.startsWith('/') ? publicUrl + template : template

export function presentCurrency(currency: Currency, publicUrl: string): WireCurrency {
  const { definition, network, enabled } = currency
  return {
    ticker: definition.ticker,
    network: definition.network,
    symbol: definition.symbol,
    name: definition.name,
    hasMemo: network.memo !== 'none',
    requireMemo: network.memo === 'required',
    isFiat: definition.isFiat,
    isStable: definition.isStable,
    supportsFixedRate: definition.supportsFixedRate,
    enabled,
    image: `${publicUrl}${iconPath(definition)}`,
    regexAddress: network.regexAddress,
    addressExplorer: absolute(network.addressExplorer, publicUrl),
    txExplorer: absolute(network.txExplorer, publicUrl),
    confirmations: network.confirmations,
    rank: definition.rank,
  }
}

export function isIssuedQuote(value: unknown): value is IssuedQuote {
  return typeof value === 'object' && value !== null && 'quote' in value && 'rateId' in value && 'validUntil' in value
}

export function presentRateQuote({ quote, rateId, validUntil }: IssuedQuote): WireQuote {
  return { ...presentEstimate(quote), rateId, validUntil: validUntil === null ? null : validUntil.toISOString() }
}

export function presentPrivateQuote(quote: RateQuote, expectedSeconds: number): PrivateRateQuote {
  return { ...presentEstimate(quote), expectedSeconds }
}

function presentEstimate(quote: RateQuote): Omit<WireQuote, 'rateId' | 'validUntil'> {
  const { from, to, fees } = quote
  return {
    min: toNumber(quote.minUnits, from.decimals, 'up'),
    max: quote.maxUnits === null ? null : toNumber(quote.maxUnits, from.decimals, 'down'),
    fromAmount: toNumber(quote.fromUnits, from.decimals, 'down'),
    toAmount: toNumber(quote.toUnits, to.decimals, 'down'),
    fromCurrency: from.ticker,
    toCurrency: to.ticker,
    fromNetwork: from.network,
    toNetwork: to.network,
    amountFromUsd: formatUsd(quote.fromUsd),
    amountToUsd: formatUsd(quote.toUsd),
    fees: {
      service: formatUnits(fees.serviceUnits, to.decimals),
      partner: formatUnits(fees.partnerUnits, to.decimals),
      network: formatUnits(fees.networkUnits, to.decimals),
    },
  }
}

/** Source and target asset. */
function endpointsOf(exchange: Exchange): Leg {
  return { from: present(exchange.legs[0], 'first leg').from, to: present(exchange.legs.at(-1), 'last leg').to }
}

/** Lookups in the currency list. */
export type Listing = Readonly<{
  /** Whether deposits on this network require a memo. */
  requiresMemo(network: string): boolean
  /** null if the catalogue no longer lists it. */
  assetOf(id: AssetId): Asset | null
}>

/** A deposit without its required memo is lost, so throw instead of showing the address alone (I-33). */
function checkedMemo(exchange: Exchange, { requiresMemo }: Listing): string | null {
  const { memo } = exchange.deposit
  const isMissing = memo === null && requiresMemo(endpointsOf(exchange).from.network)
  assert(!isMissing, `the deposit of exchange ${exchange.id} has the memo that its network requires`)
  return memo
}

function presentListedRequest(exchange: Exchange, listing: Listing): ListedExchange['request'] {
  const { from, to } = endpointsOf(exchange)
  const { recipient, refund } = exchange
  return {
    fromCurrency: from.ticker,
    fromNetwork: from.network,
    toCurrency: to.ticker,
    toNetwork: to.network,
    amountFromRequested: formatUnits(exchange.fromUnits, from.decimals),
    amountToRequested: formatUnits(exchange.toUnits, to.decimals),
    depositAddress: exchange.deposit.address,
    depositMemo: checkedMemo(exchange, listing),
    recipientAddress: recipient === null ? '' : recipient.address,
    recipientMemo: recipient === null ? null : recipient.memo,
    refundAddress: refund === null ? null : refund.address,
    refundMemo: refund === null ? null : refund.memo,
  }
}

type WireExecution = ExchangeRecord['exchanges'][number]

function presentExecution(execution: ExecutionView, { from, to }: Leg, listing: Listing): WireExecution {
  const { receivedUnits, sentUnits, refund } = execution
  return {
    amountFromReceived: receivedUnits === null ? null : formatUnits(receivedUnits, from.decimals),
    amountToReceived: sentUnits === null ? null : formatUnits(sentUnits, to.decimals),
    status: execution.status,
    payinHash: execution.payinHash,
    payoutHash: execution.payoutHash,
    created: execution.createdAt.toISOString(),
    statusReason: execution.reason,
    refund: refund === null ? null : presentRefund(refund, from, listing),
  }
}

/** The refunded asset may differ from the ordered one. */
function presentRefund({ assetId, units, address, memo, txHash }: RefundView, from: Asset, { assetOf }: Listing) {
  const asset = present(from.id === assetId ? from : assetOf(assetId), 'the asset of a refund')
  return {
    amount: formatUnits(units, asset.decimals),
    currency: asset.ticker,
    network: asset.network,
    address,
    memo,
    hash: txHash,
  }
}

/** In the order of legs, then of deposits. */
function presentExecutions({ exchange, executions }: ExchangeView, listing: Listing): WireExecution[] {
  return executions.map((execution) =>
    presentExecution(execution, present(exchange.legs[execution.leg], 'leg of an execution'), listing),
  )
}

export function presentExchange(view: ExchangeView, listing: Listing): ExchangeRecord {
  const { exchange } = view
  const request = presentListedRequest(exchange, listing) as ExchangeRecord['request']
  request.flow = exchange.flow
  return {
    id: exchange.id,
    created: exchange.createdAt.toISOString(),
    exchangeType: exchange.type,
    status: exchange.status,
    statusReason: exchange.reason,
    request,
    exchanges: presentExecutions(view, listing),
  }
}

export function presentStatus(view: ExchangeView, listing: Listing): ExchangeStatusAnswer {
  return { type: view.exchange.type, exchange: presentExchange(view, listing) }
}

export function presentListedExchange(view: ExchangeView, listing: Listing): ListedExchange {
  const { exchange } = view
  return {
    id: exchange.id,
    created: exchange.createdAt.toISOString(),
    exchangeType: exchange.type,
    status: exchange.status,
    statusReason: exchange.reason,
    request: presentListedRequest(exchange, listing),
    exchanges: presentExecutions(view, listing),
  }
}

/**
 * Response of a create, from values that never change: a repeat with the same Idempotency-Key gets the same bytes, whatever
 * the exchange's current status.
 */
export function presentCreated({ exchange }: ExchangeView, listing: Listing): CreatedExchange {
  const { from, to } = endpointsOf(exchange)
  const depositMemo = checkedMemo(exchange, listing)
  return {
    id: exchange.id,
    created: exchange.createdAt.toISOString(),
    exchangeType: exchange.type,
    status: 'pending',
    request: {
      fromCurrency: from.ticker,
      fromNetwork: from.network,
      toCurrency: to.ticker,
      toNetwork: to.network,
      amountFromRequested: formatUnits(exchange.fromUnits, from.decimals),
      amountToRequested: formatUnits(exchange.toUnits, to.decimals),
      depositAddress: exchange.deposit.address,
      ...(depositMemo === null ? {} : { depositMemo }),
      recipientAddress: exchange.recipient === null ? '' : exchange.recipient.address,
      flow: exchange.flow,
    },
    exchanges: [],
  }
}
