import { scale } from '../../core/domain/amount.ts'
import { AppError } from '../../core/domain/errors.ts'
import { midPrice, ONE_USD, type Price, type PriceSnapshot } from '../../core/domain/price.ts'
import type { Prices } from '../../core/ports/prices.ts'
import { largest, smallest } from '../../lib/bigint.ts'
import { collectPrices, type Dropped, type DropReason, isPlausible, type Vote } from './collect-prices.ts'
import type { PriceSource, QuoteCurrency } from './price-source.ts'

type Options = Readonly<{
  sources: readonly PriceSource[]
  /** Number of sources that must agree on a price. The sandbox has one source. */
  quorum: number
  /** Milliseconds since 1970. */
  now(): number
  /** Prices older than this are not counted. */
  maxAgeMs?: number
  /** A source that takes longer counts as failed. */
  timeoutMs?: number
  /** Maximum distance of ask from bid. */
  spreadBps?: bigint
  /** Reports each dropped price or source and the reason, for metrics and logs. */
  onDropped?: (dropped: Dropped) => void
}>

/** One price of one source in US dollars. */
type Candidate = Readonly<{ source: string; at: number; price: Price }>
type Accepted = Readonly<{ at: number; usd: bigint }>
/** What the sources agree on. `at`: as many sources as the quorum state a price of this time or later. */
type Agreed = Readonly<{ at: number; price: Price }>
type Verdict = Readonly<{ agreed: Agreed | null; dropped: readonly (readonly [source: string, reason: DropReason])[] }>
type Judge = (key: string, candidates: readonly Candidate[]) => Verdict

const BPS = 10_000n
/** Sources agree within this distance, or within half of a price's own spread if that is more. */
const AGREEMENT_BPS = 25n
/** A single source may move a price by this much, plus 1 % per minute since the last accepted price. */
const JUMP_BPS = 2_000n
const JUMP_BPS_PER_MINUTE = 100n

/**
 * The lowest bid and the highest ask of the sources that agree, for each key, so that a source that lags or lies widens our
 * price and does not move it. Drops a price that is zero, negative, crossed, not a number, or far from the median. If fewer
 * than `quorum` sources agree, the key has no price: wrong data makes rates unavailable, never a quote.
 *
 * A price in a stablecoin is multiplied by the dollar price on which the sources that state one agree, in the same way: no
 * stablecoin is assumed to be worth a dollar. Without such a price the prices in it are dropped.
 */
export function createMedianPrices(options: Options): Prices {
  const { sources, now, onDropped = () => {} } = options
  const { maxAgeMs = 30_000, timeoutMs = 5_000, spreadBps = 200n } = options
  const quorum = Math.max(options.quorum, 1)
  /** The last accepted mid price of each key: limits jumps, and is never returned. */
  const accepted = new Map<string, Accepted>()

  const judge: Judge = (key, candidates) => {
    const center = median(candidates.map(({ price }) => midPrice(price)))
    const agreeing = candidates.filter(({ price }) => isNearCenter(price, center))
    const deviating = candidates.filter((one) => !agreeing.includes(one))
    const last = accepted.get(key)
    // Two sources that agree are accepted; a single one must be near the last accepted price.
    const isJumping = last !== undefined && agreeing.length === 1 && isJump(last, center, now())
    const jumping = isJumping ? agreeing : []
    return {
      agreed: isJumping ? null : combine(agreeing, quorum),
      dropped: [
        ...deviating.map(({ source }) => [source, 'deviating'] as const),
        ...jumping.map(({ source }) => [source, 'jump'] as const),
      ],
    }
  }

  return {
    read: async (): Promise<PriceSnapshot> => {
      const votes = await collectPrices({ sources, now, maxAgeMs, timeoutMs, spreadBps, onDropped })
      const usd = new Map<string, Price>()
      const times = new Map<string, number>()
      for (const [key, candidates] of toCandidates(votes, findRates(votes, judge), { spreadBps, onDropped })) {
        const { agreed, dropped } = judge(key, candidates)
        for (const [source, reason] of dropped) onDropped({ source, reason, priceKey: key })
        if (agreed === null) continue
        usd.set(key, agreed.price)
        accepted.set(key, { at: now(), usd: midPrice(agreed.price) })
        times.set(key, agreed.at)
      }
      if (usd.size === 0) throw new AppError('RATES_UNAVAILABLE', 'there are no current rates')
      return { usd, times }
    },
  }
}

