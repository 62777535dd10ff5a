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
import { type Exchange, type ExchangeView, type ExecutionView, endsOf, type RefundView } from '../domain/exchange.ts'
import { isOpenExecution } from '../domain/lifecycle.ts'
import type { IssuedQuote, PrivateQuote, RateQuote } from '../domain/rate-quote.ts'
import type { Expectations } from '../interfaces.ts'

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
export const absolute = (template: string, publicUrl: string): string =>
  template.startsWith('/') ? publicUrl + template : template

export function presentCurrency(currency: Currency, publicUrl: string): WireCurrency {
  const { definition, asset, network, enabled } = currency
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
    decimals: asset.decimals,
    contractAddress: asset.contract,
    chainId: network.evm?.chainId ?? null,
    memoName: network.memoName ?? null,
  }
}

export function isIssuedQuote(value: unknown): value is IssuedQuote {
  return typeof value === 'object' && value !== null && 'quote' in value && 'rateId' in value && 'validUntil' in value
}

export function presentRateQuote({ quote, rateId, validUntil }: IssuedQuote): WireQuote {
  return { ...presentEstimate(quote), rateId, validUntil: validUntil === null ? null : validUntil.toISOString() }
}

export function presentPrivateQuote({ quote, expectedSeconds, intermediary }: PrivateQuote): PrivateRateQuote {
  const { asset, isTransparent } = intermediary
  return {
    ...presentEstimate(quote),
    expectedSeconds,
    intermediary: { currency: asset.ticker, network: asset.network, isTransparent },
  }
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
      payout: formatUnits(fees.payoutUnits, to.decimals),
    },
    minTo: toNumber(quote.minToUnits, to.decimals, 'down'),
    maxTo: quote.maxToUnits === null ? null : toNumber(quote.maxToUnits, to.decimals, 'down'),
  }
}

/** Lookups in the currency list. */
export type PresentDeps = Readonly<{
  /** Whether deposits on this network require a memo. */
  requiresMemo(network: string): boolean
  /** EIP-155 id of a network; null outside EVM networks, and for one that is no longer listed. */
  chainIdOf(network: string): number | null
  /** null if the catalogue no longer lists it. */
  assetOf(id: AssetId): Asset | null
  /** The page where the payer follows the exchange. */
  trackingUrlOf(exchange: Exchange): string
  expectations: Expectations
}>

/** What identifies both currencies outside of this service. */
export function presentTokens(exchange: Exchange, { chainIdOf }: PresentDeps) {
  const { from, to } = endsOf(exchange)
  const identify = ({ contract, network }: Asset) => ({ contractAddress: contract, chainId: chainIdOf(network) })
  return { fromToken: identify(from), toToken: identify(to) }
}

/** A deposit without its required memo is lost, so throw instead of showing the address alone (I-33). */
function checkedMemo(exchange: Exchange, { requiresMemo }: PresentDeps): string | null {
  const { memo } = exchange.deposit
  const isMissing = memo === null && requiresMemo(endsOf(exchange).from.network)
  assert(!isMissing, `the deposit of exchange ${exchange.id} has the memo that its network requires`)
  return memo
}

/** Terms of an exchange that never change. */
function presentTerms(exchange: Exchange) {
  const { from, to } = endsOf(exchange)
  return {
    fromCurrency: from.ticker,
    fromNetwork: from.network,
    toCurrency: to.ticker,
    toNetwork: to.network,
    amountFromRequested: formatUnits(exchange.fromUnits, from.decimals),
    amountToRequested: formatUnits(exchange.toUnits, to.decimals),
    depositAddress: exchange.deposit.address,
    recipientAddress: exchange.recipient === null ? '' : exchange.recipient.address,
  }
}

type WireExecution = ExchangeRecord['exchanges'][number]

function presentExecution(execution: ExecutionView, exchange: Exchange, deps: PresentDeps): WireExecution {
  const leg = present(exchange.legs[execution.leg], 'leg of an execution')
  const { from, to } = leg
  const { receivedUnits, sentUnits, refund, confirmations } = execution
  return {
    amountFromReceived: receivedUnits === null ? null : formatUnits(receivedUnits, from.decimals),
    amountToReceived: sentUnits === null ? null : formatUnits(sentUnits, to.decimals),
    status: execution.status,
    payinHash: execution.payinHash,
    payoutHash: execution.payoutHash,
    created: execution.createdAt.toISOString(),
    statusReason: execution.reason,
    refund: refund === null ? null : presentRefund(refund, from, deps),
    confirmationsRequired: confirmations.required,
    confirmationsSeen: confirmations.seen,
    expectedSeconds: deps.expectations.secondsOfLeg(exchange, leg, confirmations.required),
    ...presentDeadlines(exchange),
  }
}

