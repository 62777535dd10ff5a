import type {
  CreatedExchange,
  ExchangeRecord,
  ExchangeStatusAnswer,
  ListedExchange,
  Currency as WireCurrency,
  RateQuote as WireQuote,
} from '@swapyard/schema'
import { formatUnits, type Rounding, toSignificant } from '../domain/amount.ts'
import type { Asset } from '../domain/asset.ts'
import { iconPath } from '../domain/catalogue.ts'
import type { Currency } from '../domain/currency.ts'
import type { Exchange, ExchangeView, ExecutionView, Leg } from '../domain/exchange.ts'
import type { IssuedQuote } from '../domain/rate-quote.ts'
import { assert, present } from '../lib/assert.ts'

/** Dollar values of the domain are scaled by 10^12. */
const USD_DECIMALS = 12
/** Whole cents from one dollar on, six decimals below. */
const CENT = 10n ** 10n
const MICRODOLLAR = 10n ** 6n
const DOLLAR = 10n ** 12n

/** Powers of ten that binary64 holds exactly: 10^0 to 10^22. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))
const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * The spec says number here and nowhere else. At most 15 significant digits, so that the number's shortest text is the
 * amount itself. Where both sides are exact in binary64, one division rounds as correctly as reading the text would, and
 * costs a fifth of it.
 */
function toNumber(units: bigint, decimals: number, rounding: Rounding): number {
  const rounded = toSignificant(units, rounding)
  const power = POWERS[decimals]
  if (rounded <= EXACT_MAX && power !== undefined) return Number(rounded) / power
  return Number(formatUnits(rounded, decimals))
}

function toUsd(scaled: bigint): string {
  return formatUnits(scaled - (scaled % (scaled >= DOLLAR ? CENT : MICRODOLLAR)), USD_DECIMALS)
}

const DAY_MS = 86_400_000
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
let lastDay = Number.NaN
let lastDayText = ''

/** As `toISOString`, at a quarter of its cost: timestamps of one answer are mostly of one day. */
function toIso(date: Date): string {
  const ms = date.getTime()
  const day = Math.floor(ms / DAY_MS)
  if (day !== lastDay) {
    lastDayText = new Date(day * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length)
    lastDay = day
  }
  const rest = ms - day * DAY_MS
  const hour = twoDigits[Math.floor(rest / 3_600_000)]
  const minute = twoDigits[Math.floor(rest / 60_000) % 60]
  const second = twoDigits[Math.floor(rest / 1_000) % 60]
  const thousandths = rest % 1_000
  const padding = thousandths < 10 ? '00' : thousandths < 100 ? '0' : ''
  return `${lastDayText}${hour}:${minute}:${second}.${padding}${thousandths}Z`
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
    amountFromUsd: toUsd(quote.fromUsd),
    amountToUsd: toUsd(quote.toUsd),
    rateId,
    validUntil: validUntil === null ? null : toIso(validUntil),
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

/** Whether a network's deposits must carry a memo. */
export type MemoRule = (network: string) => boolean

/** Money sent to such an address without its memo is lost (I-33): better no answer than that one. */
function checkedMemo(exchange: Exchange, requiresMemo: MemoRule): string | null {
  const { memo } = exchange.deposit
  const missing = memo === null && requiresMemo(endsOf(exchange).from.network)
  assert(!missing, `the deposit of exchange ${exchange.id} has the memo that its network requires`)
  return memo
}

function presentListedRequest(exchange: Exchange, requiresMemo: MemoRule): ListedExchange['request'] {
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
    depositMemo: checkedMemo(exchange, requiresMemo),
    recipientAddress: recipient === null ? '' : recipient.address,
    recipientMemo: recipient === null ? null : recipient.memo,
    refundAddress: refund === null ? null : refund.address,
    refundMemo: refund === null ? null : refund.memo,
  }
}

function presentExecution(execution: ExecutionView, { from, to }: Leg): ExchangeRecord['exchanges'][number] {
  const { receivedUnits, sentUnits, status } = execution
  // What goes back on a refund is in the coin that came in.
  const sent = status === 'refunding' || status === 'refunded' ? from : to
  return {
    amountFromReceived: receivedUnits === null ? null : formatUnits(receivedUnits, from.decimals),
    amountToReceived: sentUnits === null ? null : formatUnits(sentUnits, sent.decimals),
    status,
    payinHash: execution.payinHash,
    payoutHash: execution.payoutHash,
    created: toIso(execution.createdAt),
    statusReason: execution.reason,
  }
}

/** Executions come leg by leg, deposit after deposit. */
function presentExecutions({ exchange, executions }: ExchangeView): ExchangeRecord['exchanges'] {
  return executions.map((execution, index) =>
    presentExecution(execution, present(exchange.legs[index % exchange.legs.length], 'leg of an execution')),
  )
}

export function presentExchange(view: ExchangeView, requiresMemo: MemoRule): ExchangeRecord {
  const { exchange } = view
  const request = presentListedRequest(exchange, requiresMemo) as ExchangeRecord['request']
  request.flow = exchange.flow
  return {
    id: exchange.id,
    created: toIso(exchange.createdAt),
    exchangeType: exchange.type,
    status: exchange.status,
    statusReason: exchange.reason,
    request,
    exchanges: presentExecutions(view),
  }
}

export function presentStatus(view: ExchangeView, requiresMemo: MemoRule): ExchangeStatusAnswer {
  return { type: view.exchange.type, exchange: presentExchange(view, requiresMemo) }
}

export function presentListedExchange(view: ExchangeView, requiresMemo: MemoRule): ListedExchange {
  const { exchange } = view
  return {
    id: exchange.id,
    created: toIso(exchange.createdAt),
    exchangeType: exchange.type,
    status: exchange.status,
    statusReason: exchange.reason,
    request: presentListedRequest(exchange, requiresMemo),
    exchanges: presentExecutions(view),
  }
}

/**
 * The answer of a create, made from what never changes afterwards: a repeat with the same Idempotency-Key gives the same
 * bytes, whatever has become of the exchange since.
 */
export function presentCreated({ exchange }: ExchangeView, requiresMemo: MemoRule): CreatedExchange {
  const { from, to } = endsOf(exchange)
  const depositMemo = checkedMemo(exchange, requiresMemo)
  return {
    id: exchange.id,
    created: toIso(exchange.createdAt),
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