/** The dollar prices of the stablecoins that votes are stated in, from votes in dollars only. */
function findRates(votes: readonly Vote[], judge: Judge): ReadonlyMap<QuoteCurrency, Agreed> {
  const currencies = new Set(votes.map(({ quoteCurrency }) => quoteCurrency))
  currencies.delete('usd')
  return new Map(
    [...currencies].flatMap((stablecoin) => {
      const stated = votes.filter(({ priceKey, quoteCurrency }) => priceKey === stablecoin && quoteCurrency === 'usd')
      const { agreed } = judge(stablecoin, stated)
      return agreed === null ? [] : [[stablecoin, agreed] as const]
    }),
  )
}

/** The candidates of each key, all in US dollars. */
function toCandidates(
  votes: readonly Vote[],
  rates: ReadonlyMap<QuoteCurrency, Agreed>,
  { spreadBps, onDropped }: Required<Pick<Options, 'spreadBps' | 'onDropped'>>,
): ReadonlyMap<string, readonly Candidate[]> {
  const byKey = new Map<string, Candidate[]>()
  for (const { source, priceKey, quoteCurrency, at, price } of votes) {
    const rate = rates.get(quoteCurrency)
    const candidate =
      quoteCurrency === 'usd'
        ? { at, price }
        : rate && { at: Math.min(at, rate.at), price: multiply(price, rate.price) }
    if (candidate === undefined) onDropped({ source, reason: 'unconverted', priceKey })
    else if (!isPlausible(candidate.price, spreadBps)) onDropped({ source, reason: 'implausible', priceKey })
    else byKey.set(priceKey, [...(byKey.get(priceKey) ?? []), { source, ...candidate }])
  }
  return byKey
}

/** A price in a stablecoin times that stablecoin's price in US dollars. */
function multiply(price: Price, rate: Price): Price {
  return { bid: scale(price.bid, rate.bid, ONE_USD, 'down'), ask: scale(price.ask, rate.ask, ONE_USD, 'up') }
}

function isNearCenter(price: Price, center: bigint): boolean {
  const off = distance(midPrice(price), center)
  return off * BPS <= center * AGREEMENT_BPS || 2n * off <= price.ask - price.bid
}

function isJump(last: Accepted, center: bigint, now: number): boolean {
  const minutes = BigInt(Math.max(0, Math.floor((now - last.at) / 60_000)))
  const allowedBps = JUMP_BPS + minutes * JUMP_BPS_PER_MINUTE
  const [low, high] = center < last.usd ? [center, last.usd] : [last.usd, center]
  return (high - low) * BPS > low * allowedBps
}

/**
 * Null if fewer than the quorum agree. A source beyond the quorum that is slower widens the price and does not age it: one
 * source that repeats an old price with its old time cannot end the fixed rates of a currency.
 */
function combine(agreeing: readonly Candidate[], quorum: number): Agreed | null {
  const times = agreeing.map(({ at }) => at).toSorted((a, b) => b - a)
  const at = times[quorum - 1]
  if (at === undefined) return null
  const bid = agreeing.map(({ price }) => price.bid).reduce((a, b) => smallest(a, b))
  const ask = agreeing.map(({ price }) => price.ask).reduce((a, b) => largest(a, b))
  return { at, price: { bid, ask } }
}

/** The middle value; the lower one of two, so that two sources agree only if they are near each other, not near their mean. */
function median(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[(sorted.length - 1) >> 1] ?? 0n
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a
}
