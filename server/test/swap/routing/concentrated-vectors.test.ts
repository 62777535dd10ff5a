import { describe, expect, test } from 'vitest'
import { readOwnVectors, readPublicVectors } from '../../../../test/support/vectors.ts'
import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { type Concentrated, swapThroughTicks } from '../../../src/swap/routing/pools/concentrated.ts'
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE, tickAtSqrtPrice } from '../../../src/swap/routing/pools/tick-math.ts'
import { type Case, compareAll, noIdentity } from './vectors.ts'

type Position = Readonly<{ tickLower: number; tickUpper: number; liquidity: string }>
type Expected = Readonly<{ revert?: unknown; error?: unknown; swapError?: unknown } & Record<string, string | number>>
type VectorSwap = Readonly<{
  exactOut?: boolean | null
  amount?: string
  amountSpecified?: string
  zeroForOne: boolean
  sqrtPriceLimitX96?: string
  expect: Expected
}>
type VectorFile = Readonly<{
  pools: readonly {
    fee: number
    tickSpacing: number
    sqrtPriceX96: string
    tick?: number
    positions: readonly Position[]
    swaps: readonly VectorSwap[]
  }[]
}>

type Ticks = readonly { index?: number; Index?: number; liquidityNet?: string; LiquidityNet?: string }[]
type Group = Readonly<{
  source: string
  kind: string
  pool: {
    swapFee?: number
    tokens: readonly (string | { address: string })[]
    extra: {
      liquidity: string
      tickSpacing: number
      tick?: number
      sqrtPriceX96?: string
      globalState?: { price: string; tick: number; feeZto: number; feeOtz: number }
      ticks: Ticks
    }
  }
  cases: readonly { tokenIn: string; tokenOut: string; amountIn: string; amountOut: string; suspect?: string }[]
}>

describe('Uniswap V3', () => {
  test('its bytecode with random pools: 840 swaps', () => {
    compareWalks(readOwnVectors<VectorFile>('univ3_bytecode_fuzz.json'), 840, 0)
  })

  // The snapshots of v3-core include 50 swaps that must fail because their price limit is on the wrong side. We never set a limit.
  const snapshots = readPublicVectors<VectorFile>('univ3_core_swaps.json')
  test.skipIf(snapshots === null)('snapshots of v3-core: 190 swaps', () => {
    compareWalks(snapshots as VectorFile, 240, 50)
  })
})

function compareWalks({ pools }: VectorFile, count: number, failing: number): void {
  const all = pools.flatMap((pool) => pool.swaps.map((swap) => ({ pool, swap })))
  expect(all).toHaveLength(count)
  const valid = all.filter(({ swap }) => !mustFail(swap))
  expect(valid).toHaveLength(count - failing)
  for (const { pool, swap } of valid) compareWalk(pool, swap)
}

describe('concentrated liquidity, recorded by KyberSwap', () => {
  const groups = readPublicVectors<readonly Group[]>('kyber_univ3_algebra_lb.json')
  const groupsOf = (kind: string) => groups?.filter((group) => group.kind === kind) ?? null
  // Another case is marked suspect, because KyberSwap's simulator skips the ends of empty bitmap words.
  compareAll('Uniswap V3', groupsOf('univ3')?.flatMap(casesOf) ?? null, 7)
  const algebra = groupsOf('algebra-v1')
  compareAll('Algebra V1', algebra?.slice(0, 1).flatMap(casesOf) ?? null, 2)

  test.skipIf(algebra === null)('Algebra V1, 8 consecutive swaps', () => {
    const swaps = (algebra ?? []).slice(1).flatMap(casesOf)
    expect(swaps).toHaveLength(8)
    let pool = swaps[0]?.pool
    for (const { tokenIn, amountIn, amountOut } of swaps) {
      const place = pool?.tokens.indexOf(tokenIn) ?? -1
      const swapped = pool ? swapExact(pool, place, 1 - place, amountIn) : null
      expect(swapped?.amountOut).toBe(amountOut)
      pool = swapped?.next
    }
  })
})

