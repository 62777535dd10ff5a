import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { swapDefaults } from '../interfaces.ts'
import type { RoutedSwap, RouteOrder } from '../ports/router.ts'
import { BelowMinimum, type SwapOrder } from '../ports/swap-chain.ts'
import { type BuildSwapDeps, createBuildSwap } from './build-swap.ts'
import { createRouteReliability, type RouteReliability } from './route-reliability.ts'
import { createSwapRefs } from './swap-refs.ts'

/* Chains whose state is newer at each simulation, as where blocks are shorter than a build, and pools that pay other than they say: scripted. */

/** By pool, best first: what it is quoted to pay at a block, and what it pays in a simulation there; null: it reverts. */
type Market = Readonly<{ quoted(block: number): bigint; paid(block: number): bigint | null }>
const honest = (amount: bigint): Market => ({ quoted: () => amount, paid: () => amount })

let markets: Record<string, Market>
let block: number
/** Blocks between a quote and its simulation. */
let blocksPerBuild: number
/** Pools of the routes that were simulated. */
let simulated: string[]
let routes: RouteReliability

const blockAt = (height: number) => ({ height, hash: `0x${height}` })
const router = {
  async route({ amountIn, avoid = [] }: RouteOrder) {
    const [best] = Object.entries(markets).filter(([id]) => !avoid.includes(id))
    if (best === undefined) throw new AppError('NO_ROUTE', 'no known pools connect the two tokens')
    const [id, { quoted }] = best
    const amountOut = quoted(block)
    const pool = { kind: 'uniswap-v2', id, dex: 'dex', tokens: ['0xee', '0xdc'] }
    return {
      ...{ block: blockAt(block), amountOut, middleOut: amountOut, gas: 1, millionGasOut: 0n, unlisted: [] },
      swaps: [{ pool, tokenIn: 0, tokenOut: 1, amountIn, amountOut }] as unknown as RoutedSwap['swaps'],
    }
  },
}
const chain = {
  ...{ network: { id: 'eth', decimals: 18 }, native: '0xn', wrapped: '0xee', unitsMax: 2n ** 256n - 1n },
  ...{
    aggregatorGas: { unreported: 0, overhead: 0 },
    aggregatorTaker: null,
    paysOthers: true,
    ownContracts: new Set(),
  },
  ...{ parse: (text: string) => text, parseAccount: (text: string) => text, formatAddress: (text: string) => text },
  ...{ chooseExpiry: async () => ({ by: 'time', at: 1 }), hashCall: () => '0xc' },
  async prepare({ swaps, minReceived }: SwapOrder) {
    const id = swaps[0]?.pool.id ?? ''
    simulated.push(id)
    block += blocksPerBuild
    const paid = markets[id]?.paid(block) ?? null
    if (paid === null) throw new AppError('SIMULATION_FAILED', 'the swap would fail on chain', {})
    const simulation = { block: blockAt(block), amountOut: paid }
    if (paid < minReceived) throw new BelowMinimum('it would fail', 'TooLittle', simulation)
    // Two nodes see the same block.
    return { approve: null, swap: `swap by ${id}`, simulatedOut: paid, simulations: [simulation, simulation] }
  },
}

async function build(account = '0xa', slippage = '3') {
  const deps = {
    networks: { getOpen: () => ({ chain, nativeIsToken: false }) },
    findToken: async (_: unknown, address: string) => ({ network: 'eth', address, name: '', symbol: '', decimals: 6 }),
    ...{ router, routes, referenceOutOf: () => null, askAggregators: null, buildAggregatorCall: null },
    ...{ poolPauses: () => [], log: { info: () => undefined }, refs: createSwapRefs(Buffer.from('a pepper')) },
    ...{ feeAccounts: { findAddress: async () => null }, isOwnAddress: async () => false },
    screening: { screen: async () => 'allow' },
    withIdempotency: (_partner: unknown, _key: unknown, work: (keep: () => null) => unknown) => work(() => null),
    ...{ settings: swapDefaults, now: () => 0 },
  } as unknown as BuildSwapDeps
  const tokens = { fromTokenAddress: '0xee', toTokenAddress: '0xdc', amount: '1', slippage, referrerFee: '0' }
  return createBuildSwap(deps)({ id: 'p' } as Partner, { network: 'eth', account, ...tokens }, null)
}

