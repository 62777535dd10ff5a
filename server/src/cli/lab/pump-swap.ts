import {
  decodePumpSwapPool,
  type PumpSwapConfig,
  type PumpSwapFees,
  type PumpSwapTrade,
  tradePumpSwap,
} from '@swapyard/lib/pools/solana/pump-swap.ts'
import { readPart, requireMembers } from './file-form.ts'
import type { LabSwap } from './lab-swap.ts'
import { replayPools } from './replay-pools.ts'

/** Members of a recorded file that the replay reads: the pools' accounts, both configs and the inputs of the cases. */
type Fees = Readonly<{ lpFeeBps: number; protocolFeeBps: number; creatorFeeBps: number }>
type Case = Readonly<{ n: number }> &
  (
    | Readonly<{ instruction: 'buy'; baseAmountOut: string; maxQuoteAmountIn: string }>
    | Readonly<{ instruction: 'sell'; baseAmountIn: string; minQuoteAmountOut: string }>
    | Readonly<{ instruction: 'buy_exact_quote_in'; spendableQuoteIn: string; minBaseAmountOut: string }>
  )
type Pool = Readonly<{
  poolData: string
  baseReserve: string
  quoteReserve: string
  baseSupply: string
  cases: readonly Case[]
}>
type File = Readonly<{
  globalConfig: Readonly<{ disableFlags: number; buybackBasisPoints: string }>
  feeConfig: Readonly<{ flatFees: Fees; tiers: readonly (Fees & Readonly<{ threshold: string }>)[] }>
}>

/** Replays a file of PumpSwap trades. */
export function replayPumpSwap(content: unknown): LabSwap[] {
  return replayPumpSwapPools(content).map(({ swap }) => swap)
}

export function replayPumpSwapPools(content: unknown) {
  requireMembers(content, 'the file', ['globalConfig', 'feeConfig'])
  const { globalConfig, feeConfig } = content as File
  const config = readPart(
    'globalConfig or feeConfig',
    (): PumpSwapConfig => ({
      disableFlags: globalConfig.disableFlags,
      buybackBps: BigInt(globalConfig.buybackBasisPoints),
      flatFees: readFees(feeConfig.flatFees),
      tiers: feeConfig.tiers.map((tier) => ({ threshold: BigInt(tier.threshold), fees: readFees(tier) })),
    }),
  )
  return replayPools(content, {
    ...{ form, rows: 'cases', readSwap: readTrade, apply: tradePumpSwap },
    readPool: (row: Pool) =>
      decodePumpSwapPool(Buffer.from(row.poolData, 'base64'), config, {
        baseReserve: BigInt(row.baseReserve),
        quoteReserve: BigInt(row.quoteReserve),
        baseSupply: BigInt(row.baseSupply),
      }),
  })
}

const form = {
  pool: ['poolData', 'baseReserve', 'quoteReserve', 'baseSupply'],
  row: [
    ...['instruction', ['baseAmountOut', 'baseAmountIn', 'spendableQuoteIn']],
    ['maxQuoteAmountIn', 'minQuoteAmountOut', 'minBaseAmountOut'],
  ],
}

function readFees({ lpFeeBps, protocolFeeBps, creatorFeeBps }: Fees): PumpSwapFees {
  return { lp: BigInt(lpFeeBps), protocol: BigInt(protocolFeeBps), coinCreator: BigInt(creatorFeeBps) }
}

function readTrade(input: Case): PumpSwapTrade {
  switch (input.instruction) {
    case 'buy':
      return { kind: 'buy', baseOut: BigInt(input.baseAmountOut), quoteInMax: BigInt(input.maxQuoteAmountIn) }
    case 'sell':
      return { kind: 'sell', baseIn: BigInt(input.baseAmountIn), quoteOutMin: BigInt(input.minQuoteAmountOut) }
    default: {
      const [quoteIn, baseOutMin] = [BigInt(input.spendableQuoteIn), BigInt(input.minBaseAmountOut)]
      return { kind: 'buyExactQuoteIn', quoteIn, baseOutMin }
    }
  }
}
