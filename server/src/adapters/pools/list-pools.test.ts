import { expect, test } from 'vitest'
import type { UniswapV2Pool } from '../../swap/routing/pools/uniswap-v2.ts'
import { type ListedTokens, listPools } from './rank.ts'

const [weth, usdc, junk] = ['0x01', '0x02', '0x03']
const listing: ListedTokens = { wrapped: weth, connectors: new Set([weth]), listed: new Set([weth, usdc]) }
const stablecoin = { token: usdc, unit: 1e6 }
const ETHER = 10n ** 18n

const pool = (id: string, tokens: readonly [string, string], reserves: readonly [bigint, bigint]): UniswapV2Pool => ({
  ...{ kind: 'uniswap-v2', id, address: id, dex: 'dex', tokens, reserves, feePpm: 3_000 },
})
// A price of 3 000 dollars.
const market = pool('0xa1', [weth, usdc], [100n * ETHER, 300_000n * 10n ** 6n])
const shallow = pool('0xa2', [weth, junk], [ETHER, 5n])

test('a pool is worth what its poorer side pays until the price has moved by two percent, less its fee, in dollars', () => {
  // One percent of the reserves: 1 ether and 3 000 dollars; 0.01 ether is 30 dollars. A fee of 0.3 % leaves 85 % of that.
  expect(listPools([market, shallow], [market, shallow], listing, stablecoin)).toEqual([
    { id: '0xa1', dex: 'dex', tokens: [weth, usdc], dollars: 2_550 },
    { id: '0xa2', dex: 'dex', tokens: [weth, junk], dollars: 25 },
  ])
})

test('a paused pool is listed at the values of the others, whatever its own price', () => {
  // Deeper than the market, at a tenth of its price.
  const paused = pool('0xa3', [weth, usdc], [10_000n * ETHER, 3_000_000n * 10n ** 6n])
  const [listed] = listPools([paused, market], [market], listing, stablecoin)
  // Ten ether at 3 000 dollars: the token of the market counts up to what lies against it there, 0.85 ether.
  expect(listed?.dollars).toBe(2_550)
})

test('without a price of the stablecoin no pool has a value in dollars', () => {
  for (const unknown of [null, { token: junk, unit: 1 }])
    expect(listPools([market], [market], listing, unknown)).toMatchObject([{ id: '0xa1', dollars: null }])
})
