import { DEEPBOOK_SCALE } from '@swapyard/lib/pools/sui/deepbook-math.ts'
import { poolFeePpm } from '../../swap/routing/pool-fee.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { dammRange, type MeteoraDammV2RoutePool } from '../../swap/routing/pools/solana/meteora-damm-v2.ts'
import { sqrtPriceX96, ticksOf } from '../../swap/routing/pools/solana/raydium-clmm.ts'
import type { DeepbookPool } from '../../swap/routing/pools/sui/deepbook.ts'
import { type ConcentratedPool, isConcentrated } from './concentrated-pool.ts'

/** Price move up to which liquidity counts as usable. */
const PRICE_MOVE = 0.02
const PRICE_MOVE_PPM = PRICE_MOVE * 1e6
/** Share of its depth with which a pool counts whose fee exceeds the price move: behind all others, and more than an empty one. */
const SHARE_MIN = 1e-6
/** The same move in the square root of the price. */
const ROOT_MOVE = 1 + PRICE_MOVE / 2
/** Ticks within the price move, on each side. */
export const NEAR_TICKS = 200
/** The id of the bin with price 1 in Liquidity Book. */
const BIN_OF_ONE = 2 ** 23
const TICK_BASE = 1.0001

/** What a pool holds of each token, in the order of the pool, in base units. */
export type PoolDepth = Readonly<{
  /** Amount of each token that the pool pays until its price has moved by PRICE_MOVE. */
  amounts: readonly number[]
  /** Amounts of equal value at the pool's own price. */
  units: readonly number[]
}>

/**
 * The depth of a pool, times the share of the price move that its fee leaves, in the dearer direction. Without trades, which a high fee
 * prevents, no amount in the pool is at risk.
 */
export function depthNetOfFee(pool: Pool): PoolDepth {
  const { amounts, units } = depthOfPool(pool)
  const feePpm = Math.max(poolFeePpm(pool, 0), poolFeePpm(pool, 1))
  const share = Math.max(1 - feePpm / PRICE_MOVE_PPM, SHARE_MIN)
  return { amounts: amounts.map((amount) => amount * share), units }
}

/** The depth of a pool without its fee. The ticks of a concentrated pool must be read within NEAR_TICKS of its price. */
export function depthOfPool(pool: Pool): PoolDepth {
  if (isConcentrated(pool)) return concentratedDepth(pool)
  if (pool.kind === 'cetus' || pool.kind === 'turbos')
    return concentratedDepth({ ...pool, sqrtPrice: pool.sqrtPrice << 32n })
  if (pool.kind === 'raydium-clmm') {
    const { liquidity, tickCurrent } = pool.state.state
    return concentratedDepth({ sqrtPrice: sqrtPriceX96(pool), liquidity, tick: tickCurrent, ticks: ticksOf(pool) })
  }
  if (pool.kind === 'liquidity-book') return binDepth({ ...pool, oneId: BIN_OF_ONE })
  if (pool.kind === 'meteora-dlmm') {
    const bins = [...pool.state.binArrays.values()].flatMap((array) => array.bins)
    const { activeId, binStep } = pool.state.pair
    return binDepth({ bins: bins.map(({ id, amounts }) => ({ id, reserves: amounts })), activeId, binStep, oneId: 0 })
  }
  if (pool.kind === 'meteora-damm-v2') return rangeDepth(pool)
  if (pool.kind === 'deepbook') return bookDepth(pool)
  const reserves = 'reserves' in pool ? pool.reserves : 'balances' in pool ? pool.balances : []
  const amounts = reserves.map((amount) => Number(amount) * (PRICE_MOVE / 2))
  const weights = 'weights' in pool ? pool.weights : []
  return { amounts, units: amounts.map((amount, place) => amount / Number(weights[place] ?? 1n)) }
}

