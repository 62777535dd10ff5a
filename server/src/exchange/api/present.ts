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

/** Whole cents from one dollar on, six decimals below. */

/** Powers of ten that binary64 holds exactly: 10^0 to 10^22. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))
const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * The partner API has a JSON number here and nowhere else. At most 15 significant digits, so that the number's shortest text is the
 * amount itself. Where both sides are exact in binary64, one division rounds as correctly as reading the text would, and
 * costs a fifth of it.
 */
function toNumber(units: bigint, decimals: number, rounding: Rounding): number {
  const rounded = toSignificant(units, rounding)
  const power = POWERS[decimals]
  if (rounded <= EXACT_MAX && power !== undefined) return Number(rounded) / power
  return Number(formatUnits(rounded, decimals))
}

/** The sandbox's explorers are on this very server. */
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

type Ends = Readonly<{ from: Asset; to: Asset }>

function endsOf(exchange: Exchange): Ends {
  return { from: present(exchange.legs[0], 'first leg').from, to: present(exchange.legs.at(-1), 'last leg').to }
}

/** What the list of currencies says of others than those that an exchange names. */
export type Listing = Readonly<{
  /** Whether a network's deposits must carry a memo. */
  requiresMemo(network: string): boolean
  /** null where it was taken off the list altogether. */
  assetOf(id: AssetId): Asset | null
}>

/** Money sent to such an address without its memo is lost (I-33): better no answer than that one. */
function checkedMemo(exchange: Exchange, { requiresMemo }: Listing): string | null {
  const { memo } = exchange.deposit
  const missing = memo === null && requiresMemo(endsOf(exchange).from.network)
  assert(!missing, `the deposit of exchange ${exchange.id} has the memo that its network requires`)
  return memo
}

function presentListedRequest(exchange: Exchange, listing: Listing): ListedExchange['request'] {
  const { from, to } = endsOf(exchange)
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

/** The coin that came in may be another one than was ordered. */
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

/** Executions come leg by leg, deposit after deposit. */
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
 * The answer of a create, made from what never changes afterwards: a repeat with the same Idempotency-Key gives the same
 * bytes, whatever has become of the exchange since.
 */
export function presentCreated({ exchange }: ExchangeView, listing: Listing): CreatedExchange {
  const { from, to } = endsOf(exchange)
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
