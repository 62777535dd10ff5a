import { describe, expect, test } from 'vitest'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import type { UniswapV2Pool } from '../../../src/swap/routing/pools/uniswap-v2.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { HOPS_MAX, SWAPS_MAX } from '../../../src/swap/routing/search.ts'
import { fourHopBound } from './hop-bound.ts'

/*
 * Pools that are too small to earn anything must not hide deep paths. Two chains of four pools beside a direct pool: 0-2-3-4-1 and
 * 0-5-6-7-1. The search begins with one path of each length, so it has to find the second chain. A small pool offers one of its tokens for
 * one fee instead of three.
 */
const E18 = 10n ** 18n
const pool = (from: number, to: number, reserveIn: bigint, reserveOut = reserveIn): UniswapV2Pool => {
  const id = `${from}-${to} ${reserveIn}`
  const tokens = [String(from), String(to)]
  return { kind: 'uniswap-v2', id, address: id, dex: 'test', tokens, reserves: [reserveIn, reserveOut], feePpm: 500 }
}
const deep = 2_000n * E18
const chain = ([a, b, c]: readonly [number, number, number], last: bigint) => [
  ...[pool(0, a, deep), pool(a, b, deep), pool(b, c, deep)],
  pool(c, 1, deep, last * E18),
]
const chains = [pool(0, 1, 1_000n * E18), ...chain([2, 3, 4], 2_020n), ...chain([5, 6, 7], 2_016n)]
/** A third path, so that the search does not begin with a path of two pools that is a small one. */
const pools = [...chains, pool(0, 8, deep), pool(8, 1, deep)]
const TOKENS = 9
const amountIn = 300n * E18

function netOf(all: readonly UniswapV2Pool[], gasPrice: number): number {
  const options = { hopsMax: HOPS_MAX, swapsMax: SWAPS_MAX, gasPrice, isOver: () => false }
  const route = bestRoute(createPoolMarket(all), { source: '0', target: '1', amountIn }, options)
  return Number(route?.amountOut) - (route?.gas ?? 0) * gasPrice
}

const boundOf = (all: readonly UniswapV2Pool[]): number => {
  const tokens = Array.from({ length: TOKENS }, (_, token) => String(token))
  const trade = { source: 0, target: 1, amountIn }
  return fourHopBound({ tokens, pools: all, usd: tokens.map(() => 1), draw: () => trade }, trade)
}

/** Base units on each side, at the right price. */
const DUST = 10n ** 12n

describe('a route uses a chain of deep pools', () => {
  test.each<readonly [string, readonly UniswapV2Pool[]]>([
    ['its first token', [pool(0, 5, DUST)]],
    ['its second token', [pool(0, 6, DUST)]],
    ['its third token', [pool(0, 7, DUST)]],
    ['its last two tokens', [pool(0, 6, DUST), pool(0, 7, DUST)]],
    ['its third token at half its price', [pool(0, 7, DUST, 2n * DUST)]],
    ['the target for its tokens', [pool(5, 1, DUST), pool(6, 1, DUST)]],
    ['the target for one of its tokens at half its price', [pool(6, 1, DUST, 2n * DUST)]],
    [
      'its tokens at half their prices',
      [pool(0, 5, DUST, 2n * DUST), pool(5, 6, DUST, 2n * DUST), pool(7, 1, DUST, 2n * DUST)],
    ],
  ])('although a pool of 10^12 base units sells %s', (_tokens, small) => {
    const share = netOf([...pools, ...small], 0) / boundOf([...pools, ...small])
    expect(share).toBeGreaterThanOrEqual(0.9999)
    expect(share).toBeLessThanOrEqual(1 + 1e-9)
  })
})

/** One Uniswap V2 swap. */
const SWAP_GAS = 62_000

// With gas, a detour has to gain a sixtieth of a swap.
test.each([12, 14, 16, 17])('with gas, a small pool takes nothing of what a route nets: 10^%i base units', (digits) => {
  const small = pool(0, 7, 10n ** BigInt(digits))
  for (const swapCost of [1e13, 1e15, 1e16, 1e17]) {
    const gasPrice = swapCost / SWAP_GAS
    const alone = netOf(pools, gasPrice)
    expect(netOf([...pools, small], gasPrice) / alone).toBeGreaterThanOrEqual(1 - 1e-9)
    // Both chains and both shorter paths are worth their gas.
    expect(alone + 11 * swapCost).toBeGreaterThan(0.9999 * boundOf(pools))
  }
})
