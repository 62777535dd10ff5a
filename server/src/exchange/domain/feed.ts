import { formatUnits, powerOfTen, toSignificant } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import type { Book } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import { USD_DECIMALS, unitsWorth } from '../../core/domain/price.ts'
import { type PairPricing, payoutUnits, pricePair } from './pricing.ts'

export type FeedSource = Readonly<{
  book: Book
  currencies: readonly Currency[]
  /** Feed code by asset. The feed omits currencies without one. */
  codes: ReadonlyMap<AssetId, string>
  now: number
}>

/** Rates include all costs of an exchange of this size, in dollars scaled by 10^12; of size `min` if that is more. */
const SIZE_USD = 300n * 10n ** BigInt(USD_DECIMALS)
/** Significant digits in the feed. Rates change by more than that every second. */
const DIGITS = 8
/** Decimals of a rate before it is cut to `DIGITS`. */
const RATE_DECIMALS = 18
const ONE = powerOfTen(RATE_DECIMALS)
/** 0.000001. For a lower rate, the item states `in` for an `out` of 1. */
const OUT_LEAST = ONE / 1_000_000n

/** Illegal in XML 1.0 even if escaped: control characters, lone surrogates, U+FFFE, U+FFFF (XML 1.0 §2.2). */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Escapes text for XML content and attribute values. Drops illegal characters. */
export function escapeXml(text: string): string {
  return text.replace(ILLEGAL, '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/**
 * A piece of the document, with the targets of its directions. `from` is null for the frame. `goodUntil`: milliseconds since
 * 1970 after which a source of one of these directions is too old.
 */
export type FeedPiece = Readonly<{
  text: string
  from: AssetId | null
  targets: readonly AssetId[]
  goodUntil: number
}>

const frame = (text: string): FeedPiece => ({ text, from: null, targets: [], goodUntil: Number.POSITIVE_INFINITY })

/**
 * The feed in the BestChange format, one item a line. Each yielded piece holds one source currency, so that the caller can
 * yield to the event loop in between. Contains only directions that can be exchanged now.
 */
export function* renderFeed(source: FeedSource): Generator<FeedPiece> {
  const sides = listSides(source)
  yield frame('<?xml version="1.0" encoding="UTF-8"?>\n<rates>\n')
  for (const from of sides) {
    const listed = sides.flatMap((to) => renderItem(source, from, to) ?? [])
    yield {
      text: listed.map(({ text }) => text).join(''),
      from: from.currency.asset.id,
      targets: listed.map(({ to }) => to),
      goodUntil: Math.min(...listed.map(({ goodUntil }) => goodUntil)),
    }
  }
  yield frame('</rates>\n')
}

/** A currency with the parts that its items share. `target` is null if it cannot be paid out now. */
type FeedSide = Readonly<{ currency: Currency; opening: string; target: string | null; scale: bigint }>

function listSides({ book, currencies, codes }: FeedSource): FeedSide[] {
  return currencies.flatMap((currency) => {
    const { asset, network } = currency
    const code = codes.get(asset.id)
    const isClosed = !currency.enabled || book.pauses.assets.has(asset.id) || book.pauses.networks.has(network.id)
    if (code === undefined || isClosed || !book.prices.usd.has(currency.definition.priceKey)) return []
    const reserve = book.reserves.available.get(asset.id)
    const isPayable = reserve === null || (reserve !== undefined && reserve > 0n)
    const name = escapeXml(code)
    const target = isPayable ? `<to>${name}</to>` : null
    return [{ currency, opening: `<item><from>${name}</from>`, target, scale: powerOfTen(asset.decimals) }]
  })
}

type FeedItem = Readonly<{ text: string; to: AssetId; goodUntil: number }>

function renderItem(source: FeedSource, from: FeedSide, to: FeedSide): FeedItem | null {
  if (to.target === null || from === to) return null
  const pricing = findPricing(source, from.currency, to.currency)
  if (pricing === null) return null
  const fromUnits = statedUnits(pricing)
  const toUnits = payoutUnits(pricing, fromUnits)
  if (toUnits === 0n) return null
  const { decimals } = from.currency.asset
  const { availableUnits, maxUnits } = pricing
  const reserve =
    availableUnits === null ? '' : `<amount>${figure(availableUnits, to.currency.asset.decimals)}</amount>`
  const max = maxUnits === null ? '' : `<maxamount>${figure(maxUnits, decimals)}</maxamount>`
  const min = `<minamount>${formatUnits(pricing.minUnits, decimals)}</minamount>`
  const rate = renderRate(fromUnits * to.scale, toUnits * from.scale)
  const text = `${from.opening}${to.target}${rate}${reserve}${min}${max}<param>floating</param></item>\n`
  return { text, to: to.currency.asset.id, goodUntil: pricing.goodUntil }
}

/** `in` and `out`, one of them 1. The other one is rounded in our favour. */
function renderRate(amountIn: bigint, amountOut: bigint): string {
  const out = (amountOut * ONE) / amountIn
  if (out >= OUT_LEAST) return `<in>1</in><out>${figure(out, RATE_DECIMALS)}</out>`
  const input = (amountIn * ONE + amountOut - 1n) / amountOut
  return `<in>${formatUnits(toSignificant(input, 'up', DIGITS), RATE_DECIMALS)}</in><out>1</out>`
}

function figure(units: bigint, decimals: number): string {
  return formatUnits(toSignificant(units, 'down', DIGITS), decimals)
}

/** The amount for which the feed states the rate of a direction, in units of `from`. */
export function statedUnits({ pair, fromPrice, minUnits, maxUnits }: PairPricing): bigint {
  const standard = toSignificant(unitsWorth(SIZE_USD, pair.from.asset, fromPrice, 'down'), 'down')
  const size = standard > minUnits ? standard : minUnits
  return maxUnits !== null && size > maxUnits ? maxUnits : size
}

function findPricing({ book, now }: FeedSource, from: Currency, to: Currency): PairPricing | null {
  try {
    return pricePair(book, { from, to, flow: 'standard', partnerFeeBps: 0 }, now)
  } catch (error) {
    // No reserve, or a network that does not answer: this direction cannot be exchanged now.
    if (error instanceof AppError) return null
    throw error
  }
}
