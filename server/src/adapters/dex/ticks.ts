import type { Hex } from 'viem'
import { type ConcentratedPool, isConcentrated } from '../pools/concentrated-pool.ts'
import { signed, wordAt, wordsOf } from './abi-words.ts'
import type { GrossTick, TickRange, TickSource, TrackedPool } from './tracked-pool.ts'

const MAX_TICK = 887_272
/** Pools whose bitmap has more words are read only near their price. */
const WORDS_MAX = 1_600
/** The range to read: a factor of about 400 in both directions, as far as the route search goes. */
const REACH_TICKS = 60_000
/** The pool is read again when the price is this close to an end of the range. */
const NEAR_END_TICKS = 20_000
/** A range that ends by a limit of ticks is read again only when this share of them is left on that side. */
const FEW_SHARE = 1 / 8
/** Limit of ticks of one pool, the closest to its price. The largest pools have two thousand; the search uses 512 in each direction. */
const TICKS_MAX = 2_000

/** Null if an answer is missing. With `reach`, only ticks that near to the price are read. */
export async function readTicksOf(
  pool: ConcentratedPool,
  source: TickSource,
  reach?: number,
): Promise<TrackedPool | null> {
  const { range, words } = wordsToRead(pool.tick, source.step, reach)
  const indexes: number[] = []
  for (const [index, word] of (await source.words(words)).entries()) {
    // A missing answer does not mean an empty word.
    if (word === null) return null
    const first = (words[index] as number) * 256
    for (let bit = 0, rest = word; rest !== 0n; bit++, rest >>= 1n)
      if ((rest & 1n) === 1n) indexes.push((first + bit) * source.step)
  }
  const closest = findClosest(indexes, pool.tick, TICKS_MAX, range)
  const ticks: GrossTick[] = []
  for (const tick of await source.ticks(indexes.slice(closest.from, closest.to))) {
    if (tick === null) return null
    ticks.push(tick)
  }
  return withTicks(pool, ticks, closest.range)
}

type Closest = Readonly<{ from: number; to: number; range: TickRange | undefined }>

/**
 * The places of the closest ticks: as many on each side of the price, and more on one where the other has fewer. The range ends right
 * before the closest tick that is left out.
 */
function findClosest(indexes: readonly number[], tick: number, ticksMax: number, range?: TickRange): Closest {
  const below = indexes.findLastIndex((index) => index <= tick) + 1
  const above = indexes.length - below
  const keptBelow = Math.min(below, Math.max(Math.floor(ticksMax / 2), ticksMax - above))
  const from = below - keptBelow
  const to = below + Math.min(above, ticksMax - keptBelow)
  const [before, after] = [from === 0 ? undefined : indexes[from - 1], indexes[to]]
  if (before === undefined && after === undefined) return { from, to, range }
  const low = before === undefined ? (range?.low ?? -MAX_TICK) : before + 1
  const high = after === undefined ? (range?.high ?? MAX_TICK) : after - 1
  return { from, to, range: { low, high, ticksMax } }
}

/** The pool with so many ticks at most, the closest to its price. */
export function cutTicks(tracked: TrackedPool, ticksMax: number): TrackedPool {
  const { pool, ticks } = tracked
  if (!isConcentrated(pool) || ticks === undefined || ticks.length <= ticksMax) return tracked
  const indexes = ticks.map(({ index }) => index)
  const { from, to, range } = findClosest(indexes, pool.tick, ticksMax, tracked.range)
  return { ...tracked, ...withTicks(pool, ticks.slice(from, to), range) }
}

function wordsToRead(tick: number, step: number, reach?: number): { range: TickRange | undefined; words: number[] } {
  const wordOf = (index: number) => Math.floor(index / step / 256)
  const whole = reach === undefined && wordOf(MAX_TICK) - wordOf(-MAX_TICK) + 1 <= WORDS_MAX
  const ticks = reach ?? REACH_TICKS
  const first = whole ? wordOf(-MAX_TICK) : Math.max(wordOf(-MAX_TICK), wordOf(tick - ticks))
  const last = whole ? wordOf(MAX_TICK) : Math.min(wordOf(MAX_TICK), wordOf(tick + ticks))
  const words = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return { range: whole ? undefined : { low: first * 256 * step, high: (last * 256 + 255) * step }, words }
}

