import { inputFeeRate } from '@swapyard/lib/pools/sui/deepbook-quote.ts'
import type { Pool } from './pool-kinds.ts'

/**
 * A pool's current fee on the input, in millionths, rounded down, for display. Fees that depend on the amount or the balances: the base
 * fee.
 */
export function poolFeePpm(pool: Pool, tokenIn: number): number {
  const direction = tokenIn === 0 ? 0 : 1
  switch (pool.kind) {
    case 'uniswap-v2':
    case 'uniswap-v3':
    case 'solidly':
      return pool.feePpm
    case 'algebra':
      return pool.feePpm[direction]
    case 'uniswap-v4':
      return pool.lpFeePpm + pool.protocolFeePpm[direction]
    case 'curve-stable':
      return toPpm(pool.fee, 10)
    case 'balancer-weighted':
    case 'balancer-stable':
      return toPpm(pool.swapFee, 18)
    case 'cetus':
    case 'turbos':
      return toPpm(pool.feeRate, 6)
    case 'deepbook':
      return toPpm(inputFeeRate(pool), 9)
    case 'liquidity-book':
      // LBPair's base fee: base factor × bin step × 10^10, in parts of 10^18.
      return toPpm(BigInt(pool.fees.baseFactor) * BigInt(pool.binStep) * 10n ** 10n, 18)
    case 'raydium-cpmm':
      return Number(pool.state.config.tradeFeeRate)
  }
}

const toPpm = (fee: bigint, decimals: number): number => Number((fee * 1_000_000n) / 10n ** BigInt(decimals))
