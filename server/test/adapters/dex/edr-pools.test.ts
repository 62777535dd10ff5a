import { type Hex, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { networks } from '../../../networks/index.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { present } from '../../../src/lib/assert.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { PoolSource } from '../../../src/swap/ports/pools.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { startEdr } from '../chains/evm/edr.ts'
import { startVenues, type Venues } from './venues.ts'

/*
 * T13: pools of Uniswap's published contracts are found by their logs and followed on another client than anvil, also after a
 * reorganisation; our quotes are compared with Uniswap's quoters.
 */

const DEADLINE = 2n ** 40n
const UNIT = 10n ** 21n
const definition = present(
  networks.find(({ id }) => id === 'eth'),
  'the network',
)

let venues: Venues
let source: PoolSource
beforeAll(async () => {
  venues = await startVenues(() => startEdr({ hardfork: 'cancun', blockGasLimit: 400_000_000n }))
  const { anvil, address, tokens, dexes } = venues
  source = createNetworkPools({
    network: resolveNetwork(definition, 'sandbox'),
    rpcUrls: [anvil.url],
    dexNetwork: { network: 'eth', wrapped: address.weth, connectors: tokens, dexes },
    tokens: [],
    snapshots: { load: async () => null, save: async () => undefined },
    log: createLog({ level: 'warn', pretty: true }),
    settings: { compareEveryBlocks: 1, comparePools: 3 },
  })
})
afterAll(() => venues?.anvil.stop())

/** The pools at the node's newest block. */
async function pools(): Promise<readonly Pool[]> {
  const { hash } = await venues.anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
  for (let turns = 0; turns < 20; turns++) {
    await source.advance()
    const at = source.current()
    if (at?.block.hash === hash) return at.pools
  }
  throw new Error('the pools did not reach the newest block')
}

const keyOf = (currency0: Hex, currency1: Hex) => ({
  ...{ currency0, currency1, fee: 3_000, tickSpacing: 60, hooks: zeroAddress },
})

async function makePools(a: Hex, b: Hex): Promise<void> {
  const { act, me, mine } = venues
  await act('v2Router', 'addLiquidity', [a, b, UNIT, 3n * UNIT, 0n, 0n, me, DEADLINE])
  await act('positions', 'createAndInitializePoolIfNecessary', [a, b, 3_000, 2n ** 96n])
  await act('v4Core', 'initialize', [keyOf(a, b), 2n ** 96n])
  await mine()
  const [range, amounts] = [
    { tickLower: -6_000, tickUpper: 6_000, recipient: me, deadline: DEADLINE },
    { amount0Desired: UNIT, amount1Desired: UNIT, amount0Min: 0n, amount1Min: 0n },
  ]
  await act('positions', 'mint', [{ token0: a, token1: b, fee: 3_000, ...range, ...amounts }])
  const change = { tickLower: -6_000, tickUpper: 6_000, liquidityDelta: UNIT, salt: `0x${'0'.repeat(64)}` }
  await act('v4Liquidity', 'modifyLiquidity', [keyOf(a, b), change, '0x'])
  await mine()
}

/** The output of each pool by Uniswap's router and quoters. */
async function askQuoters(a: Hex, b: Hex, amountIn: bigint): Promise<Readonly<Record<string, bigint | undefined>>> {
  const { read, address } = venues
  const [, v2] = await read<readonly bigint[]>(address.v2Router, 'v2Router', 'getAmountsOut', [amountIn, [a, b]])
  const [v3] = await read<readonly bigint[]>(address.quoter, 'quoter', 'quoteExactInputSingle', [
    { tokenIn: a, tokenOut: b, amountIn, fee: 3_000, sqrtPriceLimitX96: 0n },
  ])
  const [v4] = await read<readonly bigint[]>(address.v4Quoter, 'v4Quoter', 'quoteExactInputSingle', [
    { poolKey: keyOf(a, b), zeroForOne: true, exactAmount: amountIn, hookData: '0x' },
  ])
  return { 'uniswap-v2': v2, 'uniswap-v3': v3, 'uniswap-v4': v4 }
}

async function quote(source: Hex, target: Hex, amountIn: bigint) {
  const options = { hopsMax: 1, swapsMax: 1, gasPrice: 0, isOver: () => false }
  const outputs = (await pools()).map(
    (pool) =>
      [
        pool.kind,
        bestRoute(createPoolMarket([pool]), { source, target, amountIn }, options)?.amountOut ?? null,
      ] as const,
  )
  return Object.fromEntries(outputs)
}

test('pools are found, followed and rolled back on edr, and quote what Uniswap’s contracts pay', async () => {
  const [a, b] = venues.tokens as readonly [Hex, Hex]
  const { act, me, mine, anvil } = venues
  expect(await pools()).toEqual([])
  await makePools(a, b)
  for (const amount of [1_000n, 10n ** 18n, 7n * 10n ** 19n + 3n]) {
    expect(await quote(a, b, amount)).toEqual(await askQuoters(a, b, amount))
  }
  await act('v2Router', 'swapExactTokensForTokens', [10n ** 20n, 0n, [b, a], me, DEADLINE])
  const params = { zeroForOne: true, amountSpecified: -(10n ** 19n), sqrtPriceLimitX96: 4295128740n }
  await act('v4Swap', 'swap', [keyOf(a, b), params, { takeClaims: false, settleUsingBurn: false }, '0x'])
  await mine()
  const traded = await quote(a, b, 10n ** 18n)
  expect(traded).toEqual(await askQuoters(a, b, 10n ** 18n))
  await anvil.reorg(2)
  expect(await quote(a, b, 10n ** 18n)).toEqual(await askQuoters(a, b, 10n ** 18n))
  expect(source.counts()).toMatchObject({ reorgs: 1, differences: 0 })
})
