import { type DammPool, type DammSwap, swapMeteoraDammV2 } from '@swapyard/lib/pools/solana/meteora-damm-v2.ts'
import { decodeDammPool } from '@swapyard/lib/pools/solana/meteora-damm-v2-accounts.ts'
import type { LabSwap } from './lab-swap.ts'
import { type RecordedFees, readTransferFees, replayPools } from './replay-pools.ts'

/** Members of a recorded file that the replay reads: accounts in base64 and the inputs of the cases. */
type RecordedCase = Readonly<{
  n: number
  mode: DammSwap['kind']
  direction: 'aToB' | 'bToA'
  amountIn?: string
  minimumAmountOut?: string
  amountOut?: string
  maximumAmountIn?: string
  unixTimestamp: string
  slot: string
  withReferral?: boolean
  note?: string
}>
type RecordedPool = Readonly<{
  poolData: string
  vaultA: string
  vaultB: string
  transferFees?: RecordedFees
  cases: readonly RecordedCase[]
}>

/** Replays a file of Meteora DAMM v2 swaps. */
export function replayMeteoraDammV2(content: unknown): LabSwap[] {
  return replayDammPools(content).map(({ swap }) => swap)
}

export const replayDammPools = (content: unknown) =>
  replayPools(content, { form, rows: 'cases', readPool, readSwap, apply: swapMeteoraDammV2 })

const form = {
  pool: ['poolData', 'vaultA', 'vaultB'],
  row: [
    ...['mode', 'direction', ['amountIn', 'amountOut'], ['minimumAmountOut', 'maximumAmountIn']],
    ...['unixTimestamp', 'slot'],
  ],
}

function readPool(recorded: RecordedPool): DammPool {
  return {
    state: decodeDammPool(Buffer.from(recorded.poolData, 'base64')),
    vaults: [BigInt(recorded.vaultA), BigInt(recorded.vaultB)],
    transferFees: readTransferFees(recorded.transferFees),
  }
}

function readSwap(input: RecordedCase): DammSwap {
  const isExactOut = input.mode === 'exactOut'
  return {
    aToB: input.direction === 'aToB',
    kind: input.mode,
    amount: BigInt((isExactOut ? input.amountOut : input.amountIn) ?? ''),
    limit: BigInt((isExactOut ? input.maximumAmountIn : input.minimumAmountOut) ?? ''),
    unixTime: BigInt(input.unixTimestamp),
    slot: BigInt(input.slot),
    hasReferral: input.withReferral === true,
    // Only the note of a case says that the account is missing.
    hasInstructions: input.note !== 'instructions sysvar not given',
  }
}
