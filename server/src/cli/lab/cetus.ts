import { swapCetus } from '../../swap/routing/pools/sui/cetus.ts'
import type { Q64State, Q64Swap } from '../../swap/routing/pools/sui/concentrated-q64.ts'
import type { LabSwap } from './lab-swap.ts'
import { replayPools } from './replay-pools.ts'

/** Members of a recorded file that the replay reads. */
type RecordedSwap = Readonly<{
  n?: number
  a2b: boolean
  byAmountIn: boolean
  amount: string
  sqrtPriceLimit: string
}>
type RecordedPool = Readonly<{
  feeRate: number
  protocolFeeRate: number
  sqrtPrice: string
  tick: number
  liquidity: string
  /** Index, net and gross liquidity. */
  ticks: readonly (readonly [number, string, string])[]
  swaps: readonly RecordedSwap[]
}>

/** Replays a file of recorded Cetus swaps. */
export function replayCetus(content: unknown): LabSwap[] {
  return replayCetusPools(content).map(({ swap }) => swap)
}

export const replayCetusPools = (content: unknown) =>
  replayPools((content as { pools: readonly RecordedPool[] }).pools, {
    ...{ readPool, readSwap, apply },
    rowsOf: ({ swaps }) => swaps,
  })

function apply(pool: Q64State, swap: Q64Swap) {
  const result = swapCetus(pool, swap)
  return result.abort === null ? { ...result, error: null } : { error: result.abort.code }
}

function readPool(recorded: RecordedPool): Q64State {
  return {
    feeRate: BigInt(recorded.feeRate),
    protocolFeeRate: BigInt(recorded.protocolFeeRate),
    sqrtPrice: BigInt(recorded.sqrtPrice),
    tick: recorded.tick,
    liquidity: BigInt(recorded.liquidity),
    ticks: recorded.ticks.map(([index, net]) => ({ index, net: BigInt(net) })),
    feeGrowth: [0n, 0n],
    protocolFees: [0n, 0n],
  }
}

function readSwap({ a2b, byAmountIn, amount, sqrtPriceLimit }: RecordedSwap): Q64Swap {
  return { a2b, isExactIn: byAmountIn, amount: BigInt(amount), sqrtPriceLimit: BigInt(sqrtPriceLimit) }
}
