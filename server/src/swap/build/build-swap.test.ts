import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { swapDefaults } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { RoutedSwap, RouteOrder } from '../ports/router.ts'
import { BelowMinimum, CoinRefused, type SwapChain, type SwapOrder } from '../ports/swap-chain.ts'
import { createAggregatorReliability } from '../quotes/aggregator-reliability.ts'
import { createQuoteSwap } from '../quotes/quote-swap.ts'
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
/** What the input is worth at reference prices. */
let referenceOut: bigint | null
let isKnownCall: boolean
/** Minimums of the simulated aggregator calls. */
let minimums: bigint[]
/** What an aggregator's call pays in its simulation; null: it reverts. */
let aggregatorPays: bigint | 'the recipient refuses' | null
/** Output at the middle price; null: what is quoted. */
let middleOut: bigint | null

const router = {
  async route({ amountIn, avoid = [] }: RouteOrder): Promise<RoutedSwap> {
    const [best] = Object.entries(markets).filter(([id]) => !avoid.includes(id))
    if (best === undefined) throw new AppError('NO_ROUTE', 'no known pools connect the two tokens')
    const [id, { quoted, tokens = [WETH, USDC] }] = best
    const pool = { kind: 'uniswap-v2', id, dex: 'dex', tokens }
    const swaps = [{ pool, tokenIn: 0, tokenOut: 1, amountIn, amountOut: quoted }] as unknown as RoutedSwap['swaps']
    return {
      ...{ block: { height: routedAt, hash: `0x${routedAt}` }, amountOut: quoted, gas: 1, millionGasOut: 0n },
      ...{ middleOut: middleOut ?? quoted, unlisted, swaps },
    }
  },
}
const chain = {
  ...{ network: { id: 'eth', decimals: 18 }, native: '0xn', wrapped: WETH, spender: '0xr', executor: '0xx' },
  ...{ unitsMax: 2n ** 256n - 1n, aggregatorGas: { unreported: 400_000, overhead: 90_000 } },
  ...{ aggregatorTaker: '0xy', paysOthers: true, ownContracts: new Set(['0xr', '0xx', '0xy']) },
  parse: (text: string) => text,
  parseAccount: (text: string) => (text === '' ? null : text),
  formatAddress: (text: string) => text,
  chooseExpiry: async () => ({ by: 'time', at: 1 }),
  hashCall: () => '0xc',
  isKnownCall: async () => isKnownCall,
  async prepare({ swaps, minReceived, aggregatorCall }: SwapOrder) {
    if (aggregatorCall !== undefined) {
      minimums.push(minReceived)
      if (aggregatorPays === 'the recipient refuses') throw new CoinRefused('it would fail', 'CoinRefused(0xa)')
      if (aggregatorPays === null) throw new AppError('SIMULATION_FAILED', 'the swap would fail on chain', {})
      return { approve: null, swap: 'swap by 0x', simulatedOut: aggregatorPays, simulations: [] }
    }
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
  referenceOutOf: () => referenceOut,
  askAggregators: null,
  buildAggregatorCall: null,
  poolPauses: () => [],
  reliability: createAggregatorReliability({ now: () => 0 }),
  routes: createRouteReliability({ now: () => 0 }),
  log: { info: () => undefined },
  refs: createSwapRefs(Buffer.from('a pepper')),
  feeAccounts: { findAddress: async () => null },
  isOwnAddress: async () => false,
  approvals: { save: async () => undefined, has: async () => false },
  externalIds: { save: async () => undefined },
  screening: { screen: async () => 'allow' },
  withIdempotency: (_partner, _key, work) => work(() => null),
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
  referenceOut = null
  middleOut = null
  isKnownCall = true
  minimums = []
  aggregatorPays = 1_050_000n
  buildSwap = createBuildSwap({ ...deps, routes: createRouteReliability({ now: () => 0 }) })
})

