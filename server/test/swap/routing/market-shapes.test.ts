import { describe, expect, test } from 'vitest'
import { readOwnVectors } from '../../../../test/support/vectors.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { SWAPS_MAX } from '../../../src/swap/routing/search.ts'

/* Markets of other shapes than connector tokens with others around them. The bounds were computed without our router. */

type Market = Readonly<{
  shape: string
  tokens: number
  pools: readonly Readonly<{ token0: number; token1: number; reserve0: string; reserve1: string; feePpm: number }>[]
  tokenIn: number
  tokenOut: number
  amountIn: string
  upperBound: string
}>

const { cases } = readOwnVectors<{ cases: readonly Market[] }>('routing_shapes.json')
const shapes = [...new Set(cases.map(({ shape }) => shape))]

/** Output as a share of the bound, with free gas. */
function shareOfBound(
  { pools, tokens, tokenIn, tokenOut, amountIn, upperBound }: Market,
  hopsMax = tokens,
  swapsMax = Number.POSITIVE_INFINITY,
): number {
  const states = pools.map(
    ({ token0, token1, reserve0, reserve1, feePpm }, id): Pool => ({
      ...{ kind: 'uniswap-v2', id: String(id), address: String(id), dex: 'test', feePpm },
      tokens: [String(token0), String(token1)],
      reserves: [BigInt(reserve0), BigInt(reserve1)],
    }),
  )
  const request = { source: String(tokenIn), target: String(tokenOut), amountIn: BigInt(amountIn) }
  const options = { hopsMax, swapsMax, gasPrice: 0, isOver: () => false }
  return Number(bestRoute(createPoolMarket(states), request, options)?.amountOut ?? 0n) / Number(upperBound)
}

const sharesOf = (shape: string, hopsMax?: number) =>
  cases.filter((one) => one.shape === shape).map((one) => shareOfBound(one, hopsMax))

test('the file has eight markets of each of six shapes', () => {
  expect(shapes).toEqual(['chains', 'ring', 'star', 'deep-chains', 'grid-3', 'islands'])
  for (const shape of shapes) expect(cases.filter((one) => one.shape === shape)).toHaveLength(8)
})

const GOAL = 0.9999
const E18 = 10n ** 18n

/** Four hops cannot use the detours of a grid, which the bound counts. */
describe.each(shapes)('routes in markets shaped as %s', (shape) => {
  const modes = [['any number of hops', undefined] as const, ['four hops', 4] as const]
  for (const [mode, hopsMax] of shape === 'grid-3' ? modes.slice(0, 1) : modes)
    test(`pay at least ${GOAL} of the bound with ${mode}`, () => {
      const shares = sharesOf(shape, hopsMax).sort((one, other) => one - other)
      expect(shares).toHaveLength(8)
      expect(shares[0]).toBeGreaterThanOrEqual(GOAL)
      expect(shares.at(-1)).toBeLessThanOrEqual(1 + 1e-12)
    })
})

// Three tokens of the second chain were off the tokens of the first, so neither route nor bound saw it.
test('H1: a route uses both of two chains of four pools', () => {
  const pool = (token0: number, token1: number, units0: bigint, units1 = units0) => ({
    ...{ token0, token1, feePpm: 500, reserve0: String(units0 * E18), reserve1: String(units1 * E18) },
  })
  const chain = (tokens: readonly [number, number, number], last: bigint) => [
    ...[pool(0, tokens[0], 2_000n), pool(tokens[0], tokens[1], 2_000n), pool(tokens[1], tokens[2], 2_000n)],
    pool(tokens[2], 1, 2_000n, last),
  ]
  const pools = [pool(0, 1, 1_000n), ...chain([2, 3, 4], 2_020n), ...chain([5, 6, 7], 2_016n)]
  // The dual over paths of four hops, computed without our router. Over the first chain alone a route pays 250.6185.
  const upperBound = '261751762687820000000'
  const market = { shape: 'two chains', tokens: 8, pools, tokenIn: 0, tokenOut: 1 }
  const share = shareOfBound({ ...market, amountIn: String(300n * E18), upperBound }, 4)
  expect(share).toBeGreaterThanOrEqual(GOAL)
  expect(share).toBeLessThanOrEqual(1 + 1e-12)
})

/** Disjoint equal chains of four pools from token 0 to token 1. */
function equalChains(count: number) {
  const pool = (token0: number, token1: number) => ({
    ...{ token0, token1, feePpm: 3_000, reserve0: String(1000n * E18), reserve1: String(1000n * E18) },
  })
  const pools = Array.from({ length: count }, (_, chain) => {
    const [a, b, c] = [2, 3, 4].map((token) => token + 3 * chain) as [number, number, number]
    return [pool(0, a), pool(a, b), pool(b, c), pool(c, 1)]
  }).flat()
  return { shape: 'equal chains', tokens: 2 + 3 * count, pools, tokenIn: 0, tokenOut: 1 }
}

/** What one of them pays for an input in whole tokens, by the formula of a constant product. */
const outputOfChain = (input: number): number => {
  const outputOf = (units: number) => (units * 0.997 * 1000) / (1000 + units * 0.997)
  return outputOf(outputOf(outputOf(outputOf(input))))
}

test('a route uses all of twenty chains of four pools', () => {
  // Each takes a twentieth.
  const upperBound = String(20 * outputOfChain(50) * 1e18)
  const share = shareOfBound({ ...equalChains(20), amountIn: String(20n * 50n * E18), upperBound }, 4)
  expect(share).toBeGreaterThanOrEqual(GOAL)
  expect(share).toBeLessThanOrEqual(1 + 1e-9)
})

// More chains than the limit of swaps allows paid less than fewer chains.
test.each([6, 7, 8, 12, 20])('with %i chains of four pools, a route of 24 swaps uses six', (count) => {
  const input = 50 * count
  const upperBound = String(6 * outputOfChain(input / 6) * 1e18)
  const share = shareOfBound({ ...equalChains(count), amountIn: String(BigInt(input) * E18), upperBound }, 4, SWAPS_MAX)
  expect(SWAPS_MAX).toBe(24)
  expect(share).toBeGreaterThanOrEqual(GOAL)
  expect(share).toBeLessThanOrEqual(1 + 1e-9)
})