/** A position may end right beside the price, so the active liquidity alone says little about what the pool can pay. */
function concentratedDepth({
  sqrtPrice,
  liquidity,
  tick,
  ticks,
}: Pick<ConcentratedPool, 'sqrtPrice' | 'liquidity' | 'tick' | 'ticks'>): PoolDepth {
  const root = Number(sqrtPrice) / 2 ** 96
  const [low, high] = [root / ROOT_MOVE, root * ROOT_MOVE]
  let [amount0, amount1] = [0, 0]
  let active = Number(liquidity)
  let at = root
  for (const { index, net } of ticks) {
    if (index <= tick || at >= high) continue
    const next = Math.min(high, Math.max(at, TICK_BASE ** (index / 2)))
    amount0 += active * (1 / at - 1 / next)
    at = next
    active = Math.max(0, active + Number(net))
  }
  if (at < high) amount0 += active * (1 / at - 1 / high)
  active = Number(liquidity)
  at = root
  for (let place = ticks.length - 1; place >= 0 && at > low; place--) {
    const { index, net } = ticks[place] as (typeof ticks)[number]
    if (index > tick) continue
    const next = Math.max(low, Math.min(at, TICK_BASE ** (index / 2)))
    amount1 += active * (at - next)
    at = next
    active = Math.max(0, active - Number(net))
  }
  if (at > low) amount1 += active * (at - low)
  return { amounts: [amount0, amount1], units: [1 / root, root] }
}

/** The depth of one range, or of the reserves of a compounding pool. */
function rangeDepth(pool: MeteoraDammV2RoutePool): PoolDepth {
  const { liquidity, root, low, high } = dammRange(pool)
  const units = [1 / root, root]
  const { feeMode, reserves } = pool.state.state
  if (feeMode === 'compounding') return { amounts: reserves.map((amount) => Number(amount) * (PRICE_MOVE / 2)), units }
  const [bottom, top] = [Math.max(low, root / ROOT_MOVE), Math.min(high, root * ROOT_MOVE)]
  return { amounts: [liquidity * (1 / root - 1 / top), liquidity * (root - bottom)], units }
}

/** `oneId`: the id of the bin with price 1. */
type Bins = Readonly<{
  bins: readonly Readonly<{ id: number; reserves: readonly [bigint, bigint] }>[]
  activeId: number
  binStep: number
  oneId: number
}>

/** The depth of the bins within PRICE_MOVE. */
function binDepth({ bins, activeId, binStep, oneId }: Bins): PoolDepth {
  const perBin = Math.log1p(binStep / 10_000)
  const price = Math.exp((activeId - oneId) * perBin)
  const near = bins.filter(({ id }) => Math.abs(id - activeId) * perBin <= PRICE_MOVE)
  const amounts = [0, 1].map((side) => near.reduce((sum, { reserves }) => sum + Number(reserves[side] ?? 0n), 0))
  return { amounts, units: [1 / price, 1] }
}

/** The depth of the orders within PRICE_MOVE of the best ones. */
function bookDepth({ bids, asks, nowMs }: DeepbookPool): PoolDepth {
  const sides = [asks, bids].map((orders) =>
    orders
      .filter(({ expiresAtMs }) => nowMs <= expiresAtMs)
      .map(({ price, remaining }) => ({ price: Number(price) / Number(DEEPBOOK_SCALE), base: Number(remaining) })),
  )
  const [near = [], nearBids = []] = sides.map((orders) => {
    const best = orders[0]?.price ?? 0
    return orders.filter(({ price }) => Math.abs(price / best - 1) <= PRICE_MOVE)
  })
  const base = near.reduce((sum, order) => sum + order.base, 0)
  const quote = nearBids.reduce((sum, order) => sum + order.base * order.price, 0)
  const best = sides.flatMap(([order]) => order?.price ?? [])
  return { amounts: [base, quote], units: [1, best.reduce((sum, price) => sum + price, 0) / Math.max(1, best.length)] }
}
