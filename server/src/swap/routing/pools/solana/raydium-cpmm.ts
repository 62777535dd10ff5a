import { type RaydiumCpmmPool, swapRaydiumCpmm } from '@swapyard/lib/pools/solana/raydium-cpmm.ts'
import { createCurve } from '../../curve.ts'
import type { PoolMaths } from '../../pool.ts'
import { type SolanaPoolIdentity, withTransferFees } from './solana-pool.ts'

/** A pool of Raydium CPMM with the accounts that a swap names. */
export type RaydiumCpmmRoutePool = SolanaPoolIdentity &
  Readonly<{
    kind: 'raydium-cpmm'
    state: RaydiumCpmmPool
    /** What the vaults hold without the fees that are not collected yet. */
    reserves: readonly [bigint, bigint]
    config: string
    observation: string
  }>

/** Compute units of one swap. */
const GAS = 60_000
const PPM = 1_000_000

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

function curve({ state, reserves }: RaydiumCpmmRoutePool, tokenIn: number, tokenOut: number) {
  const [reserveIn, reserveOut] = [Number(reserves[tokenIn] ?? 0n), Number(reserves[tokenOut] ?? 0n)]
  if (reserveIn <= 0 || reserveOut <= 0) return null
  const feeFactor = 1 - Number(state.config.tradeFeeRate) / PPM
  const hyperbola = { reserveIn, reserveOut, capacity: Number.POSITIVE_INFINITY }
  return feeFactor > 0 ? withTransferFees(createCurve([hyperbola], feeFactor, GAS), state.transferFees, tokenIn) : null
}

export const raydiumCpmm: PoolMaths<RaydiumCpmmRoutePool> = { swap, curve }
