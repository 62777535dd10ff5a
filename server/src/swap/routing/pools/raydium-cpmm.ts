import { type RaydiumCpmmPool, swapRaydiumCpmm } from '@swapyard/lib/pools/solana/raydium-cpmm.ts'
import { createCurve } from '../curve.ts'
import type { PoolIdentity, PoolMaths } from '../pool.ts'

/** A pool of Raydium CPMM with the accounts that a swap names. Pairs are in the order of `tokens`. */
export type RaydiumCpmmRoutePool = PoolIdentity &
  Readonly<{
    kind: 'raydium-cpmm'
    state: RaydiumCpmmPool
    /** What the vaults hold without the fees that are not collected yet. */
    reserves: readonly [bigint, bigint]
    /** Token programs of the mints. */
    programs: readonly [string, string]
    decimals: readonly [number, number]
    vaults: readonly [string, string]
    config: string
    observation: string
  }>

/** Compute units of one swap. */
const GAS = 60_000
const PPM = 1_000_000
const BASIS_POINTS = 10_000

/** The reserves without uncollected fees. */
export const reservesOf = ({ vaults, protocolFees, fundFees }: RaydiumCpmmPool) =>
  [vaults[0] - protocolFees[0] - fundFees[0], vaults[1] - protocolFees[1] - fundFees[1]] as const

/** The output is what the recipient gets, and the input what the trader pays, after the mints' transfer fees. */
function swap(pool: RaydiumCpmmRoutePool, tokenIn: number, _tokenOut: number, amount: bigint) {
  const { state } = pool
  const inputIndex = tokenIn === 0 ? 0 : 1
  // Only pools that are open are read.
  const result = swapRaydiumCpmm(state, {
    ...{ isExactInput: true, inputIndex, amount, limit: 0n, unixTime: state.openTime, epoch: state.recentEpoch },
  })
  if (result.error !== null) return null
  return { amountOut: result.received, next: { ...pool, state: result.next, reserves: reservesOf(result.next) } }
}

/** The greatest fee of a transfer is ignored: the curve then pays too little, and the search decides only by it. */
function curve({ state, reserves }: RaydiumCpmmRoutePool, tokenIn: number, tokenOut: number) {
  const [reserveIn, reserveOut] = [Number(reserves[tokenIn] ?? 0n), Number(reserves[tokenOut] ?? 0n)]
  if (reserveIn <= 0 || reserveOut <= 0) return null
  const restOf = (token: number) =>
    1 - Number(state.transferFees[token === 0 ? 0 : 1]?.basisPoints ?? 0n) / BASIS_POINTS
  const feeFactor = (1 - Number(state.config.tradeFeeRate) / PPM) * restOf(tokenIn)
  const hyperbola = { reserveIn, reserveOut: reserveOut * restOf(tokenOut), capacity: Number.POSITIVE_INFINITY }
  return feeFactor > 0 ? createCurve([hyperbola], feeFactor, GAS) : null
}

export const raydiumCpmm: PoolMaths<RaydiumCpmmRoutePool> = { swap, curve }
