import pMap from 'p-map'
import type { Dex } from '../../swap/domain/dex.ts'
import { isConcentrated } from '../pools/concentrated-pool.ts'
import { NEAR_TICKS } from '../pools/depth.ts'
import { hasLiquidity, isListed, type ListedTokens, type TokenValues, valuesOf, worthOf } from '../pools/rank.ts'
import { readerOf, readWhole } from './dex-readers.ts'
import { cutTicks, readTicksOf } from './ticks.ts'
import type { ReadContext, TrackedPool } from './tracked-pool.ts'

/*
 * Anybody can create pools: of tokens of their own, at any price, and with liquidity that ends right beside the price. Which pools are
 * read and kept therefore depends on listed tokens and on what really lies in the pools (docs/pools.md#admission).
 */

export type PoolLimits = Readonly<{ poolsMax: number; ticksMax: number }>

/** One of so many places belongs to pools of unlisted tokens. The others are out of their reach. */
const UNLISTED_ONE_IN = 10
/** Limit of pools without liquidity that are read whole with all others. */
const EMPTY_READS_MAX = 32
/** Limit of new pools that are read whole after one block. The others wait for their next log. */
const NEW_READS_MAX = 32
/** Limit of pools per token, except connector tokens. What lies against a token counts in each of its pools. */
const POOLS_PER_TOKEN = 16
/** Pools whose ticks near the price are read concurrently. */
const AT_ONCE = 32

export type PoolReading = Readonly<{
  readContext: ReadContext
  at: string
  dexes: ReadonlyMap<string, Dex>
  listing: ListedTokens
}>
type Valued = Readonly<{ one: TrackedPool; worth: number }>

const byWorth = (a: Valued, b: Valued) => b.worth - a.worth || (a.one.pool.id < b.one.pool.id ? -1 : 1)
const limitsOf = ({ poolsMax, ticksMax }: PoolLimits) => {
  const unlisted = {
    poolsMax: Math.floor(poolsMax / UNLISTED_ONE_IN),
    ticksMax: Math.floor(ticksMax / UNLISTED_ONE_IN),
  }
  return {
    unlisted,
    listed: { poolsMax: poolsMax - unlisted.poolsMax, ticksMax: ticksMax - unlisted.ticksMax },
  }
}

/**
 * The pools that get a place, in descending order, with as many of their ticks as the limits allow. Listed tokens only: first the deepest
 * pool of each token with a connector token, then by worth. Apart from them, a share of the places for pools with an unlisted token, by
 * worth.
 */
export function selectPools(
  tracked: readonly TrackedPool[],
  listing: ListedTokens,
  limits: PoolLimits,
): readonly TrackedPool[] {
  const values = valuesOf(
    tracked.map(({ pool }) => pool),
    listing,
  )
  const { listed, unlisted } = partition(tracked, listing, values)
  const places = limitsOf(limits)
  return [
    ...selectWithinLimits(limitPerToken(deepestFirst(listed, listing), listing), places.listed),
    ...selectWithinLimits(unlisted.sort(byWorth), places.unlisted),
  ]
}

/** Whether the pools exceed their places by a tenth. */
export function exceedsPlaces(tracked: readonly TrackedPool[], listing: ListedTokens, limits: PoolLimits): boolean {
  const isOver = (some: readonly TrackedPool[], { poolsMax, ticksMax }: PoolLimits) =>
    some.length > poolsMax * 1.1 || some.reduce((sum, { ticks = [] }) => sum + ticks.length, 0) > ticksMax * 1.1
  const places = limitsOf(limits)
  const ofListed = tracked.filter(({ pool }) => isListed(listing, pool.tokens))
  const ofUnlisted = tracked.filter(({ pool }) => !isListed(listing, pool.tokens))
  return isOver(ofListed, places.listed) || isOver(ofUnlisted, places.unlisted)
}

function partition(tracked: readonly TrackedPool[], listing: ListedTokens, values: TokenValues) {
  const listed: Valued[] = []
  const unlisted: Valued[] = []
  for (const one of tracked) {
    const valued = { one, worth: worthOf(one.pool, values, listing) }
    if (isListed(listing, one.pool.tokens)) listed.push(valued)
    else unlisted.push(valued)
  }
  return { listed, unlisted }
}

function deepestFirst(listed: readonly Valued[], { connectors }: ListedTokens): readonly Valued[] {
  const sorted = [...listed].sort(byWorth)
  const withPool = new Set<string>()
  const isDeepest = new Set<Valued>()
  for (const valued of sorted) {
    const { tokens } = valued.one.pool
    if (!tokens.some((token) => connectors.has(token)) || tokens.every((token) => withPool.has(token))) continue
    for (const token of tokens) withPool.add(token)
    isDeepest.add(valued)
  }
  return [...isDeepest, ...sorted.filter((valued) => !isDeepest.has(valued))]
}

/** The first POOLS_PER_TOKEN pools of each token. A pool between two tokens needs a place of both. */
function limitPerToken(sorted: readonly Valued[], { connectors }: ListedTokens): readonly Valued[] {
  const counts = new Map<string, number>()
  return sorted.filter(({ one }) => {
    const tokens = one.pool.tokens.filter((token) => !connectors.has(token))
    if (tokens.some((token) => (counts.get(token) ?? 0) >= POOLS_PER_TOKEN)) return false
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1)
    return true
  })
}

