import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { LiquidityBookPool } from '../../swap/routing/pools/liquidity-book.ts'
import { isConcentrated } from './ticks.ts'
import type { TrackedPool } from './tracked-pool.ts'

/** Price move up to which liquidity counts as usable. */
const PRICE_MOVE = 0.02
/** The id of the bin with price 1. */
const BIN_OF_ONE = 2 ** 23

/** The amount of each token that moves the price by PRICE_MOVE, in base units, in the order of the pool. */
function depths(pool: Pool): readonly number[] {
  if (isConcentrated(pool)) {
    const root = Number(pool.sqrtPrice) / 2 ** 96
    const liquidity = Number(pool.liquidity) * (PRICE_MOVE / 2)
    return [liquidity / root, liquidity * root]
  }
  if (pool.kind === 'liquidity-book') return binDepths(pool)
  const amounts = 'reserves' in pool ? pool.reserves : 'balances' in pool ? pool.balances : []
  return amounts.map((amount) => Number(amount) * (PRICE_MOVE / 2))
}

/** The depth of the bins within PRICE_MOVE, limited by the side with less value, so that both sides agree on the price. */
function binDepths({ bins, activeId, binStep }: LiquidityBookPool): readonly number[] {
  const perBin = Math.log1p(binStep / 10_000)
  const price = Math.exp((activeId - BIN_OF_ONE) * perBin)
  const near = bins.filter(({ id }) => Math.abs(id - activeId) * perBin <= PRICE_MOVE)
  const [x, y] = [0, 1].map((side) => near.reduce((sum, { reserves }) => sum + Number(reserves[side] ?? 0n), 0))
  const least = Math.min((x ?? 0) * price, y ?? 0)
  return [least / price, least]
}

/** Value of a base unit of each token in wei, propagated from the wrapped native token through the deepest pools. */
export function valuesOf(pools: readonly Pool[], wrapped: string): ReadonlyMap<string, number> {
  const values = new Map([[wrapped, 1]])
  const measured = pools.map((pool) => ({ pool, depth: depths(pool) }))
  for (let round = 0; round < 4; round++) {
    const best = new Map<string, { weight: number; value: number }>()
    for (const { pool, depth } of measured) propagate(pool, depth, values, best)
    if (best.size === 0) break
    for (const [token, { value }] of best) values.set(token, value)
  }
  return values
}

function propagate(
  pool: Pool,
  depth: readonly number[],
  values: ReadonlyMap<string, number>,
  best: Map<string, { weight: number; value: number }>,
) {
  for (const [from, priced] of pool.tokens.entries()) {
    const value = values.get(priced)
    const weight = (depth[from] ?? 0) * (value ?? 0)
    if (value === undefined || weight <= 0) continue
    for (const [to, token] of pool.tokens.entries()) {
      const there = depth[to] ?? 0
      if (values.has(token) || there <= 0 || weight <= (best.get(token)?.weight ?? 0)) continue
      best.set(token, { weight, value: weight / there })
    }
  }
}

/** Usable liquidity of the smallest side of a pool, in wei. 0 if a price is unknown. */
export function worthOf(pool: Pool, values: ReadonlyMap<string, number>): number {
  const worths = depths(pool).map((depth, place) => depth * (values.get(pool.tokens[place] ?? '') ?? 0))
  return worths.length === 0 ? 0 : Math.min(...worths)
}

/** The most valuable pools, in descending order. */
export function rank(tracked: readonly TrackedPool[], wrapped: string, most: number): readonly TrackedPool[] {
  const values = valuesOf(
    tracked.map(({ pool }) => pool),
    wrapped,
  )
  return tracked
    .map((one) => ({ one, worth: worthOf(one.pool, values) }))
    .sort((a, b) => b.worth - a.worth || (a.one.pool.id < b.one.pool.id ? -1 : 1))
    .slice(0, most)
    .map(({ one }) => one)
}

export type PoolLimits = Readonly<{ poolsMax: number; ticksMax: number }>

/** The ranked pools that fit the limits. A pool with more ticks than the rest of the limit is skipped. */
export function selectWithinLimits(
  ranked: readonly TrackedPool[],
  { poolsMax, ticksMax }: PoolLimits,
): readonly TrackedPool[] {
  let left = ticksMax
  const selected: TrackedPool[] = []
  for (const one of ranked) {
    if (selected.length === poolsMax) break
    const ticks = one.ticks?.length ?? 0
    if (ticks > left) continue
    left -= ticks
    selected.push(one)
  }
  return selected
}

/** Usable liquidity by token in whole US dollars; empty without a stablecoin price. */
export function liquidityOf(
  pools: readonly Pool[],
  wrapped: string,
  stablecoin: { token: string; unit: number } | null,
): ReadonlyMap<string, number> {
  const values = valuesOf(pools, wrapped)
  const perStablecoin = stablecoin === null ? undefined : values.get(stablecoin.token)
  const liquidity = new Map<string, number>()
  if (stablecoin === null || perStablecoin === undefined) return liquidity
  for (const pool of pools) {
    const worth = worthOf(pool, values) / (perStablecoin * stablecoin.unit)
    for (const token of pool.tokens) liquidity.set(token, (liquidity.get(token) ?? 0) + worth)
  }
  return new Map([...liquidity].map(([token, worth]) => [token, Math.floor(worth)]))
}
