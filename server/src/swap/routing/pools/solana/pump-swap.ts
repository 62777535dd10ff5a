import { findPumpSwapFees, type PumpSwapPool, tradePumpSwap } from '@swapyard/lib/pools/solana/pump-swap.ts'
import { createCurve } from '../../curve.ts'
import type { PoolMaths } from '../../pool.ts'
import type { SolanaPoolIdentity } from './solana-pool.ts'

/** A pool of PumpSwap with the accounts that a trade names. Token 0 is the base token. */
export type PumpSwapRoutePool = SolanaPoolIdentity &
  Readonly<{
    kind: 'pump-swap'
    state: PumpSwapPool
    reserves: readonly [bigint, bigint]
    /** Recipients of the protocol's fee and of its part for buybacks. */
    feeRecipient: string
    buybackRecipient: string
    coinCreator: string
  }>

/** Compute units of one trade. */
const GAS = 120_000
const BASIS_POINTS = 10_000

/** Fees of a trade, parts of 1 of the quote amount. */
export function pumpSwapFee(state: PumpSwapPool): number {
  const { lp, protocol, coinCreator } = findPumpSwapFees(state)
  return Number(lp + protocol + coinCreator) / BASIS_POINTS
}

function swap(pool: PumpSwapRoutePool, tokenIn: number, _tokenOut: number, amount: bigint) {
  const trade =
    tokenIn === 0
      ? ({ kind: 'sell', baseIn: amount, quoteOutMin: 0n } as const)
      : ({ kind: 'buyExactQuoteIn', quoteIn: amount, baseOutMin: 1n } as const)
  const result = tradePumpSwap(pool.state, trade)
  if (result.error !== null || result.received === 0n) return null
  const { next } = result
  return {
    amountOut: result.received,
    next: { ...pool, state: next, reserves: [next.baseReserve, next.quoteReserve] as const },
  }
}

/** The fee is on the quote amount: taken from the output of a sale, and on top of the input of a purchase. */
function curve({ state, reserves }: PumpSwapRoutePool, tokenIn: number, tokenOut: number) {
  const [reserveIn, reserveOut] = [Number(reserves[tokenIn] ?? 0n), Number(reserves[tokenOut] ?? 0n)]
  const fee = pumpSwapFee(state)
  const feeFactor = tokenIn === 0 ? 1 - fee : 1 / (1 + fee)
  if (reserveIn <= 0 || reserveOut <= 0 || !(feeFactor > 0)) return null
  // `createCurve` applies the factor to the input. For a fee on the output both reserves are scaled instead.
  const scale = tokenIn === 0 ? feeFactor : 1
  const scaled = { reserveIn: reserveIn * scale, reserveOut: reserveOut * scale }
  return createCurve([{ ...scaled, capacity: Number.POSITIVE_INFINITY }], feeFactor, GAS)
}

export const pumpSwap: PoolMaths<PumpSwapRoutePool> = { swap, curve }
