import { type DammPool, swapMeteoraDammV2 } from '@swapyard/lib/pools/solana/meteora-damm-v2.ts'
import { decayDammVolatility, findDammFeeRate } from '@swapyard/lib/pools/solana/meteora-damm-v2-fee.ts'
import { createCurve, type Hyperbola } from '../../curve.ts'
import type { PoolMaths } from '../../pool.ts'
import { type SolanaPoolIdentity, withTransferFees } from './solana-pool.ts'

/** A pool of Meteora DAMM v2: one range of liquidity, or x·y = k of a compounding pool. Token 0 is A. */
export type MeteoraDammV2RoutePool = SolanaPoolIdentity &
  Readonly<{
    kind: 'meteora-damm-v2'
    state: DammPool
    /** Of the read: fees follow the time. */
    unixTime: bigint
    slot: bigint
  }>

/** Compute units of one swap. */
const GAS = 80_000
const RATE = 1e9
const Q64 = 2 ** 64

/** The fee of a swap, in parts of 10^9. Pools whose fee depends on the amount are not read. */
export function dammFeeRate({ state: { state }, unixTime, slot }: MeteoraDammV2RoutePool, tokenIn: number): bigint {
  const now = state.activation.isSlot ? slot : unixTime
  const decayed = { ...state, volatility: decayDammVolatility(state, unixTime) }
  return findDammFeeRate(decayed, { aToB: tokenIn === 0, now, base: { amount: 0n } })
}

/** Liquidity, so that `liquidity × root` is an amount of B, and roots of prices. */
export function dammRange({ state: { state } }: MeteoraDammV2RoutePool) {
  return {
    liquidity: Number(state.liquidity) / Q64,
    root: Number(state.sqrtPrice) / Q64,
    low: Number(state.sqrtPriceMin) / Q64,
    high: Number(state.sqrtPriceMax) / Q64,
  }
}

function swap(pool: MeteoraDammV2RoutePool, tokenIn: number, _tokenOut: number, amount: bigint) {
  const { unixTime, slot } = pool
  const result = swapMeteoraDammV2(pool.state, {
    ...{ aToB: tokenIn === 0, kind: 'exactIn', amount, limit: 0n, unixTime, slot },
    ...{ hasReferral: false, hasInstructions: false },
  })
  if (result.error !== null || result.received === 0n) return null
  return { amountOut: result.received, next: { ...pool, state: result.next } }
}

/** Without fees. */
function hyperbolaOf(pool: MeteoraDammV2RoutePool, tokenIn: number): Hyperbola {
  const { feeMode, reserves } = pool.state.state
  if (feeMode === 'compounding') {
    const [reserveIn, reserveOut] = [Number(reserves[tokenIn] ?? 0n), Number(reserves[1 - tokenIn] ?? 0n)]
    return { reserveIn, reserveOut, capacity: Number.POSITIVE_INFINITY }
  }
  const { liquidity, root, low, high } = dammRange(pool)
  const [ofA, ofB] = [liquidity / root, liquidity * root]
  return tokenIn === 0
    ? { reserveIn: ofA, reserveOut: ofB, capacity: liquidity / low - ofA }
    : { reserveIn: ofB, reserveOut: ofA, capacity: liquidity * high - ofB }
}

/** The fee is taken from the output, and from the input of sales of B except in pools with the mode `output`. */
function curve(pool: MeteoraDammV2RoutePool, tokenIn: number) {
  const rest = 1 - Number(dammFeeRate(pool, tokenIn)) / RATE
  const { reserveIn, reserveOut, capacity } = hyperbolaOf(pool, tokenIn)
  if (!(reserveIn > 0) || !(reserveOut > 0) || !(capacity > 0) || !(rest > 0)) return null
  const isFeeInInput = pool.state.state.feeMode !== 'output' && tokenIn === 1
  // `createCurve` applies the factor to the input. For a fee on the output both reserves are scaled instead.
  const hyperbola = isFeeInInput
    ? { reserveIn, reserveOut, capacity: capacity / rest }
    : { reserveIn: reserveIn * rest, reserveOut: reserveOut * rest, capacity }
  return withTransferFees(createCurve([hyperbola], rest, GAS), pool.state.transferFees, tokenIn)
}

export const meteoraDammV2: PoolMaths<MeteoraDammV2RoutePool> = { swap, curve }
