import { describe, expect } from 'vitest'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { anywhere, type Case, comparesAll, readVectors } from './vectors.ts'

const ONE = 10n ** 18n

type Recorded = Readonly<{
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
type Solved = Readonly<{
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

describe('balancer v3, recorded from the chain by balancer-maths', () => {
  const all = readVectors<readonly Recorded[]>('balancer_v3_maths')
  // Of 17 files the other kinds are not offered; one stable pool has a hook that sets its fee.
  const ours =
    all?.filter(({ pool }) => ['WEIGHTED', 'STABLE'].includes(pool.poolType) && pool.hook === undefined) ?? null
  comparesAll('weighted and stable, exact input', ours?.flatMap(recordedCases) ?? null, 3)
})

describe('uniswap v2 and balancer v2, from the cases of the CoW solvers', () => {
  const all = readVectors<readonly Solved[]>('cow_baseline_cases')
  comparesAll('every interaction', all?.flatMap(solvedCases) ?? null, 19)
})

function recordedCases({ source, swaps = [], pool }: Recorded): Case[] {
  const whole = recordedPool(pool)
  return swaps
    .filter(({ swapKind }) => swapKind === 0)
    .map(({ tokenIn, tokenOut, amountRaw, outputRaw }) => ({
      name: source,
      pool: whole,
      tokenIn,
      tokenOut,
      amountIn: BigInt(amountRaw),
      amountOut: BigInt(outputRaw),
    }))
}

function recordedPool(pool: Recorded['pool']): Pool {
  const scales = pool.tokens.map((_, index) => ({
    factor: BigInt(pool.scalingFactors[index] ?? 1),
    rate: BigInt(pool.tokenRates[index] ?? ONE),
  }))
  // The file has the balances as the pool sees them; the vault keeps what they come from.
  const balances = pool.balancesLiveScaled18.map((live, index) => {
    const unit = (scales[index]?.factor ?? 1n) * (scales[index]?.rate ?? ONE)
    const raw = (BigInt(live) * ONE + unit - 1n) / unit
    expect((raw * unit) / ONE).toBe(BigInt(live))
    return raw
  })
  const base = {
    ...anywhere,
    tokens: pool.tokens.map((token) => token.toLowerCase()),
    vault: 'v3' as const,
    balances,
    scales,
    swapFee: BigInt(pool.swapFee),
    aggregateFee: BigInt(pool.aggregateSwapFee),
  }
  if (pool.poolType === 'STABLE') return { ...base, kind: 'balancer-stable', rounding: 'v3', amp: BigInt(pool.amp) }
  return { ...base, kind: 'balancer-weighted', weights: pool.weights.map(BigInt), shortcuts: true }
}

function solvedCases({ source, liquidity, interactions }: Solved): Case[] {
  return interactions.map(({ id, inputToken, outputToken, inputAmount, outputAmount }) => {
    const holds = (pool: Liquidity) => {
      const held = Object.keys(pool.tokens).map((token) => token.toLowerCase())
      return pool.id === id && held.includes(inputToken.toLowerCase()) && held.includes(outputToken.toLowerCase())
    }
    const found = liquidity.find(holds)
    if (found === undefined) throw new Error(`no pool for ${source}`)
    return {
      name: source,
      pool: solvedPool(found),
      tokenIn: inputToken,
      tokenOut: outputToken,
      amountIn: BigInt(inputAmount),
      amountOut: BigInt(outputAmount),
    }
  })
}

function solvedPool({ kind, address, fee, version, amplificationParameter, tokens }: Liquidity): Pool {
  // A composable pool lists its own share token, which is not traded.
  const held = Object.entries(tokens).filter(([token]) => kind !== 'stable' || token !== address)
  const base = {
    ...anywhere,
    tokens: held.map(([token]) => token.toLowerCase()),
    balances: held.map(([, { balance }]) => BigInt(balance)),
  }
  const [reserve0 = 0n, reserve1 = 0n] = base.balances
  if (kind === 'constantProduct')
    return { ...base, kind: 'uniswap-v2', reserves: [reserve0, reserve1], feePpm: Number(units(fee) / 10n ** 12n) }
  const shared = {
    vault: 'v2' as const,
    scales: held.map(([, { scalingFactor = '1' }]) => ({ factor: BigInt(scalingFactor), rate: ONE })),
    swapFee: units(fee),
    aggregateFee: 0n,
  }
  if (kind === 'stable') {
    const amp = units(amplificationParameter ?? '0') / 10n ** 15n
    return { ...base, ...shared, kind: 'balancer-stable', rounding: 'down', amp }
  }
  const weights = held.map(([, { weight = '0' }]) => units(weight))
  return { ...base, ...shared, kind: 'balancer-weighted', weights, shortcuts: version === 'v3Plus' }
}

/** A decimal with 18 places. */
function units(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(18, '0'))
}
