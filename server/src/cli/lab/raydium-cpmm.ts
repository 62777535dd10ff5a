import {
  decodeRaydiumCpmmConfig,
  decodeRaydiumCpmmPool,
  type RaydiumCpmmPool,
  swapRaydiumCpmm,
} from '@swapyard/lib/pools/solana/raydium-cpmm.ts'
import type { LabSwap } from './lab-swap.ts'
import { type RecordedFees, readTransferFees, replayPools } from './replay-pools.ts'

type Case = Readonly<{
  n: number
  kind: 'baseInput' | 'baseOutput'
  inputIs: 0 | 1
  amountIn?: string
  minimumAmountOut?: string
  amountOut?: string
  maxAmountIn?: string
  unixTimestamp: string
  epoch: string
  note?: string
}>
type Pool = Readonly<{
  config: { data: string }
  poolData: string
  vault0: string
  vault1: string
  transferFees?: RecordedFees
  cases: readonly Case[]
}>

const INVALID_VAULT = 6008

/** Replays a file of Raydium CPMM swaps. Reads the pools and the inputs of the cases only. */
export function replayRaydiumCpmm(content: unknown): LabSwap[] {
  const { pools } = content as { pools: readonly Pool[] }
  const replay = { readPool, rowsOf: ({ cases }: Pool) => cases, readSwap: (row: Case) => row, apply: applyCase }
  return replayPools(pools, replay).map(({ swap }) => swap)
}

function readPool(row: Pool): RaydiumCpmmPool {
  return decodeRaydiumCpmmPool(
    Buffer.from(row.poolData, 'base64'),
    decodeRaydiumCpmmConfig(Buffer.from(row.config.data, 'base64')),
    [BigInt(row.vault0), BigInt(row.vault1)],
    readTransferFees(row.transferFees),
  )
}

function applyCase(state: RaydiumCpmmPool, swap: Case) {
  // Only the note of a case says that its accounts or the pool's status differ.
  if (swap.note === 'input vault given also as output vault') return { error: INVALID_VAULT } as const
  const isExactInput = swap.kind === 'baseInput'
  return swapRaydiumCpmm(state, {
    isExactInput,
    inputIndex: swap.inputIs,
    amount: BigInt((isExactInput ? swap.amountIn : swap.amountOut) ?? ''),
    limit: BigInt((isExactInput ? swap.minimumAmountOut : swap.maxAmountIn) ?? ''),
    unixTime: BigInt(swap.unixTimestamp),
    epoch: BigInt(swap.epoch),
  })
}
