import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import { networks } from '../../../networks/index.ts'
import { createThreadRouter, type ThreadRouter } from '../../../src/adapters/router/thread-router.ts'
import { createMetrics } from '../../../src/app/metrics.ts'
import type { RouterThreadInput } from '../../../src/app/router-thread.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import { startVenues, type Venues } from './venues.ts'

const log = createLog({ level: 'silent', pretty: false })
const metrics = createMetrics({ defaults: false })
const noScopes: ReadonlySet<string> = new Set()
const shared = {
  /** No snapshot is stored between runs. */
  snapshots: { load: async () => null, save: async () => undefined },
  pauses: () => noScopes,
  onDepth: () => undefined,
  log,
  metrics,
}
const entry = new URL('../../../src/app/router-thread.ts', import.meta.url)
const DEADLINE = 2n ** 40n

let venues: Venues
let router: ThreadRouter
beforeAll(async () => {
  venues = await startVenues()
  const [a, b, c] = venues.tokens as readonly [Hex, Hex, Hex]
  for (const [x, y] of [
    [a, b],
    [b, c],
  ] as const)
    await venues.act('v2Router', 'addLiquidity', [x, y, 10n ** 24n, 10n ** 24n, 0n, 0n, venues.me, DEADLINE])
  await venues.mine()
  const definition = networks.find(({ id }) => id === 'eth')
  if (!definition) throw new Error('no such network')
  const workerInput: RouterThreadInput = {
    networks: [
      {
        network: resolveNetwork(definition, 'sandbox'),
        rpcUrls: [venues.anvil.url],
        dexNetwork: { network: 'eth', wrapped: venues.address.weth, connectors: venues.tokens, dexes: venues.dexes },
        tokens: [],
        settings: {},
      },
    ],
    budgetMs: 150,
  }
  router = createThreadRouter({ ...shared, entry, workerInput, queueMax: 50 })
  await until('the pools are read', () => router.state('eth') !== null)
})
afterAll(async () => {
  await router?.stop()
  await venues?.anvil.stop()
})

describe('the router in its thread', () => {
  test('returns the output that the chain would pay at the returned block', async () => {
    const [a, b, c] = venues.tokens as readonly [Hex, Hex, Hex]
    const amountIn = 10n ** 20n
    const quote = await router.route({ network: 'eth', tokenIn: a, tokenOut: c, amountIn })
    const amounts = await venues.read<readonly bigint[]>(venues.address.v2Router, 'v2Router', 'getAmountsOut', [
      amountIn,
      [a, b, c],
    ])
    expect(quote.amountOut).toBe(amounts[2])
    expect(quote.block).toEqual(router.state('eth')?.block)
    // Both pools have a price of one.
    expect(quote.middleOut).toBe(amountIn)
    expect(quote.swaps.map(({ amountIn: input }) => input)).toEqual([amountIn, amounts[1]])
    expect(await metrics.render()).toMatch(/swapyard_pools\{network="eth"\} 2/)
  })

  test('updates the pools after a swap', async () => {
    const [a, b] = venues.tokens as readonly [Hex, Hex]
    await venues.act('v2Router', 'swapExactTokensForTokens', [10n ** 23n, 0n, [a, b], venues.me, DEADLINE])
    const height = await venues.mine()
    await until('the block is read', () => router.state('eth')?.block.height === height)
    const quote = await router.route({ network: 'eth', tokenIn: a, tokenOut: b, amountIn: 10n ** 18n })
    const amounts = await venues.read<readonly bigint[]>(venues.address.v2Router, 'v2Router', 'getAmountsOut', [
      10n ** 18n,
      [a, b],
    ])
    expect(quote.amountOut).toBe(amounts[1])
  })

  test('reports why there is no route, and rejects orders beyond the queue limit', async () => {
    const [a, , , d] = venues.tokens as readonly [Hex, Hex, Hex, Hex]
    await expect(router.route({ network: 'eth', tokenIn: a, tokenOut: d, amountIn: 1n })).rejects.toMatchObject({
      code: 'NO_ROUTE',
    })
    await expect(router.route({ network: 'base', tokenIn: a, tokenOut: d, amountIn: 1n })).rejects.toMatchObject({
      code: 'NETWORK_UNAVAILABLE',
    })
    const [, b] = venues.tokens as readonly [Hex, Hex]
    const burst = await Promise.allSettled(
      Array.from({ length: 60 }, () => router.route({ network: 'eth', tokenIn: a, tokenOut: b, amountIn: 10n ** 18n })),
    )
    expect(burst.filter(({ status }) => status === 'fulfilled').length).toBe(50)
    for (const one of burst) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'OVERLOADED' })
  })

  test('rejects orders while its thread cannot start', async () => {
    const broken = createThreadRouter({
      entry: new URL('data:text/javascript,throw new Error("broken")'),
      ...shared,
      workerInput: {},
    })
    const [a, b] = venues.tokens as readonly [Hex, Hex]
    await expect(broken.route({ network: 'eth', tokenIn: a, tokenOut: b, amountIn: 1n })).rejects.toMatchObject({
      code: 'NETWORK_UNAVAILABLE',
    })
    expect(broken.state('eth')).toBeNull()
    await broken.stop()
  })
})
