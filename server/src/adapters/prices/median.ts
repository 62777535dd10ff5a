import { AppError } from '../../core/domain/errors.ts'
import { midPrice, type Price, type PriceSnapshot } from '../../core/domain/price.ts'
import type { Prices } from '../../core/ports/prices.ts'
import { largest, smallest } from '../../lib/bigint.ts'

export type PriceSource = Readonly<{ id: string; prices: Prices }>

type Options = Readonly<{
  sources: readonly PriceSource[]
  /** Number of sources that must agree on a price. The sandbox has one source. */
  quorum: number
  /** Milliseconds since 1970. */
  now(): number
  /** Snapshots older than this are not counted. */
  maxAgeMs?: number
  /** A source that takes longer counts as failed. */
  timeoutMs?: number
  /** Maximum distance of ask from bid. */
  spreadBps?: bigint
  /** Reports each dropped price or source and the reason, for metrics and logs. */
  onDropped?: (
    source: string,
    reason: 'failed' | 'stale' | 'future' | 'implausible' | 'deviating' | 'jump',
    priceKey: string | null,
  ) => void
}>

type Candidate = Readonly<{ source: string; at: number; price: Price }>
type Accepted = Readonly<{ at: number; usd: bigint }>

const BPS = 10_000n
/** Sources agree within this distance, or within half of a price's own spread if that is more. */
const AGREEMENT_BPS = 25n
/** A snapshot further in the future has a wrong unit or clock, and would never become stale. */
const FUTURE_MAX_MS = 2_000
/** A single source may move a price by this much, plus 1 % per minute since the last accepted price. */
const JUMP_BPS = 2_000n
const JUMP_BPS_PER_MINUTE = 100n

/**
 * The lowest bid and the highest ask of the sources that agree, for each key, so that a source that lags or lies widens our
 * price and does not move it. Drops a price that is zero, negative, crossed, not a number, or far from the median. If fewer
 * than `quorum` sources agree, the key has no price: wrong data makes rates unavailable, never a quote.
 */
export function createMedianPrices(options: Options): Prices {
  const { sources, quorum, now, onDropped = () => {} } = options
  const { maxAgeMs = 30_000, timeoutMs = 5_000, spreadBps = 200n } = options
  /** The last accepted mid price of each key: limits jumps, and is never returned. */
  const accepted = new Map<string, Accepted>()

  const collect = async (): Promise<Map<string, Candidate[]>> => {
    const byKey = new Map<string, Candidate[]>()
    const answers = await Promise.allSettled(sources.map(({ prices }) => within(timeoutMs, prices.read())))
    for (const [index, { id }] of sources.entries()) {
      const answer = answers[index]
      if (answer?.status !== 'fulfilled') onDropped(id, 'failed', null)
      else if (now() - answer.value.at > maxAgeMs) onDropped(id, 'stale', null)
      else if (answer.value.at - now() > FUTURE_MAX_MS) onDropped(id, 'future', null)
      else {
        for (const [key, price] of answer.value.usd) {
          if (!isPlausible(price, spreadBps)) onDropped(id, 'implausible', key)
          else byKey.set(key, [...(byKey.get(key) ?? []), { source: id, at: answer.value.at, price }])
        }
      }
    }
    return byKey
  }

  const agree = (key: string, candidates: readonly Candidate[]): readonly Candidate[] => {
    const center = median(candidates.map(({ price }) => midPrice(price)))
    const agreeing = candidates.filter(({ source, price }) => {
      const isNear = isNearCenter(price, center)
      if (!isNear) onDropped(source, 'deviating', key)
      return isNear
    })
    const last = accepted.get(key)
    // Two sources that agree are accepted; a single one must be near the last accepted price.
    if (last === undefined || agreeing.length !== 1 || !isJump(last, center, now())) return agreeing
    for (const { source } of agreeing) onDropped(source, 'jump', key)
    return []
  }

  return {
    read: async (): Promise<PriceSnapshot> => {
      const usd = new Map<string, Price>()
      let at = Number.POSITIVE_INFINITY
      for (const [key, candidates] of await collect()) {
        const agreeing = agree(key, candidates)
        const enough = Math.max(quorum, 1)
        if (agreeing.length < enough) continue
        const price = combine(agreeing)
        usd.set(key, price)
        accepted.set(key, { at: now(), usd: midPrice(price) })
        // As many sources as needed state the price of then. A slower one only widens it.
        const times = agreeing.map((candidate) => candidate.at).toSorted((a, b) => b - a)
        at = Math.min(at, times[enough - 1] ?? at)
      }
      if (usd.size === 0) throw new AppError('RATES_UNAVAILABLE', 'there are no current rates')
      return { at, usd }
    },
  }
}

/** Prices come from outside, so the types are checked too: only positive bigints are prices. */
function isPlausible({ bid, ask }: Price, spreadBps: bigint): boolean {
  if (typeof bid !== 'bigint' || typeof ask !== 'bigint' || bid <= 0n || ask < bid) return false
  return (ask - bid) * BPS <= bid * spreadBps
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

function combine(candidates: readonly Candidate[]): Price {
  return {
    bid: candidates.map(({ price }) => price.bid).reduce((a, b) => smallest(a, b)),
    ask: candidates.map(({ price }) => price.ask).reduce((a, b) => largest(a, b)),
  }
}

/** The middle value; the lower one of two, so that two sources agree only if they are near each other, not near their mean. */
function median(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[(sorted.length - 1) >> 1] ?? 0n
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a
}

async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('RATES_UNAVAILABLE', 'a price source did not answer')), timeoutMs)
  })
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
