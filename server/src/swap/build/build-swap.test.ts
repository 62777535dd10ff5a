import { beforeEach, expect, it } from 'vitest'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { swapDefaults } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { RoutedSwap, RouteOrder } from '../ports/router.ts'
import { BelowMinimum, type SwapChain, type SwapOrder } from '../ports/swap-chain.ts'
import { createAggregatorReliability } from '../quotes/aggregator-reliability.ts'
import { type BuildSwapDeps, createBuildSwap } from './build-swap.ts'
import { createRouteReliability } from './route-reliability.ts'
import { createSwapRefs } from './swap-refs.ts'

/* A pool that pays less than its state says cannot be made on the sandbox's chains: these tests use scripted ports. */

const [WETH, USDC, EVIL] = ['0xee', '0xdc', '0xe1']
const request = {
  ...{ network: 'eth', account: '0xa', fromTokenAddress: WETH, toTokenAddress: USDC, amount: '1' },
  ...{ slippage: '3', referrerFee: '0' },
}

/** What each pool is quoted to pay, best first, and what it pays in a simulation. */
let markets: Record<string, Readonly<{ quoted: bigint; paid: bigint | 'reverts'; tokens?: readonly string[] }>>
let routedAt: number
let simulatedAt: number
/** Pools of the routes that were simulated. */
let simulated: string[]
let unlisted: readonly string[]

const router = {
  async route({ avoid = [] }: RouteOrder): Promise<RoutedSwap> {
    const [best] = Object.entries(markets).filter(([id]) => !avoid.includes(id))
    if (best === undefined) throw new AppError('NO_ROUTE', 'no known pools connect the two tokens')
    const [id, { quoted, tokens = [WETH, USDC] }] = best
    const pool = { kind: 'uniswap-v2', id, dex: 'dex', tokens }
    return {
      ...{ block: { height: routedAt, hash: `0x${routedAt}` }, amountOut: quoted, gas: 1, millionGasOut: 0n },
      ...{ middleOut: quoted, unlisted, swaps: [{ pool }] as unknown as RoutedSwap['swaps'] },
    }
  },
}
const chain = {
  ...{ network: { id: 'eth', decimals: 18 }, wrapped: WETH, router: '0xr', executor: '0xx', externalExecutor: '0xy' },
  parse: (text: string) => text,
  parseAccount: (text: string) => text,
  formatAddress: (text: string) => text,
  hashCall: () => '0xc',
  async prepare({ swaps, minReceived }: SwapOrder) {
    const id = swaps[0]?.pool.id ?? ''
    simulated.push(id)
    const paid = markets[id]?.paid ?? 0n
    if (paid === 'reverts') throw new AppError('SIMULATION_FAILED', 'the swap would fail on chain', {})
    const block = { height: simulatedAt, hash: `0x${simulatedAt}` }
    if (paid < minReceived) throw new BelowMinimum('it would fail', 'TooLittle', { block, amountOut: paid })
    return { approve: null, swap: `swap by ${id}`, simulatedOut: paid, simulations: [{ block, amountOut: paid }] }
  },
} as unknown as SwapChain

const deps: BuildSwapDeps = {
  networks: { getOpen: () => ({ chain, nativeIsToken: false }) } as unknown as SwapNetworks,
  findToken: async (_, address) => ({ network: 'eth', address, name: 'T', symbol: 'T', decimals: 6 }),
  router: router as BuildSwapDeps['router'],
  askAggregators: null,
  buildAggregatorCall: null,
  reliability: createAggregatorReliability({ now: () => 0 }),
  routes: createRouteReliability({ now: () => 0 }),
  log: { info: () => undefined },
  refs: createSwapRefs(Buffer.from('a pepper')),
  feeAccounts: { findAddress: async () => null },
  isOwnAddress: async () => false,
  approvals: { save: async () => undefined, has: async () => false },
  screening: { screen: async () => 'allow' },
  withIdempotency: (_partner, _key, work) => work(),
  settings: swapDefaults,
  now: () => 0,
}
let buildSwap: ReturnType<typeof createBuildSwap>
const build = (changes: object = {}) => buildSwap({ id: 'p' } as Partner, { ...request, ...changes }, null)

beforeEach(() => {
  markets = { honest: { quoted: 1_000_000n, paid: 1_000_000n } }
  routedAt = 7
  simulatedAt = 7
  simulated = []
  unlisted = []
  buildSwap = createBuildSwap({ ...deps, routes: createRouteReliability({ now: () => 0 }) })
})

it.each([
  ['within the slippage', 1_000_000n],
  ['below the minimum', 900_000n],
])('routes around a pool that pays less than quoted, %s, and remembers it (D4)', async (_, paid) => {
  markets = { liar: { quoted: 1_010_000n, paid }, ...markets }
  expect(await build()).toEqual(['swap by honest'])
  expect(simulated).toEqual(['liar', 'honest'])
  // The same account is not led to it again; others are, until a second one saw it.
  expect(await build()).toEqual(['swap by honest'])
  expect(simulated).toEqual(['liar', 'honest', 'honest'])
  expect(await build({ account: '0xb' })).toEqual(['swap by honest'])
  expect(await build({ account: '0xd' })).toEqual(['swap by honest'])
  expect(simulated).toEqual(['liar', 'honest', 'honest', 'liar', 'honest', 'honest'])
})

it('is refused with both amounts if every route pays less than quoted (D4)', async () => {
  markets = { honest: { quoted: 1_000_000n, paid: 990_000n } }
  const refused = { code: 'SIMULATION_FAILED', problems: [{ quoted: '1', simulated: '0.99' }] }
  await expect(build()).rejects.toMatchObject(refused)
  // The route around it, NO_ROUTE, does not hide the reason.
  expect(simulated).toEqual(['honest'])
})

it('blames only pools of the unlisted token that the trade names (D4)', async () => {
  unlisted = [EVIL]
  markets = { evil: { quoted: 1_000_000n, paid: 900_000n, tokens: [USDC, EVIL] } }
  await expect(build({ toTokenAddress: EVIL })).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  // From now on no account is led to it.
  await expect(build({ toTokenAddress: EVIL, account: '0xb' })).rejects.toMatchObject({ code: 'NO_ROUTE' })
  expect(simulated).toEqual(['evil'])
})

it('is priced again at newer pools if the chain moved by more than the blocks between explain', async () => {
  simulatedAt = 8
  markets = { moved: { quoted: 1_000_000n, paid: 980_000n } }
  const prepareOld = chain.prepare
  const prepareNew = async (order: SwapOrder) => {
    const prepared = await prepareOld(order)
    // The pools follow while the first simulation runs.
    routedAt = 8
    markets = { moved: { quoted: 980_000n, paid: 980_000n } }
    return prepared
  }
  const following = { ...chain, prepare: prepareNew } as SwapChain
  const networks = { getOpen: () => ({ chain: following, nativeIsToken: false }) } as unknown as SwapNetworks
  const routes = createRouteReliability({ now: () => 0 })
  expect(await createBuildSwap({ ...deps, networks, routes })({ id: 'p' } as Partner, request, null)).toEqual([
    'swap by moved',
  ])
  expect(simulated).toEqual(['moved', 'moved'])
  expect(routes.avoided('eth', '0xa')).toEqual([])
})

it('routes around pools whose simulation reverts, but blames none', async () => {
  markets = { paused: { quoted: 1_010_000n, paid: 'reverts' }, ...markets }
  expect(await build()).toEqual(['swap by honest'])
  expect(await build()).toEqual(['swap by honest'])
  expect(simulated).toEqual(['paused', 'honest', 'paused', 'honest'])
})
