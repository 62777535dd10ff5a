import type { Q64Swap } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import { swapTurbos, type TurbosState } from '@swapyard/lib/pools/sui/turbos.ts'
import type { LabSwap } from './lab-swap.ts'
import { type RecordedQ64Pool, readQ64Pool } from './q64-pool.ts'
import { replayPools } from './replay-pools.ts'

/** Members of a recorded file that the replay reads. */
type RecordedSwap = Readonly<{
  n?: number
  aToB: boolean
  isExactIn: boolean
  amount: string
  sqrtPriceLimit: string
}>
type RecordedPool = RecordedQ64Pool &
  Readonly<{
    tickSpacing: number
    fee: number
    feeProtocol: number
    swaps: readonly RecordedSwap[]
  }>

/** Replays a file of recorded Turbos swaps. */
export function replayTurbos(content: unknown): LabSwap[] {
  return replayTurbosPools(content).map(({ swap }) => swap)
}

export const replayTurbosPools = (content: unknown) =>
  replayPools(content, { form, rows: 'swaps', readPool, readSwap, apply })

const form = {
  pool: ['tickSpacing', 'fee', 'feeProtocol', 'sqrtPrice', 'tick', 'liquidity', 'ticks'],
  row: ['aToB', 'isExactIn', 'amount', 'sqrtPriceLimit'],
}

function apply(pool: TurbosState, swap: Q64Swap) {
  const result = swapTurbos(pool, swap)
  return result.abort === null ? { ...result, error: null } : { error: result.abort.code }
}

function readPool(recorded: RecordedPool): TurbosState {
  return {
    tickSpacing: recorded.tickSpacing,
    feeRate: BigInt(recorded.fee),
    protocolFeeRate: BigInt(recorded.feeProtocol),
    ...readQ64Pool(recorded),
  }
}

function readSwap({ aToB, isExactIn, amount, sqrtPriceLimit }: RecordedSwap): Q64Swap {
  return { a2b: aToB, isExactIn, amount: BigInt(amount), sqrtPriceLimit: BigInt(sqrtPriceLimit) }
}
