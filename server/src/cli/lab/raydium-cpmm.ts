import {
  decodeRaydiumCpmmConfig,
  decodeRaydiumCpmmPool,
  type RaydiumCpmmPool,
  type RaydiumCpmmSwap,
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

const form = {
  pool: ['config', 'poolData', 'vault0', 'vault1'],
  row: [
    ...['kind', 'inputIs', ['amountIn', 'amountOut'], ['minimumAmountOut', 'maxAmountIn']],
    ...['unixTimestamp', 'epoch'],
  ],
}

/** Replays a file of Raydium CPMM swaps. Reads the pools and the inputs of the cases only. */
export function replayRaydiumCpmm(content: unknown): LabSwap[] {
  return replayCpmmPools(content).map(({ swap }) => swap)
}

export const replayCpmmPools = (content: unknown) =>
  replayPools(content, { form, rows: 'cases', readPool, readSwap, apply })

function readPool(row: Pool): RaydiumCpmmPool {
  return decodeRaydiumCpmmPool(
    Buffer.from(row.poolData, 'base64'),
    decodeRaydiumCpmmConfig(Buffer.from(row.config.data, 'base64')),
    [BigInt(row.vault0), BigInt(row.vault1)],
    readTransferFees(row.transferFees),
  )
}

/** Null if the accounts of the case are not those of the pool. */
function readSwap(row: Case): RaydiumCpmmSwap | null {
  // Only the note of a case says that its accounts differ.
  if (row.note === 'input vault given also as output vault') return null
  const isExactInput = row.kind === 'baseInput'
  return {
    isExactInput,
    inputIndex: row.inputIs,
    amount: BigInt((isExactInput ? row.amountIn : row.amountOut) ?? ''),
    limit: BigInt((isExactInput ? row.minimumAmountOut : row.maxAmountIn) ?? ''),
    unixTime: BigInt(row.unixTimestamp),
    epoch: BigInt(row.epoch),
  }
}

const apply = (state: RaydiumCpmmPool, swap: RaydiumCpmmSwap | null) =>
  swap === null ? ({ error: INVALID_VAULT } as const) : swapRaydiumCpmm(state, swap)
