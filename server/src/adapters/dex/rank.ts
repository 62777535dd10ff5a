import type { Pool } from '../../swap/routing/pool-kinds.ts'
import type { LiquidityBookPool } from '../../swap/routing/pools/liquidity-book.ts'
import { isConcentrated } from './ticks.ts'
import type { TrackedPool } from './tracked-pool.ts'

/** How far the price may move for what counts as usable. */
const MOVE = 0.02
/** The bin in which the price is one. */
const BIN_OF_ONE = 2 ** 23

/** What of each token a trade can take until the price has moved that far, in base units; by place in the pool. */
function depths(pool: Pool): readonly number[] {
  if (isConcentrated(pool)) {
    const root = Number(pool.sqrtPrice) / 2 ** 96
    const liquidity = Number(pool.liquidity) * (MOVE / 2)
    return [liquidity / root, liquidity * root]
  }
  if (pool.kind === 'liquidity-book') return binDepths(pool)
  const held = 'reserves' in pool ? pool.reserves : 'balances' in pool ? pool.balances : []
  return held.map((amount) => Number(amount) * (MOVE / 2))
}

/** Of the bins within that move, as far as the poorer side goes: only then do the two tell a price. */
function binDepths({ bins, activeId, binStep }: LiquidityBookPool): readonly number[] {
  const perBin = Math.log1p(binStep / 10_000)
  const price = Math.exp((activeId - BIN_OF_ONE) * perBin)
  const near = bins.filter(({ id }) => Math.abs(id - activeId) * perBin <= MOVE)
  const [x, y] = [0, 1].map((side) => near.reduce((sum, { reserves }) => sum + Number(reserves[side] ?? 0n), 0))
  const least = Math.min((x ?? 0) * price, y ?? 0)
  return [least / price, least]
}

/** Value of a base unit of each token in wei of the native coin, spread from the wrapped coin through the deepest pools. */
export function valuesOf(pools: readonly Pool[], wrapped: string): ReadonlyMap<string, number> {
  const values = new Map([[wrapped, 1]])
  const measured = pools.map((pool) => ({ pool, depth: depths(pool) }))
  for (let round = 0; round < 4; round++) {
    const best = new Map<string, { weight: number; value: number }>()
    for (const { pool, depth } of measured) spread(pool, depth, values, best)
    if (best.size === 0) break
    for (const [token, { value }] of best) values.set(token, value)
  }
  return values
}

function spread(
  pool: Pool,
  depth: readonly number[],
  values: ReadonlyMap<string, number>,
  best: Map<string, { weight: number; value: number }>,
) {
  for (const [from, known] of pool.tokens.entries()) {
    const value = values.get(known)
    const weight = (depth[from] ?? 0) * (value ?? 0)
    if (value === undefined || weight <= 0) continue
    for (const [to, token] of pool.tokens.entries()) {
      const there = depth[to] ?? 0
      if (values.has(token) || there <= 0 || weight <= (best.get(token)?.weight ?? 0)) continue
      best.set(token, { weight, value: weight / there })
    }
  }
}

/** Usable liquidity of a pool, in wei of the native coin: of its least. 0 where nothing is known. */
export function worthOf(pool: Pool, values: ReadonlyMap<string, number>): number {
  const worths = depths(pool).map((depth, place) => depth * (values.get(pool.tokens[place] ?? '') ?? 0))
  return worths.length === 0 ? 0 : Math.min(...worths)
}

/** The pools worth most, in this order. */
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

/** Those of the ranked pools for which there is room: each takes its ticks, and a pool with too many gives way to the next. */
export function selectWithinLimits(ranked: readonly TrackedPool[], { poolsMax, ticksMax }: PoolLimits): readonly TrackedPool[] {
  let left = ticksMax
  const fitting: TrackedPool[] = []
  for (const one of ranked) {
    if (fitting.length === poolsMax) break
    const ticks = one.ticks?.length ?? 0
    if (ticks > left) continue
    left -= ticks
    fitting.push(one)
  }
  return fitting
}

/** Usable liquidity by token in whole dollars, where the value of a dollar is known. */
export function liquidityOf(
  pools: readonly Pool[],
  wrapped: string,
  stablecoin: { token: string; unit: number } | null,
): ReadonlyMap<string, number> {
  const values = valuesOf(pools, wrapped)
  const perStablecoin = stablecoin === null ? undefined : values.get(stablecoin.token)
  const found = new Map<string, number>()
  if (stablecoin === null || perStablecoin === undefined) return found
  for (const pool of pools) {
    const worth = worthOf(pool, values) / (perStablecoin * stablecoin.unit)
    for (const token of pool.tokens) found.set(token, (found.get(token) ?? 0) + worth)
  }
  return new Map([...found].map(([token, worth]) => [token, Math.floor(worth)]))
}
