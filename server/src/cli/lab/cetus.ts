import { swapCetus } from '@swapyard/lib/pools/sui/cetus.ts'
import type { Q64State, Q64Swap } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import type { LabSwap } from './lab-swap.ts'
import { type RecordedQ64Pool, readQ64Pool } from './q64-pool.ts'
import { replayPools } from './replay-pools.ts'

/** Members of a recorded file that the replay reads. */
type RecordedSwap = Readonly<{
  n?: number
  a2b: boolean
  byAmountIn: boolean
  amount: string
  sqrtPriceLimit: string
}>
type RecordedPool = RecordedQ64Pool &
  Readonly<{
    feeRate: number
    protocolFeeRate: number
    swaps: readonly RecordedSwap[]
  }>

/** Replays a file of recorded Cetus swaps. */
export function replayCetus(content: unknown): LabSwap[] {
  return replayCetusPools(content).map(({ swap }) => swap)
}

export const replayCetusPools = (content: unknown) =>
  replayPools(content, { form, rows: 'swaps', readPool, readSwap, apply })

const form = {
  pool: ['feeRate', 'protocolFeeRate', 'sqrtPrice', 'tick', 'liquidity', 'ticks'],
  row: ['a2b', 'byAmountIn', 'amount', 'sqrtPriceLimit'],
}

function apply(pool: Q64State, swap: Q64Swap) {
  const result = swapCetus(pool, swap)
  return result.abort === null ? { ...result, error: null } : { error: result.abort.code }
}

function readPool(recorded: RecordedPool): Q64State {
  return {
    feeRate: BigInt(recorded.feeRate),
    protocolFeeRate: BigInt(recorded.protocolFeeRate),
    ...readQ64Pool(recorded),
  }
}

function readSwap({ a2b, byAmountIn, amount, sqrtPriceLimit }: RecordedSwap): Q64Swap {
  return { a2b, isExactIn: byAmountIn, amount: BigInt(amount), sqrtPriceLimit: BigInt(sqrtPriceLimit) }
}