it.each([
  ['within the slippage', 1_000_000n],
  ['below the minimum', 900_000n],
])('D4: routes around a pool that pays less than quoted, %s, and remembers it', async (_, paid) => {
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

it('D4: is refused with both amounts if every route pays less than quoted', async () => {
  markets = { honest: { quoted: 1_000_000n, paid: 990_000n } }
  const refused = { code: 'SIMULATION_FAILED', problems: [{ quoted: '1', simulated: '0.99' }] }
  await expect(build()).rejects.toMatchObject(refused)
  // The route around it, NO_ROUTE, does not hide the reason.
  expect(simulated).toEqual(['honest'])
})

it('D4: blames only pools of the unlisted token that the trade names', async () => {
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

describe('D9: reference prices', () => {
  it('refuse a loss above ten percent, unless the request accepts it', async () => {
    // The output lacks 100 001 millionths of the reference, a unit of rounding aside.
    referenceOut = 1_111_114n
    const refused = { code: 'PRICE_IMPACT_TOO_HIGH', problems: [{ field: 'amount', max: '10' }] }
    await expect(build()).rejects.toMatchObject(refused)
    expect(simulated).toEqual([])
    expect(await build({ maxPriceImpact: '11' })).toEqual(['swap by honest'])
    await expect(build({ maxPriceImpact: '9' })).rejects.toMatchObject({ problems: [{ max: '9' }] })
    referenceOut = 1_111_112n
    expect(await build()).toEqual(['swap by honest'])
    for (const maxPriceImpact of ['100.1', '-1', 'x'])
      await expect(build({ maxPriceImpact })).rejects.toMatchObject({
        ...{ code: 'VALIDATION_ERROR', problems: [{ field: 'maxPriceImpact', min: '0', max: '100' }] },
      })
  })

  it('lead around a route that pays two percent more than they say, where the other pools agree with them', async () => {
    referenceOut = 1_000_000n
    markets = { bait: { quoted: 1_020_001n, paid: 1_020_001n }, ...markets }
    expect(await build()).toEqual(['swap by honest'])
    markets = { fair: { quoted: 1_020_000n, paid: 1_020_000n }, ...markets }
    expect(await build()).toEqual(['swap by fair'])
  })

  it('are not believed against all pools', async () => {
    referenceOut = 1_000_000n
    markets = { first: { quoted: 1_040_000n, paid: 1_040_000n }, second: { quoted: 1_030_000n, paid: 1_030_000n } }
    expect(await build()).toEqual(['swap by first'])
    // A pool that is far too shallow is no other opinion, and neither is none.
    markets = { first: { quoted: 1_040_000n, paid: 1_040_000n }, second: { quoted: 970_000n, paid: 970_000n } }
    expect(await build()).toEqual(['swap by first'])
    markets = { first: { quoted: 1_040_000n, paid: 1_040_000n } }
    expect(await build()).toEqual(['swap by first'])
  })
})

it('D9: refuses a price impact above 15 percent by default, unless the request accepts it', async () => {
  middleOut = 1_177_000n
  await expect(build()).rejects.toMatchObject({ code: 'PRICE_IMPACT_TOO_HIGH', problems: [{ max: '15' }] })
  expect(await build({ maxPriceImpact: '16' })).toEqual(['swap by honest'])
  middleOut = 1_176_000n
  expect(await build()).toEqual(['swap by honest'])
})

describe('D7: an aggregator', () => {
  const quote = { source: '0x', amountOut: 1_050_000n, gas: 1, contract: '0xh' }
  const trade = { amountOut: 1_050_000n, call: { target: '0xh', spender: '0xh', calldata: '0x' } }
  const buildWith = (slippage: string, reliability = createAggregatorReliability({ now: () => 0 })) => {
    const routes = createRouteReliability({ now: () => 0 })
    const aggregators = { askAggregators: async () => [quote], buildAggregatorCall: async () => trade }
    const evm = { ...chain, network: { id: 'eth', decimals: 18, evm: { chainId: 1 } } } as unknown as SwapChain
    const networks = { getOpen: () => ({ chain: evm, nativeIsToken: false }) } as unknown as SwapNetworks
    const own = createBuildSwap({ ...deps, ...aggregators, networks, routes, reliability })
    return own({ id: 'p' } as Partner, { ...request, slippage }, null)
  }

  it('pays at least what our own route pays less half a percent, whatever the slippage', async () => {
    expect(await buildWith('50')).toEqual(['swap by 0x'])
    expect(await buildWith('10')).toEqual(['swap by 0x'])
    // Less slippage than that is kept: 0.1 % of 1 050 000.
    expect(await buildWith('0.1')).toEqual(['swap by 0x'])
    expect(minimums).toEqual([995_000n, 995_000n, 1_048_950n])
  })

  it.each([
    // 995 000 of 1 050 000, whatever more the user accepts.
    ['50', 52_380n],
    ['10', 52_380n],
    ['1', 10_000n],
    ['0.01', 1_000n],
  ])('that reverts falls short by the gap to its minimum: slippage %s %', async (slippage, ppm) => {
    const recorded: bigint[] = []
    const reliability = {
      penaltyPpm: () => 0n,
      record: (_: string, __: string, short: bigint) => void recorded.push(short),
    }
    aggregatorPays = null
    expect(await buildWith(slippage, reliability)).toEqual(['swap by honest'])
    expect(recorded).toEqual([ppm])
  })

  it('gets no better or worse by builds of an unlisted token, whose contract decides what they pay', async () => {
    const recorded: bigint[] = []
    const reliability = {
      penaltyPpm: () => 0n,
      record: (_: string, __: string, short: bigint) => void recorded.push(short),
    }
    unlisted = [USDC]
    expect(await buildWith('1', reliability)).toEqual(['swap by 0x'])
    aggregatorPays = null
    expect(await buildWith('1', reliability)).toEqual(['swap by honest'])
    expect(recorded).toEqual([])
    unlisted = []
    expect(await buildWith('1', reliability)).toEqual(['swap by honest'])
    expect(recorded).toEqual([10_000n])
  })

  it('gets no better or worse by a recipient whose own code refuses what it pays', async () => {
    const recorded: bigint[] = []
    const reliability = {
      penaltyPpm: () => 0n,
      record: (_: string, __: string, short: bigint) => void recorded.push(short),
    }
    aggregatorPays = 'the recipient refuses'
    expect(await buildWith('1', reliability)).toEqual(['swap by honest'])
    expect(recorded).toEqual([])
  })

  it('is not used if its simulation pays less than our own route', async () => {
    aggregatorPays = 1_000_000n
    expect(await buildWith('1')).toEqual(['swap by 0x'])
    aggregatorPays = 999_999n
    expect(await buildWith('1')).toEqual(['swap by honest'])
  })

  it('trades for the user where there is no executor', async () => {
    const takers: string[] = []
    const native = { ...chain, aggregatorTaker: null } as SwapChain
    const own = createBuildSwap({
      ...{ ...deps, routes: createRouteReliability({ now: () => 0 }), askAggregators: async () => [quote] },
      networks: { getOpen: () => ({ chain: native, nativeIsToken: false }) } as unknown as SwapNetworks,
      buildAggregatorCall: async (_, { taker, chainId }) => {
        takers.push(`${taker} ${chainId}`)
        return trade
      },
    })
    expect(await own({ id: 'p' } as Partner, request, null)).toEqual(['swap by 0x'])
    expect(takers).toEqual(['0xa null'])
  })

  it('is not used if its call hands the input to an unknown contract', async () => {
    isKnownCall = false
    expect(await buildWith('1')).toEqual(['swap by honest'])
    expect(minimums).toEqual([])
  })
})

describe('a recipient', () => {
  const orders: SwapOrder[] = []
  const buildFor = (recipient: string, changes: object = {}, own: Partial<BuildSwapDeps> = {}) => {
    orders.length = 0
    const kept = {
      ...chain,
      ...changes,
      prepare: (order: SwapOrder) => {
        orders.push(order)
        return chain.prepare(order)
      },
    } as SwapChain
    const networks = { getOpen: () => ({ chain: kept, nativeIsToken: false }) } as unknown as SwapNetworks
    const builder = createBuildSwap({ ...deps, ...own, networks, routes: createRouteReliability({ now: () => 0 }) })
    return builder({ id: 'p' } as Partner, { ...request, recipient }, null)
  }

  it('is paid instead of the sender, and is bound by the reference', async () => {
    await buildFor('0xb')
    expect(orders.map(({ account, recipient }) => [account, recipient])).toEqual([['0xa', '0xb']])
  })

  it.each([
    ['our contract', '0xr', 'INVALID_ADDRESS'],
    ['the target token', USDC, 'INVALID_ADDRESS'],
    ['the source token', WETH, 'INVALID_ADDRESS'],
    ['no address', '', 'INVALID_ADDRESS'],
  ])('is refused if it is %s', async (_, recipient, code) => {
    await expect(buildFor(recipient)).rejects.toMatchObject({ code, problems: [{ field: 'recipient' }] })
    expect(orders).toEqual([])
  })

  it('is refused if it is an address of ours, or restricted, or if the family pays senders only', async () => {
    const isOwnAddress = async (address: string) => address === '0xb'
    await expect(buildFor('0xb', {}, { isOwnAddress })).rejects.toMatchObject({ code: 'ADDRESS_IS_OURS' })
    const screening: BuildSwapDeps['screening'] = {
      screen: async ({ address }) => (address === '0xb' ? 'block' : 'allow'),
    }
    await expect(buildFor('0xb', {}, { screening })).rejects.toMatchObject({ code: 'RESTRICTED' })
    await expect(buildFor('0xb', { paysOthers: false })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await buildFor('0xa', { paysOthers: false })
    expect(orders).toHaveLength(1)
  })
})

describe('a fee without an address of the partner or of the operator (I7)', () => {
  const quoteSwap = (feeAddresses: ReadonlyMap<string, string>, own: string | null, referrerFee: string) =>
    createQuoteSwap({
      ...deps,
      ...{ feeAccounts: { findAddress: async () => own }, settings: { ...swapDefaults, feeAddresses } },
      // A route without swaps: the shares of a route are no part of this test.
      router: { ...deps.router, route: async (order) => ({ ...(await router.route(order as RouteOrder)), swaps: [] }) },
      valuesOf: () => ({ fromUsd: null, toUsd: null }) as never,
    })({ id: 'p' } as Partner, { ...request, referrerFee })
  const none = new Map<string, string>()

  it('is refused by the quote as by the build', async () => {
    const refused = { code: 'REFERRER_FEE_OUT_OF_RANGE', problems: [{ field: 'referrerFee', min: '0', max: '0' }] }
    await expect(build({ referrerFee: '1' })).rejects.toMatchObject(refused)
    await expect(quoteSwap(none, null, '1')).rejects.toMatchObject(refused)
  })

  it.each([
    ['the fee is 0', none, null, '0'],
    ['the partner has one', none, '0xfee', '1'],
    ['the operator has one', new Map([['eth', '0xfee']]), null, '1'],
  ] as const)('is quoted if %s', async (_, feeAddresses, own, referrerFee) => {
    expect((await quoteSwap(feeAddresses, own, referrerFee)).amountOut).toBe(1_000_000n)
  })
})
