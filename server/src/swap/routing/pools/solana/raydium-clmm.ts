import { type ClmmPool, swapRaydiumClmm } from '@swapyard/lib/pools/solana/raydium-clmm.ts'
import { clmmArrayStart } from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import type { PoolMaths } from '../../pool.ts'
import { concentratedCurve } from '../concentrated.ts'
import { type SolanaPoolIdentity, withTransferFees } from './solana-pool.ts'

/** A pool of Raydium CLMM with the tick arrays beside its price, and the accounts that a swap names. */
export type RaydiumClmmRoutePool = SolanaPoolIdentity &
  Readonly<{
    kind: 'raydium-clmm'
    state: ClmmPool
    config: string
    observation: string
    /** The account of the bitmap extension; null if no tick array is that far from price 1. */
    extension: string | null
    /** Accounts of the tick arrays of `state`, ascending. Nothing beyond them is traded. */
    arrays: readonly TickArrayAccount[]
  }>

export type TickArrayAccount = Readonly<{ start: number; address: string }>

/** Compute units of one swap. */
const GAS = 100_000

/** The tick arrays that a swap in this direction may use, in its order. */
function arraysInDirection(pool: RaydiumClmmRoutePool, zeroForOne: boolean): readonly TickArrayAccount[] {
  const { tickCurrent, tickSpacing } = pool.state.state
  const current = clmmArrayStart(tickCurrent, tickSpacing)
  return zeroForOne
    ? pool.arrays.filter(({ start }) => start <= current).reverse()
    : pool.arrays.filter(({ start }) => start >= current)
}

function swap(pool: RaydiumClmmRoutePool, tokenIn: number, _tokenOut: number, amount: bigint) {
  const zeroForOne = tokenIn === 0
  const result = swapRaydiumClmm(pool.state, {
    ...{ zeroForOne, isBaseInput: true, amount, otherAmountThreshold: 0n, sqrtPriceLimit: 0n },
    // Only pools that are open are read.
    timestamp: pool.state.state.openTime,
    tickArrayStarts: arraysInDirection(pool, zeroForOne).map(({ start }) => start),
    hasExtension: pool.extension !== null,
  })
  if (result.error !== null || result.paid !== amount || result.received === 0n) return null
  return { amountOut: result.received, next: { ...pool, state: result.next } }
}

/** Initialised ticks, ascending, in the form that pools of EVM networks have. */
export const ticksOf = ({ arrays, state }: RaydiumClmmRoutePool) =>
  arrays.flatMap(({ start }) =>
    (state.tickArrays.get(start)?.ticks ?? []).map(({ tick, liquidityNet }) => ({ index: tick, net: liquidityNet })),
  )

/** Prices of EVM pools have 96 binary decimals, those of CLMM 64. */
export const sqrtPriceX96 = ({ state }: RaydiumClmmRoutePool): bigint => state.state.sqrtPrice << 32n

function curve(pool: RaydiumClmmRoutePool, tokenIn: number) {
  const { liquidity, tickCurrent, tickSpacing } = pool.state.state
  const concentrated = {
    sqrtPrice: sqrtPriceX96(pool),
    liquidity,
    tick: tickCurrent,
    tickSpacing,
    ticks: ticksOf(pool),
  }
  const feePpm = Number(pool.state.config.tradeFeeRate)
  return withTransferFees(concentratedCurve(concentrated, tokenIn === 0, feePpm, GAS), pool.state.transferFees, tokenIn)
}

export const raydiumClmm: PoolMaths<RaydiumClmmRoutePool> = { swap, curve }