/** The pool with these ticks. For a partial range the remaining liquidity ends at its bounds, so that no swap goes beyond. */
export function withTicks<P extends ConcentratedPool>(
  pool: P,
  ticks: readonly GrossTick[],
  range?: TickRange,
): TrackedPool {
  if (range === undefined) return { pool: { ...pool, ticks }, ticks }
  let below = pool.liquidity
  let above = pool.liquidity
  for (const { index, net } of ticks) {
    if (index <= pool.tick) below -= net
    else above += net
  }
  const low = below === 0n ? [] : [{ index: Math.max(-MAX_TICK, range.low - 1), net: below }]
  const high = above === 0n ? [] : [{ index: Math.min(MAX_TICK, range.high + 1), net: -above }]
  return { pool: { ...pool, ticks: [...low, ...ticks, ...high] }, ticks, range }
}

/** The pool after a swap, with price, tick and liquidity of the event. */
export function afterSwap(
  tracked: TrackedPool,
  sqrtPrice: bigint,
  liquidity: bigint,
  tick: number,
): TrackedPool | 'reread' {
  const { pool, ticks, range } = tracked
  if (!isConcentrated(pool) || ticks === undefined) return 'reread'
  if (range !== undefined && isNearEnd(tick, ticks, range)) return 'reread'
  // The ticks and the range bounds stay: a price change does not affect the ticks beyond.
  return { ...tracked, pool: { ...pool, sqrtPrice, liquidity, tick } }
}

/** Whether the price is near an end of the range that is not the end of all prices. */
function isNearEnd(tick: number, ticks: readonly GrossTick[], { low, high, ticksMax }: TickRange): boolean {
  const few = ticksMax === undefined ? Number.POSITIVE_INFINITY : ticksMax * FEW_SHARE
  const below = ticks.findLastIndex(({ index }) => index <= tick) + 1
  const isNearLow = low > -MAX_TICK && tick - low < NEAR_END_TICKS && below < few
  return isNearLow || (high < MAX_TICK && high - tick < NEAR_END_TICKS && ticks.length - below < few)
}

/** The pool after a change of the liquidity between two ticks. */
export function afterLiquidity(
  tracked: TrackedPool,
  lower: number,
  upper: number,
  change: bigint,
): TrackedPool | 'reread' {
  const { pool, ticks, range } = tracked
  if (!isConcentrated(pool) || ticks === undefined) return 'reread'
  if (change === 0n) return tracked
  const isRead = (index: number) => range === undefined || (index >= range.low && index <= range.high)
  let next = ticks
  if (isRead(lower)) next = addToTick(next, lower, change, change)
  if (isRead(upper)) next = addToTick(next, upper, change, -change)
  // The ticks that were left out may be the closest again.
  if (range?.ticksMax !== undefined && change < 0n && isNearEnd(pool.tick, next, range)) return 'reread'
  const liquidity = lower <= pool.tick && pool.tick < upper ? pool.liquidity + change : pool.liquidity
  return cutTicks(withTicks({ ...pool, liquidity }, next, range), TICKS_MAX)
}

function addToTick(ticks: readonly GrossTick[], index: number, gross: bigint, net: bigint): readonly GrossTick[] {
  const place = ticks.findIndex((tick) => tick.index >= index)
  const at = place === -1 ? ticks.length : place
  const existing = ticks[at]?.index === index ? ticks[at] : undefined
  const tick = { index, gross: (existing?.gross ?? 0n) + gross, net: (existing?.net ?? 0n) + net }
  return [...ticks.slice(0, at), ...(tick.gross > 0n ? [tick] : []), ...ticks.slice(existing ? at + 1 : at)]
}

/** Decodes `ticks(int24)` of V3 and Algebra: gross first, net second. */
export function tickOf(index: number, answer: Hex | null | undefined): GrossTick | null {
  if (!answer) return null
  const words = wordsOf(answer)
  return { index, gross: wordAt(words, 0), net: signed(wordAt(words, 1), 128) }
}

/** A state without derivable data. `pool` is a new object, so the cached curves of the original can be released. */
export type Slim = TrackedPool & Readonly<{ slim: true }>

export function slim(tracked: TrackedPool): Slim {
  const { pool, ticks } = tracked
  const small = ticks === undefined ? { ...pool } : { ...pool, ticks: [] }
  return { ...tracked, slim: true, pool: small }
}

export function restoreTicks({ slim: _, ...tracked }: Slim): TrackedPool {
  const { pool, ticks, range } = tracked
  return ticks !== undefined && isConcentrated(pool) ? { ...tracked, ...withTicks(pool, ticks, range) } : tracked
}
