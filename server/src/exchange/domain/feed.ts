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
  /** Code in the feed by asset. A currency without one is not in it. */
  codes: ReadonlyMap<AssetId, string>
  now: number
}>

/** Rates hold every cost at this size, in dollars scaled by 10^12; where `min` is more, at `min`. */
const SIZE_USD = 300n * 10n ** BigInt(USD_DECIMALS)
/** Digits of a figure in the feed: rates are not more exact than that within a second. */
const DIGITS = 8
/** Rates are counted in this many decimals before they are cut to `DIGITS`. */
const RATE_DECIMALS = 18
const ONE = powerOfTen(RATE_DECIMALS)
/** 0.000001: below it the item states `in` for an `out` of 1. */
const OUT_LEAST = ONE / 1_000_000n

/** Illegal in XML 1.0, escaped or not: control characters, lone surrogates, U+FFFE, U+FFFF (XML 1.0 §2.2). */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Text as XML content or attribute value. What XML cannot hold is dropped. */
export function escapeXml(text: string): string {
  return text.replace(ILLEGAL, '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/**
 * The feed in the BestChange dialect, one item a line, in pieces of one source currency each, so that the caller can let
 * others run in between. Only directions that can be honoured now.
 */
export function* renderFeed(source: FeedSource): Generator<string> {
  const sides = listSides(source)
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<rates>\n'
  for (const from of sides) yield sides.map((to) => renderItem(source, from, to)).join('')
  yield '</rates>\n'
}

/** A currency with what every item of it shares. `target` is null where it cannot be paid out now. */
type FeedSide = Readonly<{ currency: Currency; opening: string; target: string | null; scale: bigint }>

function listSides({ book, currencies, codes }: FeedSource): FeedSide[] {
  return currencies.flatMap((currency) => {
    const { asset, network } = currency
    const code = codes.get(asset.id)
    const closed = !currency.enabled || book.pauses.assets.has(asset.id) || book.pauses.networks.has(network.id)
    if (code === undefined || closed || !book.prices.usd.has(currency.definition.priceKey)) return []
    const reserve = book.reserves.available.get(asset.id)
    const payable = reserve === null || (reserve !== undefined && reserve > 0n)
    const name = escapeXml(code)
    const target = payable ? `<to>${name}</to>` : null
    return [{ currency, opening: `<item><from>${name}</from>`, target, scale: powerOfTen(asset.decimals) }]
  })
}

function renderItem(source: FeedSource, from: FeedSide, to: FeedSide): string {
  if (to.target === null || from === to) return ''
  const pricing = findPricing(source, from.currency, to.currency)
  if (pricing === null) return ''
  const fromUnits = sizeOf(pricing)
  const toUnits = payoutUnits(pricing, fromUnits)
  if (toUnits === 0n) return ''
  const { decimals } = from.currency.asset
  const { availableUnits, maxUnits } = pricing
  const reserve =
    availableUnits === null ? '' : `<amount>${figure(availableUnits, to.currency.asset.decimals)}</amount>`
  const most = maxUnits === null ? '' : `<maxamount>${figure(maxUnits, decimals)}</maxamount>`
  const least = `<minamount>${formatUnits(pricing.minUnits, decimals)}</minamount>`
  const rate = renderRate(fromUnits * to.scale, toUnits * from.scale)
  return `${from.opening}${to.target}${rate}${reserve}${least}${most}<param>floating</param></item>\n`
}

/** `in` and `out` per whole coin: of the two, the one that is not 1 carries the rounding, against the reader. */
function renderRate(given: bigint, taken: bigint): string {
  const out = (taken * ONE) / given
  if (out >= OUT_LEAST) return `<in>1</in><out>${figure(out, RATE_DECIMALS)}</out>`
  const input = (given * ONE + taken - 1n) / taken
  return `<in>${formatUnits(toSignificant(input, 'up', DIGITS), RATE_DECIMALS)}</in><out>1</out>`
}

function figure(units: bigint, decimals: number): string {
  return formatUnits(toSignificant(units, 'down', DIGITS), decimals)
}

/** The size at which the rate is stated. */
function sizeOf({ pair, fromPrice, minUnits, maxUnits }: PairPricing): bigint {
  const usual = toSignificant(unitsWorth(SIZE_USD, pair.from.asset, fromPrice, 'down'), 'down')
  const size = usual > minUnits ? usual : minUnits
  return maxUnits !== null && size > maxUnits ? maxUnits : size
}

function findPricing({ book, now }: FeedSource, from: Currency, to: Currency): PairPricing | null {
  try {
    return pricePair(book, { from, to, flow: 'standard', partnerFeeBps: 0 }, now)
  } catch (error) {
    // Too little in reserve, a network out of reach: not a direction that can be honoured now.
    if (error instanceof AppError) return null
    throw error
  }
}
