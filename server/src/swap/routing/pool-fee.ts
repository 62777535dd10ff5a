import { dlmmFeeRate } from '@swapyard/lib/pools/solana/meteora-dlmm.ts'
import { inputFeeRate } from '@swapyard/lib/pools/sui/deepbook-quote.ts'
import type { Pool } from './pool-kinds.ts'
import { dammFeeRate } from './pools/solana/meteora-damm-v2.ts'
import { pumpSwapFee } from './pools/solana/pump-swap.ts'

/**
 * A pool's current fee on the input, in millionths, rounded down, for display and for the depth of pools. Fees that depend on the amount or
 * the balances: the base fee.
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
    case 'raydium-clmm':
      return Number(pool.state.config.tradeFeeRate)
    case 'raydium-amm-v4':
      return Number((pool.state.feeNumerator * 1_000_000n) / pool.state.feeDenominator)
    case 'meteora-dlmm':
      return toPpm(dlmmFeeRate(pool.state.pair, pool.unixTime, pool.state.pair.activeId), 9)
    case 'meteora-damm-v2':
      return toPpm(dammFeeRate(pool, tokenIn), 9)
    case 'pump-swap':
      return Math.round(pumpSwapFee(pool.state) * 1_000_000)
  }
}

const toPpm = (fee: bigint, decimals: number): number => Number((fee * 1_000_000n) / 10n ** BigInt(decimals))
