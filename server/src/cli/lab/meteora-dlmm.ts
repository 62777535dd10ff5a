import {
  type DlmmAmounts,
  type DlmmPool,
  type DlmmSwap,
  swapMeteoraDlmm,
} from '@swapyard/lib/pools/solana/meteora-dlmm.ts'
import {
  decodeDlmmBinArray,
  decodeDlmmExtension,
  decodeDlmmPair,
} from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import type { LabSwap } from './lab-swap.ts'
import { type RecordedFees, readTransferFees, replayPools } from './replay-pools.ts'

/** Members of a recorded file that the replay reads: accounts in base64 and the inputs of the cases. */
type RecordedCase = Readonly<{
  n: number
  swapForY: boolean
  amountIn?: string
  minimumAmountOut?: string
  amountOut?: string
  maximumAmountIn?: string
  activeId?: number | null
  maxPriceImpactBps?: string | number
  unixTimestamp: string
  binArraysGiven: readonly number[]
  withHostFeeAccount?: boolean
  slot?: string | number
  note?: string
}>
type RecordedPool = Readonly<{
  what: string
  pairData: string
  binArrays: readonly Readonly<{ data: string }>[]
  reserveXBalance: string
  reserveYBalance: string
  bitmapExtension?: Readonly<{ data: string }>
  transferFees?: RecordedFees
  cases: readonly RecordedCase[]
}>

/** Replays a file of Meteora DLMM swaps. */
export function replayMeteoraDlmm(content: unknown): LabSwap[] {
  return replayDlmmPools(content).map(({ swap }) => swap)
}

export const replayDlmmPools = (content: unknown) =>
  replayPools(content, { form, rows: 'cases', readPool, readSwap, apply: swapMeteoraDlmm })

const form = {
  pool: ['what', 'pairData', 'binArrays', 'reserveXBalance', 'reserveYBalance'],
  row: [
    ...['swapForY', ['amountIn', 'amountOut'], ['minimumAmountOut', 'maximumAmountIn', 'maxPriceImpactBps']],
    ...['unixTimestamp', 'binArraysGiven'],
  ],
}

function readPool(recorded: RecordedPool): DlmmPool {
  const arrays = recorded.binArrays.map(({ data }) => decodeDlmmBinArray(Buffer.from(data, 'base64')))
  const extension = recorded.bitmapExtension
  return {
    pair: decodeDlmmPair(Buffer.from(recorded.pairData, 'base64')),
    extensionIndexes: extension === undefined ? [] : decodeDlmmExtension(Buffer.from(extension.data, 'base64')),
    binArrays: new Map(arrays.map((array) => [array.index, array])),
    reserves: [BigInt(recorded.reserveXBalance), BigInt(recorded.reserveYBalance)],
    transferFees: readTransferFees(recorded.transferFees),
  }
}

function readSwap(input: RecordedCase, recorded: RecordedPool, { pair }: DlmmPool): DlmmSwap {
  // The recorded files give a slot, or say that the extension is missing, only in the note. Other slots are after the activation.
  const slot = input.slot ?? /^slot ([0-9]+) /.exec(input.note ?? '')?.[1]
  return {
    swapForY: input.swapForY,
    amounts: readAmounts(input),
    unixTime: BigInt(input.unixTimestamp),
    slot: slot === undefined ? (pair.activation?.point ?? 0n) : BigInt(slot),
    binArrays: input.binArraysGiven,
    hasExtension: recorded.bitmapExtension !== undefined && input.note !== 'bitmap extension not given',
    hostToken: input.withHostFeeAccount === true ? hostTokenOf(input, recorded, pair.hasFeesInY) : null,
  }
}

/** Swaps of the pools made for the recording gave the host an account of the fee's token, those of dumped pools one of the input. */
function hostTokenOf(input: RecordedCase, recorded: RecordedPool, hasFeesInY: boolean): 'x' | 'y' {
  const isInputFee = recorded.what === 'account dump' || !hasFeesInY
  return isInputFee && input.swapForY ? 'x' : 'y'
}

function readAmounts({ amountIn, amountOut, ...input }: RecordedCase): DlmmAmounts {
  if (amountOut !== undefined)
    return { kind: 'exactOut', amountOut: BigInt(amountOut), maximumIn: BigInt(input.maximumAmountIn ?? '') }
  if (input.maxPriceImpactBps === undefined)
    return { kind: 'exactIn', amountIn: BigInt(amountIn ?? ''), minimumOut: BigInt(input.minimumAmountOut ?? '') }
  return {
    kind: 'priceImpact',
    amountIn: BigInt(amountIn ?? ''),
    activeId: input.activeId ?? null,
    maxImpactBps: BigInt(input.maxPriceImpactBps),
  }
}