beforeEach(() => {
  markets = {}
  block = 7
  blocksPerBuild = 0
  simulated = []
  routes = createRouteReliability({ now: () => 0 })
})

describe('D4: a pool that pays more than its state says, as after tokens were sent to it', () => {
  const donated: Market = { quoted: () => 1_000_000n, paid: () => 1_021_000n }

  it('is taken from the routes of no account, however many build', async () => {
    markets = { donated }
    for (const account of ['0xa', '0xb', '0xd'])
      await expect(build(account)).rejects.toMatchObject({
        code: 'SIMULATION_FAILED',
        problems: [{ simulated: '1.021' }],
      })
    expect(simulated).toEqual(['donated', 'donated', 'donated'])
    expect(['0xa', '0xb', '0xe', null].flatMap((account) => routes.avoided('eth', account))).toEqual([])
  })

  it.each([0, 1])('is routed around within the build, %s blocks after the quote', async (blocks) => {
    blocksPerBuild = blocks
    markets = { donated, honest: honest(990_000n) }
    expect(await build()).toEqual(['swap by honest'])
    expect(routes.avoided('eth', '0xa')).toEqual([])
  })
})

/*
 * The scenario of a deep pool to which tokens were sent, beside a pool with a fee of 13 % that its maker set: at its own middle price the
 * second one loses less than the limit of the price impact.
 */
describe('D4: a user who accepted one percent', () => {
  const donated: Market = { quoted: () => 1_000_000n, paid: () => 1_024_000n }
  const reverting: Market = { quoted: () => 1_000_000n, paid: () => null }

  it.each([
    ['tokens were sent to the best pool', donated, { simulated: '1.024', quoted: '1' }],
    ['the best pool reverts', reverting, {}],
  ])('is not led to a pool that pays 24 percent less where %s', async (_, first, problem) => {
    markets = { first, shallow: honest(763_000n) }
    await expect(build('0xa', '1')).rejects.toMatchObject({ code: 'SIMULATION_FAILED', problems: [problem] })
    expect(simulated).toEqual(['first'])
  })

  it('gets a route that pays one percent less, and none that pays a unit less than that', async () => {
    markets = { donated, honest: honest(990_000n) }
    expect(await build('0xa', '1')).toEqual(['swap by honest'])
    markets = { donated, honest: honest(989_999n) }
    await expect(build('0xa', '1')).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  })

  it('gets no route at newer pools that pays less than one percent less', async () => {
    blocksPerBuild = 1
    const falling = (atBlock: number) => (atBlock === 7 ? 1_000_000n : 989_999n)
    markets = { moved: { quoted: falling, paid: falling } }
    await expect(build('0xa', '1')).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
    expect(simulated).toEqual(['moved'])
  })
})

describe('D4: where the pools are newer after each simulation', () => {
  beforeEach(() => {
    blocksPerBuild = 1
  })

  it.each([
    ['reverts', null],
    ['pays one percent less', 999_900n],
    ['pays less than the minimum', 900_000n],
  ])('routes around a pool that %s', async (_, paid) => {
    markets = { liar: { quoted: () => 1_010_000n, paid: () => paid }, honest: honest(990_000n) }
    expect(await build()).toEqual(['swap by honest'])
    expect(simulated).toEqual(['liar', 'liar', 'honest'])
    // A simulation of another block is no proof.
    expect(routes.avoided('eth', '0xa')).toEqual([])
  })

  const falling = (atBlock: number) => 1_000_000n - 8_000n * BigInt(atBlock - 7)

  it('keeps a pool whose price moved with every block, where the others pay less', async () => {
    // From the third quote on it stands still.
    const moving = (atBlock: number) => falling(Math.min(atBlock, 9))
    markets = { moving: { quoted: moving, paid: moving }, shallow: honest(900_000n) }
    expect(await build()).toEqual(['swap by moving'])
    expect(simulated).toEqual(['moving', 'moving', 'moving'])
  })

  it('is refused with the first problem after three routes', async () => {
    markets = { moving: { quoted: falling, paid: falling } }
    await expect(build()).rejects.toMatchObject({ problems: [{ quoted: '1', simulated: '0.992' }] })
    expect(simulated).toEqual(['moving', 'moving', 'moving'])
  })
})
