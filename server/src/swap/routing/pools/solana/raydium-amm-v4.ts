import { type RaydiumAmmV4Pool, swapRaydiumAmmV4 } from '@swapyard/lib/pools/solana/raydium-amm-v4.ts'
import { createCurve } from '../../curve.ts'
import type { PoolMaths } from '../../pool.ts'
import type { SolanaPoolIdentity } from './solana-pool.ts'

/** A pool of Raydium AMM v4 without funds in an order book. Token 0 is the coin. */
export type RaydiumAmmV4RoutePool = SolanaPoolIdentity &
  Readonly<{
    kind: 'raydium-amm-v4'
    state: RaydiumAmmV4Pool
    /** What the vaults hold without the profit to take. */
    reserves: readonly [bigint, bigint]
  }>

/** Compute units of one swap. */
const GAS = 40_000

export const reservesOf = ({ vaults, needTakePnl }: RaydiumAmmV4Pool) =>
  [vaults[0] - needTakePnl[0], vaults[1] - needTakePnl[1]] as const

function swap(pool: RaydiumAmmV4RoutePool, tokenIn: number, _tokenOut: number, amount: bigint) {
  const { state } = pool
  const inputIndex = tokenIn === 0 ? 0 : 1
  // Only pools that are open are read.
  const result = swapRaydiumAmmV4(state, {
    ...{ isExactInput: true, inputIndex, amount, limit: 0n, unixTime: state.openTime, balance: null },
  })
  if (result.error !== null) return null
  return { amountOut: result.received, next: { ...pool, state: result.next, reserves: reservesOf(result.next) } }
}

function curve({ state, reserves }: RaydiumAmmV4RoutePool, tokenIn: number, tokenOut: number) {
  const [reserveIn, reserveOut] = [Number(reserves[tokenIn] ?? 0n), Number(reserves[tokenOut] ?? 0n)]
  const feeFactor = 1 - Number(state.feeNumerator) / Number(state.feeDenominator)
  if (reserveIn <= 0 || reserveOut <= 0 || !(feeFactor > 0)) return null
  return createCurve([{ reserveIn, reserveOut, capacity: Number.POSITIVE_INFINITY }], feeFactor, GAS)
}

export const raydiumAmmV4: PoolMaths<RaydiumAmmV4RoutePool> = { swap, curve }