/** The first pools. Where they have too many ticks, those with the most keep the closest: ticks cost no pool its place. */
function selectWithinLimits(sorted: readonly Valued[], { poolsMax, ticksMax }: PoolLimits): readonly TrackedPool[] {
  const selected = sorted.slice(0, poolsMax).map(({ one }) => one)
  const perPool = ticksPerPool(selected, ticksMax)
  return selected.map((one) => cutTicks(one, perPool))
}

/** The greatest number of ticks for each pool with which all pools together have at most `ticksMax`. */
function ticksPerPool(pools: readonly TrackedPool[], ticksMax: number): number {
  const counts = pools.map(({ ticks = [] }) => ticks.length).sort((a, b) => a - b)
  let left = ticksMax
  for (const [place, count] of counts.entries()) {
    const share = Math.floor(left / (counts.length - place))
    if (count > share) return share
    left -= count
  }
  return Number.POSITIVE_INFINITY
}

/** Of the pools of a full read, those of listed tokens that get a place, read whole. */
export async function admitAll(
  reading: PoolReading,
  bases: readonly TrackedPool[],
  limits: PoolLimits,
): Promise<readonly TrackedPool[]> {
  const { listing } = reading
  const listed = bases.filter(({ pool }) => isListed(listing, pool.tokens))
  const isCrowded = listed.length > limits.poolsMax
  const measured = isCrowded ? await measure(reading, listed) : new Map(listed.map((base) => [base, base]))
  const chosen = new Set(selectPools([...measured.values()], listing, { ...limits, ticksMax: Number.MAX_SAFE_INTEGER }))
  const candidates = [...measured].flatMap(([base, near]) => (chosen.has(near) ? [base] : []))
  const full = candidates.filter(({ pool }) => hasLiquidity(pool))
  const empty = candidates.filter(({ pool }) => !hasLiquidity(pool)).slice(0, EMPTY_READS_MAX)
  return selectPools(await read(reading, [...full, ...empty]), listing, limits)
}

/** Of new pools of listed tokens, those with liquidity and the most worth, read whole. `tracked`: the pools that give tokens a value. */
export async function admitNew(
  reading: PoolReading,
  bases: readonly TrackedPool[],
  tracked: readonly TrackedPool[],
): Promise<readonly TrackedPool[]> {
  const { listing } = reading
  const candidates = bases.filter(({ pool }) => isListed(listing, pool.tokens) && hasLiquidity(pool))
  if (candidates.length <= NEW_READS_MAX) return read(reading, candidates)
  return read(reading, (await mostWorth(reading, candidates, tracked)).slice(0, NEW_READS_MAX))
}

/** Of the pools of requested tokens, those that are worth anything, read whole; of an unlisted token a few. */
export async function admitRequested(
  reading: PoolReading,
  bases: readonly TrackedPool[],
  tracked: readonly TrackedPool[],
): Promise<readonly TrackedPool[]> {
  const { listed } = reading.listing
  const counts = new Map<string, number>()
  const sorted = await mostWorth(reading, bases, tracked)
  return read(
    reading,
    sorted.filter(({ pool }) => {
      const token = pool.tokens.find((one) => !listed.has(one))
      if (token === undefined) return true
      const count = (counts.get(token) ?? 0) + 1
      counts.set(token, count)
      return count <= POOLS_PER_TOKEN
    }),
  )
}

/** The pools with any worth, the most first. */
async function mostWorth(
  reading: PoolReading,
  bases: readonly TrackedPool[],
  tracked: readonly TrackedPool[],
): Promise<readonly TrackedPool[]> {
  const measured = await measure(reading, bases)
  const values = valuesOf(
    [...tracked, ...measured.values()].map(({ pool }) => pool),
    reading.listing,
  )
  return [...measured]
    .map(([one, { pool }]) => ({ one, worth: worthOf(pool, values, reading.listing) }))
    .filter(({ worth }) => worth > 0)
    .sort(byWorth)
    .map(({ one }) => one)
}

const read = ({ readContext, at, dexes }: PoolReading, bases: readonly TrackedPool[]) =>
  readWhole(readContext, at, bases, dexes)

/** Each base with the ticks within NEAR_TICKS of its price: a few words instead of hundreds, enough for its depth. */
async function measure(
  { readContext, at, dexes }: PoolReading,
  bases: readonly TrackedPool[],
): Promise<ReadonlyMap<TrackedPool, TrackedPool>> {
  const readNear = async (base: TrackedPool): Promise<readonly [TrackedPool, TrackedPool | null]> => {
    const { pool } = base
    const dex = dexes.get(pool.dex)
    const source = dex && isConcentrated(pool) ? readerOf(dex)?.tickSource?.(readContext, at, pool) : undefined
    const isEmpty = source === undefined || !isConcentrated(pool) || pool.liquidity === 0n
    return [base, isEmpty ? base : await readTicksOf(pool, source, NEAR_TICKS)]
  }
  const measured = await pMap(bases, readNear, { concurrency: AT_ONCE })
  return new Map(measured.flatMap(([base, near]) => (near === null ? [] : [[base, near] as const])))
}
