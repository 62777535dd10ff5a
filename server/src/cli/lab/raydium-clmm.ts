import { type ClmmPool, type ClmmSwap, swapRaydiumClmm } from '@swapyard/lib/pools/solana/raydium-clmm.ts'
import {
  decodeClmmConfig,
  decodeClmmExtension,
  decodeClmmPool,
  decodeClmmTickArray,
} from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import type { LabSwap } from './lab-swap.ts'
import { type RecordedFees, readTransferFees, replayPools } from './replay-pools.ts'

/** Members of a recorded file that the replay reads: accounts in base64 and the inputs of the cases. */
type RecordedCase = Readonly<{
  n: number
  isBaseInput: boolean
  zeroForOne: boolean
  amount: string
  otherAmountThreshold: string
  sqrtPriceLimitX64: string
  unixTimestamp: string
  tickArraysGiven: readonly number[]
  withoutBitmapExtension?: boolean
}>
type RecordedPool = Readonly<{
  config: Readonly<{ data: string }>
  poolData: string
  bitmapExtension: Readonly<{ data: string }>
  tickArrays: readonly Readonly<{ data: string }>[]
  transferFees?: RecordedFees
  cases: readonly RecordedCase[]
}>

/** Replays a file of recorded Raydium CLMM swaps. */
export function replayRaydiumClmm(content: unknown): LabSwap[] {
  return replayClmmPools(content).map(({ swap }) => swap)
}

export const replayClmmPools = (content: unknown) =>
  replayPools(content, { form, rows: 'cases', readPool, readSwap, apply: swapRaydiumClmm })

const form = {
  pool: ['config', 'poolData', 'bitmapExtension', 'tickArrays'],
  row: [
    ...['isBaseInput', 'zeroForOne', 'amount', 'otherAmountThreshold', 'sqrtPriceLimitX64'],
    ...['unixTimestamp', 'tickArraysGiven'],
  ],
}

function readPool(recorded: RecordedPool): ClmmPool {
  const state = decodeClmmPool(Buffer.from(recorded.poolData, 'base64'))
  const arrays = recorded.tickArrays.map(({ data }) => decodeClmmTickArray(Buffer.from(data, 'base64')))
  return {
    config: decodeClmmConfig(Buffer.from(recorded.config.data, 'base64')),
    state,
    extensionStarts: decodeClmmExtension(Buffer.from(recorded.bitmapExtension.data, 'base64'), state.tickSpacing),
    tickArrays: new Map(arrays.map((array) => [array.startTick, array])),
    transferFees: readTransferFees(recorded.transferFees),
  }
}

function readSwap(input: RecordedCase): ClmmSwap {
  return {
    zeroForOne: input.zeroForOne,
    isBaseInput: input.isBaseInput,
    amount: BigInt(input.amount),
    otherAmountThreshold: BigInt(input.otherAmountThreshold),
    sqrtPriceLimit: BigInt(input.sqrtPriceLimitX64),
    timestamp: BigInt(input.unixTimestamp),
    tickArrayStarts: input.tickArraysGiven,
    hasExtension: input.withoutBitmapExtension !== true,
  }
}
