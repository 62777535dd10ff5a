import { BPS, parseUnits, powerOfTen } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { AlarmStore } from '../../core/ports/store/alarms.ts'
import { present } from '../../lib/assert.ts'
import { escapeXml, statedUnits } from '../domain/feed.ts'
import { type PairPricing, pricePair, quoteUnits } from '../domain/pricing.ts'
import type { BookSnapshot } from './book-snapshot.ts'
import type { FeedBook, RatesFeed } from './rates-feed.ts'

/** 20 directions a minute. */
export const COMPARE_FEED_PACE_MS = 3_000

export type CompareFeedDeps = Readonly<{
  feed: Pick<RatesFeed, 'ratesFeed' | 'source'>
  books: Pick<BookSnapshot, 'price'>
  currencies: readonly Currency[]
  /** Code in the feed by asset. */
  codes: ReadonlyMap<AssetId, string>
  alarms: Pick<AlarmStore, 'raise' | 'clear' | 'clearOthers'>
  /** How much less a create may pay than the feed states, in basis points: prices change between two renderings. */
  toleranceBps: number
  /** Milliseconds since 1970. */
  now(): number
  /** A random integer from 0 to `below` - 1. */
  draw(below: number): number
  onCompared(result: 'paid' | 'worse'): void
}>

/** Directions that are compared again and have alarms. More of them have one cause. */
const FAILURES_MAX = 20

const ITEM = /<item><from>([^<]*)<\/from><to>([^<]*)<\/to><in>([^<]*)<\/in><out>([^<]*)<\/out>/g
/** Scale of `in` and `out`, which have at most 18 decimals. */
const FIGURE = { id: 'rate@feed', ticker: 'rate', network: 'feed', decimals: 18, contract: null } as const

/** `in` and `out` are scaled by 10^18. */
type Item = Readonly<{ from: Currency; to: Currency; in: bigint; out: bigint }>
type Fault = Readonly<{ alarm: string; detail: Record<string, unknown> }>

/**
 * Compares one random direction of the served feed with what a create pays, and those that failed before (I-30): to the unit with
 * the prices from which the feed was rendered, and within the tolerance with those of now. A direction that fails twice in
 * succession raises the alarm `feed:FROM TO`: within a turn, the feed is rendered again with current prices.
 */
export function createCompareFeed(deps: CompareFeedDeps) {
  const byCode = new Map(
    deps.currencies.flatMap((currency) => {
      const code = deps.codes.get(currency.asset.id)
      return code === undefined ? [] : [[escapeXml(code), currency] as const]
    }),
  )
  /** Directions whose last comparison failed, with the number of failures in succession. */
  const failures = new Map<string, number>()
  let isFirst = true

  return async function compareFeed(): Promise<void> {
    // Alarms of a process that has ended. Another one that runs raises its own again.
    if (isFirst) await deps.alarms.clearOthers('feed:', [])
    isFirst = false
    // Together: the feed may be rendered while an alarm is stored.
    const source = deps.feed.source()
    const items = readItems(deps, byCode)
    const names = [...items.keys()]
    const drawn = names.length === 0 ? [] : [present(names[deps.draw(names.length)], 'a direction')]
    for (const name of new Set([...failures.keys(), ...drawn])) {
      const item = items.get(name)
      // A direction that the feed no longer has promises nothing.
      const fault = item === undefined ? null : compare(deps, source, item)
      if (item !== undefined) deps.onCompared(fault === null ? 'paid' : 'worse')
      if (fault === null) {
        if (failures.delete(name)) await deps.alarms.clear(`feed:${name}`)
        continue
      }
      const count = (failures.get(name) ?? 0) + 1
      if (count === 1 && failures.size >= FAILURES_MAX) continue
      failures.set(name, count)
      if (count >= 2) await deps.alarms.raise(`feed:${name}`, fault.alarm, fault.detail)
    }
  }
}

/** The directions of the document that partners read, by name. None while no feed is served. */
function readItems({ feed }: CompareFeedDeps, byCode: ReadonlyMap<string, Currency>): Map<string, Item> {
  const items = new Map<string, Item>()
  for (const [, fromCode = '', toCode = '', input = '', output = ''] of readXml(feed).matchAll(ITEM)) {
    const [from, to] = [byCode.get(fromCode), byCode.get(toCode)]
    if (from === undefined || to === undefined) continue
    items.set(`${from.asset.id} ${to.asset.id}`, {
      from,
      to,
      in: parseUnits(input, FIGURE, 'in'),
      out: parseUnits(output, FIGURE, 'out'),
    })
  }
  return items
}

function readXml(feed: CompareFeedDeps['feed']): string {
  try {
    return feed.ratesFeed().xml.toString('utf8')
  } catch (error) {
    if (error instanceof AppError) return ''
    throw error
  }
}

/** Null: a create of the amount for which the rate is stated pays it, without a partner's fee. */
function compare({ books, now, toleranceBps }: CompareFeedDeps, rendered: FeedBook | null, item: Item): Fault | null {
  const pair = { from: item.from, to: item.to, flow: 'standard', partnerFeeBps: 0 } as const
  try {
    return (
      (rendered && findWorse(item, pricePair(rendered.book, pair, rendered.at), 0)) ??
      findWorse(item, books.price(pair, now()), toleranceBps)
    )
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return {
      alarm: 'the rates feed states a direction that cannot be exchanged',
      detail: { code: error.code, reason: error.message },
    }
  }
}

function findWorse(item: Item, pricing: PairPricing, toleranceBps: number): Fault | null {
  const { fromUnits, toUnits, withinBounds } = quoteUnits(pricing, statedUnits(pricing))
  const stated = fromUnits * powerOfTen(item.to.asset.decimals) * item.out * (BPS - BigInt(toleranceBps))
  const paid = toUnits * powerOfTen(item.from.asset.decimals) * item.in * BPS
  if (withinBounds && paid >= stated) return null
  return {
    alarm: 'the rates feed states a better rate than a create pays',
    detail: { fromUnits: fromUnits.toString(), toUnits: toUnits.toString(), withinBounds },
  }
}
