import { expect, test } from 'vitest'
import type { PoolsAt } from '../../swap/ports/pools.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { createRouteFinder } from './find-route.ts'

const ETHER = 10n ** 18n
const [WETH, USDC, EVIL, OTHER] = ['0xee', '0xdc', '0xe1', '0xe2']
const pair = (id: string, tokens: readonly [string, string], reserves: readonly [bigint, bigint]): Pool => ({
  ...{ kind: 'uniswap-v2', id, address: id, dex: 'dex', tokens, reserves, feePpm: 3_000 },
})
const market = pair('market', [WETH, USDC], [1_000n * ETHER, 2_000_000n * ETHER])
/** Both pools pay two percent more than the market. */
const bait = [
  pair('bait in', [WETH, EVIL], [500n * ETHER, 1_000_000n * ETHER]),
  pair('bait out', [EVIL, USDC], [1_000_000n * ETHER, 1_020_000n * ETHER]),
  pair('between', [EVIL, OTHER], [1_000n * ETHER, 1_000n * ETHER]),
]
const at = (pools: readonly Pool[]): PoolsAt => ({
  ...{
    block: { height: 7, hash: '0xb7' },
    readAtMs: 0,
    head: 7,
    pools,
    millionGasPrice: 0n,
    nativeDecimals: 18,
    wrapped: WETH,
  },
  ...{ refusedTokens: new Map(), listed: new Set([WETH, USDC]) },
})
const order = (tokenIn: string, tokenOut: string) => ({ network: 'eth', tokenIn, tokenOut, amountIn: 10n * ETHER })

test('D2: trades an unlisted token only as source or target', () => {
  const find = createRouteFinder({ budgetMs: 1_000 })
  const without = createRouteFinder({ budgetMs: 1_000 })(at([market]), order(WETH, USDC))
  const state = at([market, ...bait])
  expect(find(state, order(WETH, USDC))).toEqual(without)
  // From and to the unlisted token, over its own pools and the market.
  const bought = find(state, order(WETH, EVIL)).swaps.map(({ pool }) => pool.id)
  expect(bought).toContain('bait in')
  expect(find(state, order(EVIL, USDC)).swaps.map(({ pool }) => pool.id)).toContain('bait out')
  expect(find(state, order(EVIL, OTHER)).swaps.map(({ pool }) => pool.id)).toEqual(['between'])
  // Another unlisted token is no intermediate token either.
  expect(() => find(state, order(WETH, OTHER))).toThrowError(expect.objectContaining({ code: 'NO_ROUTE' }))
  expect(find(state, order(WETH, USDC))).toEqual(without)
})

test('D4: leaves out the pools that an order avoids', () => {
  const find = createRouteFinder({ budgetMs: 1_000 })
  const second = pair('second', [WETH, USDC], [500n * ETHER, 1_000_000n * ETHER])
  const state = at([market, second, ...bait])
  const idsOf = (avoid: readonly string[]) =>
    find(state, { ...order(WETH, USDC), avoid }).swaps.map(({ pool }) => pool.id)
  expect(idsOf([]).sort()).toEqual(['market', 'second'])
  expect(idsOf(['market'])).toEqual(['second'])
  // Pools that the trade could not use anyway change nothing.
  expect(idsOf(['bait in', 'unknown']).sort()).toEqual(['market', 'second'])
  expect(() => idsOf(['market', 'second'])).toThrowError(expect.objectContaining({ code: 'NO_ROUTE' }))
  const evil = { ...order(WETH, EVIL), avoid: ['bait in'] }
  expect(find(state, evil).swaps.map(({ pool }) => pool.id)).not.toContain('bait in')
  expect([find(state, evil).unlisted, find(state, order(WETH, USDC)).unlisted]).toEqual([[EVIL], []])
})

test('prices gas in the base units of a coin with any decimals', () => {
  // 1 000 coins of nine decimals against 150 000 of a token with six: a coin is worth 150.
  const pool = pair('pool', [WETH, USDC], [1_000n * 10n ** 9n, 150_000n * 10n ** 6n])
  const state = { ...at([pool]), nativeDecimals: 9, millionGasPrice: 5_000_000n }
  const { millionGasOut } = createRouteFinder({ budgetMs: 1_000 })(state, {
    ...{ network: 'sol', tokenIn: WETH, tokenOut: USDC, amountIn: 10n ** 9n },
  })
  // 0.005 coins are worth 0.75, less the pool's fee of 0.3 percent.
  expect(Number(millionGasOut)).toBeGreaterThan(747_000)
  expect(Number(millionGasOut)).toBeLessThanOrEqual(747_750)
})
