import { describe, expect } from 'vitest'
import { readPublicVectors } from '../../../../test/support/vectors.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { type Case, compareAll, noIdentity } from './vectors.ts'

const ONE = 10n ** 18n

type Recording = Readonly<{
  source: string
  swaps?: readonly { swapKind: number; amountRaw: string; tokenIn: string; tokenOut: string; outputRaw: string }[]
  pool: {
    poolType: string
    tokens: readonly string[]
    scalingFactors: readonly string[]
    tokenRates: readonly string[]
    balancesLiveScaled18: readonly string[]
    weights: readonly string[]
    swapFee: string
    aggregateSwapFee: string
    amp: string
    hook?: unknown
  }
}>

type Liquidity = Readonly<{
  kind: string
  id: string
  address: string
  fee: string
  version?: string
  amplificationParameter?: string
  tokens: Readonly<Record<string, { balance: string; scalingFactor?: string; weight?: string }>>
}>
type Solution = Readonly<{
  source: string
  liquidity: readonly Liquidity[]
  interactions: readonly {
    id: string
    inputToken: string
    outputToken: string
    inputAmount: string
    outputAmount: string
  }[]
}>

describe('Balancer V3, recorded from the chain by balancer-maths', () => {
  const all = readPublicVectors<readonly Recording[]>('balancer_v3_maths.json')
  // The 17 files contain pool kinds that we do not support, and a stable pool with a hook that sets its fee.
  const supported =
    all?.filter(({ pool }) => ['WEIGHTED', 'STABLE'].includes(pool.poolType) && pool.hook === undefined) ?? null
  compareAll('weighted and stable, exact input', supported?.flatMap(casesOfRecording) ?? null, 3)
})

describe('Uniswap V2 and Balancer V2, from test cases of the CoW solvers', () => {
  const all = readPublicVectors<readonly Solution[]>('cow_baseline_cases.json')
  compareAll('every interaction', all?.flatMap(casesOfSolution) ?? null, 19)
})

function casesOfRecording({ source, swaps = [], pool }: Recording): Case[] {
  const state = poolOfRecording(pool)
  return swaps
    .filter(({ swapKind }) => swapKind === 0)
    .map(({ tokenIn, tokenOut, amountRaw, outputRaw }) => ({
      name: source,
      pool: state,
      tokenIn,
      tokenOut,
      amountIn: BigInt(amountRaw),
      amountOut: BigInt(outputRaw),
    }))
}

function poolOfRecording(pool: Recording['pool']): Pool {
  const scales = pool.tokens.map((_, index) => ({
    factor: BigInt(pool.scalingFactors[index] ?? 1),
    rate: BigInt(pool.tokenRates[index] ?? ONE),
  }))
  // The file has scaled balances, as the pool's maths uses them. The vault stores the raw balances.
  const balances = pool.balancesLiveScaled18.map((live, index) => {
    const unit = (scales[index]?.factor ?? 1n) * (scales[index]?.rate ?? ONE)
    const raw = (BigInt(live) * ONE + unit - 1n) / unit
    expect((raw * unit) / ONE).toBe(BigInt(live))
    return raw
  })
  const common = {
    ...noIdentity,
    tokens: pool.tokens.map((token) => token.toLowerCase()),
    vault: 'v3' as const,
    balances,
    scales,
    swapFee: BigInt(pool.swapFee),
    aggregateFee: BigInt(pool.aggregateSwapFee),
  }
  if (pool.poolType === 'STABLE') return { ...common, kind: 'balancer-stable', rounding: 'v3', amp: BigInt(pool.amp) }
  return { ...common, kind: 'balancer-weighted', weights: pool.weights.map(BigInt), shortcuts: true }
}

function casesOfSolution({ source, liquidity, interactions }: Solution): Case[] {
  return interactions.map(({ id, inputToken, outputToken, inputAmount, outputAmount }) => {
    const holds = (pool: Liquidity) => {
      const addresses = Object.keys(pool.tokens).map((token) => token.toLowerCase())
      return (
        pool.id === id && addresses.includes(inputToken.toLowerCase()) && addresses.includes(outputToken.toLowerCase())
      )
    }
    const match = liquidity.find(holds)
    if (match === undefined) throw new Error(`no pool for ${source}`)
    return {
      name: source,
      pool: poolOfSolution(match),
      tokenIn: inputToken,
      tokenOut: outputToken,
      amountIn: BigInt(inputAmount),
      amountOut: BigInt(outputAmount),
    }
  })
}

function poolOfSolution({ kind, address, fee, version, amplificationParameter, tokens }: Liquidity): Pool {
  // A composable pool lists its own pool token, which we do not trade.
  const entries = Object.entries(tokens).filter(([token]) => kind !== 'stable' || token !== address)
  const common = {
    ...noIdentity,
    tokens: entries.map(([token]) => token.toLowerCase()),
    balances: entries.map(([, { balance }]) => BigInt(balance)),
  }
  const [reserve0 = 0n, reserve1 = 0n] = common.balances
  if (kind === 'constantProduct')
    return {
      ...common,
      kind: 'uniswap-v2',
      reserves: [reserve0, reserve1],
      feePpm: Number(parseUnits18(fee) / 10n ** 12n),
    }
  const vaultFields = {
    vault: 'v2' as const,
    scales: entries.map(([, { scalingFactor = '1' }]) => ({ factor: BigInt(scalingFactor), rate: ONE })),
    swapFee: parseUnits18(fee),
    aggregateFee: 0n,
  }
  if (kind === 'stable') {
    const amp = parseUnits18(amplificationParameter ?? '0') / 10n ** 15n
    return { ...common, ...vaultFields, kind: 'balancer-stable', rounding: 'down', amp }
  }
  const weights = entries.map(([, { weight = '0' }]) => parseUnits18(weight))
  return { ...common, ...vaultFields, kind: 'balancer-weighted', weights, shortcuts: version === 'v3Plus' }
}

/** Parses a decimal to a fixed-point number with 18 decimals. */
function parseUnits18(decimal: string): bigint {
  const [state = '0', fraction = ''] = decimal.split('.')
  return BigInt(state + fraction.padEnd(18, '0'))
}