function casesOf({ source, kind, pool, cases }: Group): Case[] {
  const state = poolOf(kind, pool)
  return cases
    .filter(({ suspect }) => suspect === undefined)
    .map(({ tokenIn, tokenOut, amountIn, amountOut }) => ({
      name: `${source} ${amountIn} of ${tokenIn}`,
      pool: state,
      tokenIn: tokenIn.toLowerCase(),
      tokenOut: tokenOut.toLowerCase(),
      amountIn: BigInt(amountIn),
      amountOut: BigInt(amountOut),
    }))
}

function poolOf(kind: string, { tokens, swapFee = 0, extra }: Group['pool']): Pool {
  const { globalState } = extra
  const common = {
    ...noIdentity,
    tokens: tokens.map((token) => (typeof token === 'string' ? token : token.address).toLowerCase()),
    sqrtPrice: BigInt(globalState?.price ?? extra.sqrtPriceX96 ?? 0),
    tick: globalState?.tick ?? extra.tick ?? 0,
    liquidity: BigInt(extra.liquidity),
    tickSpacing: extra.tickSpacing,
    ticks: extra.ticks.map((tick) => ({
      index: tick.index ?? tick.Index ?? 0,
      net: BigInt(tick.liquidityNet ?? tick.LiquidityNet ?? 0),
    })),
  }
  if (kind === 'univ3') return { ...common, kind: 'uniswap-v3', feePpm: swapFee }
  return { ...common, kind: 'algebra', ticksBy: 'words', feePpm: [globalState?.feeZto ?? 0, globalState?.feeOtz ?? 0] }
}

const mustFail = ({ expect: { revert, error, swapError } }: VectorSwap) => Boolean(revert || error || swapError)

function compareWalk(pool: VectorFile['pools'][number], swap: VectorSwap): void {
  const { expect: expected, zeroForOne } = swap
  const limit = BigInt(swap.sqrtPriceLimitX96 ?? (zeroForOne ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n))
  const result = swapThroughTicks(stateOf(pool), zeroForOne, amountOf(swap), limit, BigInt(pool.fee))
  const name = JSON.stringify(swap)
  expect(result.amount0, name).toBe(BigInt(expected['amount0'] ?? expected['amount0Delta'] ?? 0))
  expect(result.amount1, name).toBe(BigInt(expected['amount1'] ?? expected['amount1Delta'] ?? 0))
  if (expected['sqrtPriceX96After'] !== undefined)
    expect(result.sqrtPrice, name).toBe(BigInt(expected['sqrtPriceX96After']))
  if (expected['tickAfter'] !== undefined) expect(result.tick, name).toBe(Number(expected['tickAfter']))
  if (expected['liquidityAfter'] !== undefined) expect(result.liquidity, name).toBe(BigInt(expected['liquidityAfter']))
}

/** Positive = exact input, negative = exact output. Without an amount: enough input to reach the limit. */
function amountOf({ amountSpecified, amount, exactOut }: VectorSwap): bigint {
  if (amountSpecified !== undefined) return BigInt(amountSpecified)
  if (exactOut === null || exactOut === undefined) return (1n << 255n) - 1n
  return exactOut ? -BigInt(amount ?? 0) : BigInt(amount ?? 0)
}

function stateOf({
  sqrtPriceX96,
  tick: recordedTick,
  tickSpacing,
  positions,
}: VectorFile['pools'][number]): Concentrated {
  const sqrtPrice = BigInt(sqrtPriceX96)
  const tick = recordedTick ?? tickAtSqrtPrice(sqrtPrice)
  const nets = new Map<number, bigint>()
  let active = 0n
  for (const { tickLower, tickUpper, liquidity } of positions) {
    nets.set(tickLower, (nets.get(tickLower) ?? 0n) + BigInt(liquidity))
    nets.set(tickUpper, (nets.get(tickUpper) ?? 0n) - BigInt(liquidity))
    if (tickLower <= tick && tick < tickUpper) active += BigInt(liquidity)
  }
  const ticks = [...nets].map(([index, net]) => ({ index, net })).sort((a, b) => a.index - b.index)
  return { sqrtPrice, tick, liquidity: active, tickSpacing, ticks }
}
