import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ExecutedSwap } from './execute.ts'
import type { Pool } from './pool-kinds.ts'
import { createPoolMarket } from './pool-market.ts'
import { bestRoute } from './route.ts'
import { breakDown, toPercent } from './route-breakdown.ts'

const pool = (
  id: string,
  tokens: readonly string[],
  reserves: readonly [bigint, bigint] = [10n ** 24n, 10n ** 24n],
): Pool => ({ kind: 'uniswap-v2', id, address: id, dex: 'test', tokens, reserves, feePpm: 3000 })
const swap = (id: string, from: string, to: string, amountIn: bigint): ExecutedSwap => ({
  pool: pool(id, [from, to]),
  tokenIn: 0,
  tokenOut: 1,
  share: 0,
  amountIn,
  amountOut: amountIn,
})

/** As a client adds the JSON numbers. */
const sumOf = (parts: readonly { share: number }[]) => parts.reduce((sum, { share }) => sum + toPercent(share), 0)

test('groups parallel pools into one hop; paths and pools each add up to exactly 100 percent', () => {
  const paths = breakDown(
    [swap('1', 'a', 'b', 300n), swap('2', 'a', 'b', 600n), swap('3', 'a', 'c', 100n), swap('4', 'c', 'b', 100n)],
    'a',
    'b',
  )
  expect(paths.map(({ share }) => toPercent(share))).toEqual([90, 10])
  expect(paths[0]?.hops.map(({ from, to, pools }) => [from, to, pools.map(({ share }) => toPercent(share))])).toEqual([
    ['a', 'b', [33.3359375, 66.6640625]],
  ])
  expect(paths[1]?.hops.map(({ from, to }) => [from, to])).toEqual([
    ['a', 'c'],
    ['c', 'b'],
  ])
})

// In hundredths of a percent, 70.07 + 10.1 + 19.83 is 99.99999999999999 as doubles.
test('the JSON numbers of three pools add up to exactly 100 percent in any order', () => {
  const [path] = breakDown(
    [swap('1', 'a', 'b', 7007n), swap('2', 'a', 'b', 1010n), swap('3', 'a', 'b', 1983n)],
    'a',
    'b',
  )
  const [a = 0, b = 0, c = 0] = path?.hops[0]?.pools.map(({ share }) => toPercent(share)) ?? []
  expect([a + b + c, a + c + b, c + b + a]).toEqual([100, 100, 100])
  for (const [part, due] of [
    [a, 70.07],
    [b, 10.1],
    [c, 19.83],
  ] as const)
    expect(Math.abs(part - due)).toBeLessThan(0.01)
})

test('separates paths that join and split', () => {
  const paths = breakDown(
    [
      swap('1', 'a', 'h', 600n),
      swap('2', 'a', 'c', 400n),
      swap('3', 'c', 'h', 400n),
      swap('4', 'h', 'b', 250n),
      swap('5', 'h', 'd', 750n),
      swap('6', 'd', 'b', 750n),
    ],
    'a',
    'b',
  )
  expect(sumOf(paths)).toBe(100)
  for (const { hops } of paths) {
    expect(hops[0]?.from).toBe('a')
    expect(hops.at(-1)?.to).toBe('b')
    for (const [index, { from }] of hops.entries()) if (index > 0) expect(from).toBe(hops[index - 1]?.to)
  }
})

test('shares of random routes add up to exactly 100 percent', () => {
  const poolFields = fc.record({
    from: fc.nat(4),
    to: fc.nat(4),
    a: fc.bigInt(10n ** 12n, 10n ** 24n),
    b: fc.bigInt(10n ** 12n, 10n ** 24n),
  })
  fc.assert(
    fc.property(
      fc.array(poolFields, { minLength: 1, maxLength: 12 }),
      fc.bigInt(10n ** 9n, 10n ** 24n),
      (pools, amountIn) => {
        const market = createPoolMarket(
          pools.flatMap(({ from, to, a, b }, id) =>
            from === to ? [] : [pool(String(id), [String(from), String(to)], [a, b])],
          ),
        )
        const route = bestRoute(
          market,
          { source: '0', target: '1', amountIn },
          { hopsMax: 4, swapsMax: 12, gasPrice: 0, isOver: () => false },
        )
        fc.pre(route !== null)
        const paths = breakDown(route.swaps, '0', '1')
        expect(sumOf(paths)).toBe(100)
        for (const hop of paths.flatMap(({ hops }) => hops))
          expect([sumOf(hop.pools), sumOf(hop.pools.toReversed())]).toEqual([100, 100])
      },
    ),
    // fast-check fails the property if more than four of five random markets have no route.
    { numRuns: 200, maxSkipsPerRun: 4 },
  )
})
