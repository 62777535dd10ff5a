import {
  decodeRaydiumAmmV4Pool,
  type RaydiumAmmV4Pool,
  type RaydiumAmmV4Swap,
  swapRaydiumAmmV4,
} from '@swapyard/lib/pools/solana/raydium-amm-v4.ts'
import type { LabSwap } from './lab-swap.ts'
import { replayPools } from './replay-pools.ts'

type Case = Readonly<{
  n: number
  kind: 'baseIn' | 'baseOut'
  direction: 'coinToPc' | 'pcToCoin'
  amountIn?: string
  minimumAmountOut?: string
  amountOut?: string
  maxAmountIn?: string
  unixTimestamp: string
  traderHas?: string
}>
type Pool = Readonly<{
  ammData: string
  coinVaultBalance: string
  pcVaultBalance: string
  cases: readonly Case[]
}>

/** Replays a file of Raydium AMM v4 swaps. Reads the pools and the inputs of the cases only. */
export function replayRaydiumAmmV4(content: unknown): LabSwap[] {
  return replayAmmV4Pools(content).map(({ swap }) => swap)
}

export const replayAmmV4Pools = (content: unknown) =>
  replayPools(content, { form, rows: 'cases', readPool, readSwap, apply: swapRaydiumAmmV4 })

const form = {
  pool: ['ammData', 'coinVaultBalance', 'pcVaultBalance'],
  row: [...['kind', 'direction', ['amountIn', 'amountOut'], ['minimumAmountOut', 'maxAmountIn']], 'unixTimestamp'],
}

function readPool(row: Pool): RaydiumAmmV4Pool {
  const vaults = [BigInt(row.coinVaultBalance), BigInt(row.pcVaultBalance)] as const
  return decodeRaydiumAmmV4Pool(Buffer.from(row.ammData, 'base64'), vaults)
}

function readSwap(swap: Case): RaydiumAmmV4Swap {
  const isExactInput = swap.kind === 'baseIn'
  return {
    isExactInput,
    inputIndex: swap.direction === 'coinToPc' ? 0 : 1,
    amount: BigInt((isExactInput ? swap.amountIn : swap.amountOut) ?? ''),
    limit: BigInt((isExactInput ? swap.minimumAmountOut : swap.maxAmountIn) ?? ''),
    unixTime: BigInt(swap.unixTimestamp),
    balance: swap.traderHas === undefined ? null : BigInt(swap.traderHas),
  }
}