/** The refunded asset may differ from the ordered one. */
export function presentRefund(
  { assetId, units, address, memo, txHash }: RefundView,
  from: Asset,
  { assetOf }: Pick<PresentDeps, 'assetOf'>,
) {
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
function presentExecutions({ exchange, executions }: ExchangeView, deps: PresentDeps): WireExecution[] {
  return executions.map((execution) => presentExecution(execution, exchange, deps))
}

/** Confirmations of the customer's deposit that determines the status: the latest open one, else the latest, else the estimate. */
function presentProgress({ exchange, executions }: ExchangeView, { expectations }: PresentDeps) {
  const deposits = executions.filter(({ leg }) => leg === 0)
  const latest = deposits.findLast(isOpenExecution) ?? deposits.at(-1)
  if (latest === undefined) return presentEstimated(exchange)
  const { required, seen } = latest.confirmations
  return {
    ...presentDeadlines(exchange),
    confirmationsRequired: required,
    confirmationsSeen: seen,
    expectedSeconds: expectations.secondsOf(exchange, required),
    externalId: exchange.externalId,
  }
}

/** What the create stated: the same until there is a deposit. */
function presentEstimated(exchange: Exchange) {
  return {
    ...presentDeadlines(exchange),
    confirmationsRequired: exchange.estimate?.confirmations ?? null,
    confirmationsSeen: 0,
    expectedSeconds: exchange.estimate?.seconds ?? null,
    externalId: exchange.externalId,
  }
}

export function presentDeadlines({ expiresAt, fixedUntil }: Exchange) {
  return { expiresAt: expiresAt.toISOString(), fixedUntil: fixedUntil === null ? null : fixedUntil.toISOString() }
}

export function presentExchange(view: ExchangeView, deps: PresentDeps): ExchangeRecord {
  return {
    ...presentListedExchange(view, deps),
    request: presentRequest(view.exchange, deps),
    trackingUrl: deps.trackingUrlOf(view.exchange),
  }
}

/** Terms and destinations, as a status shows them. */
export function presentRequest(exchange: Exchange, deps: PresentDeps): ExchangeRecord['request'] {
  return { ...presentListedRequest(exchange, deps), flow: exchange.flow }
}

function presentListedRequest(exchange: Exchange, deps: PresentDeps): ListedExchange['request'] {
  const { recipient, refund } = exchange
  return {
    ...presentTerms(exchange),
    depositMemo: checkedMemo(exchange, deps),
    recipientMemo: recipient === null ? null : recipient.memo,
    refundAddress: refund === null ? null : refund.address,
    refundMemo: refund === null ? null : refund.memo,
  }
}

export function presentStatus(view: ExchangeView, deps: PresentDeps): ExchangeStatusAnswer {
  return { type: view.exchange.type, exchange: presentExchange(view, deps) }
}

export function presentListedExchange(view: ExchangeView, deps: PresentDeps): ListedExchange {
  const { exchange } = view
  return {
    id: exchange.id,
    created: exchange.createdAt.toISOString(),
    exchangeType: exchange.type,
    status: exchange.status,
    statusReason: exchange.reason,
    request: presentListedRequest(exchange, deps),
    exchanges: presentExecutions(view, deps),
    ...presentProgress(view, deps),
  }
}

/**
 * Response of a create, from values that never change: a repeat with the same Idempotency-Key gets the same bytes, whatever
 * the exchange's current status.
 */
export function presentCreated({ exchange }: ExchangeView, deps: PresentDeps): CreatedExchange {
  const depositMemo = checkedMemo(exchange, deps)
  return {
    id: exchange.id,
    created: exchange.createdAt.toISOString(),
    exchangeType: exchange.type,
    status: 'pending',
    request: {
      ...presentTerms(exchange),
      ...(depositMemo === null ? {} : { depositMemo }),
      flow: exchange.flow,
    },
    exchanges: [],
    ...presentEstimated(exchange),
    trackingUrl: deps.trackingUrlOf(exchange),
  }
}
