import { expect, test } from 'vitest'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import type { UniswapV2Pool } from '../../../src/swap/routing/pools/uniswap-v2.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { HOPS_MAX, SWAPS_MAX } from '../../../src/swap/routing/search.ts'
import { solveLayered } from '../../../src/swap/routing/shift-layers.ts'
import { activeSwaps, createSubproblem } from '../../../src/swap/routing/subproblem.ts'
import { isWorseWithoutGas } from '../../../src/swap/routing/worse-without-gas.ts'
import { drawConnectedMarket, drawShapedMarket, kindsOf, type TradeSizes } from './random-markets.ts'

/* The route without gas is among the candidates, unless by the dual it nets less (`four-hops.test.ts` has the markets of the benchmark). */
const MARKETS = 20
const sizes: TradeSizes = { least: 1_000, most: 2e5 }
/** Cost of 100,000 gas, as a share of what the best route pays without gas. */
const GAS_SHARES = [1e-7, 1e-5, 1e-4, 1e-3, 1e-2]

test.each(
  ['connected', 'islands'].flatMap((shape) =>
    ['concentrated', 'three kinds', 'every kind'].map((name) => [shape, name] as const),
  ),
)('the route without gas nets no more: %s, %s', (shape, name) => {
  const kinds = kindsOf[name]
  if (kinds === undefined) throw new Error(`no pools of ${name}`)
  let count = 0
  for (let seed = 0; seed < MARKETS; seed++) {
    const { pools, request } =
      shape === 'connected' ? drawConnectedMarket(seed, kinds, sizes) : drawShapedMarket(shape, seed, kinds, sizes)
    const market = createPoolMarket(pools)
    const options = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, isOver: () => false }
    const free = bestRoute(market, request, { ...options, gasPrice: 0 })
    if (free === null) continue
    for (const gasShare of GAS_SHARES) {
      const gasPrice = (gasShare * Number(free.amountOut)) / 1e5
      const route = bestRoute(market, request, { ...options, gasPrice })
      if (route === null) throw new Error(`market ${seed}: no route`)
      const [net, netFree] = [route, free].map(({ amountOut, gas }) => Number(amountOut) - gas * gasPrice) as [
        number,
        number,
      ]
      expect((netFree - net) / Number(free.amountOut), `market ${seed}, gas ${gasShare}`).toBeLessThan(1e-12)
      count++
    }
  }
  expect(count).toBeGreaterThan(MARKETS * GAS_SHARES.length * 0.8)
})

test('swaps that earn no more than a column that gas left out do not count as part of the route without gas', () => {
  const SMALL = 8
  const pool = (id: string, units: bigint): UniswapV2Pool => ({
    ...{ kind: 'uniswap-v2', id, address: id, dex: 'test', tokens: ['0', '1'], feePpm: 3_000 },
    reserves: [units, units],
  })
  const small = Array.from({ length: SMALL }, (_, index) => pool(`small ${index}`, 10n ** 17n))
  const { market } = createPoolMarket([pool('deep', 10n ** 21n), ...small])
  const subproblem = createSubproblem(market, [0, 1], [1, 1], new Int32Array(market.tokenCount))
  const layered = solveLayered(subproblem, Uint8Array.from([0, 1]), 1e19, subproblem.value)
  const { bound } = layered
  const earnings = activeSwaps(layered.subproblem, bound).map(({ earning }) => earning)
  expect(earnings).toHaveLength(SMALL + 1)
  // A column of 1,000 gas gains as much as ten of the small pools earn.
  const gasPrice = Math.min(...earnings) / 100
  const isWorseThan = (swaps: number) => {
    const net = bound - swaps * 62_000 * gasPrice
    return isWorseWithoutGas(layered.subproblem, bound, { layered, net }, { swapsMax: SWAPS_MAX, gasPrice })
  }
  // The deep pool and a column of two swaps.
  expect(isWorseThan(2.9)).toBe(true)
  expect(isWorseThan(3)).toBe(false)
})
