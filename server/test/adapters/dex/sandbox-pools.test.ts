import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { urlOf } from '@swapyard/lib/node-endpoint.ts'
import { createPublicClient, encodeFunctionData, type Hex, http, type PublicClient, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Market, MarketPool } from '../../../../sandbox/src/market/snapshot.ts'
import { evmNetworks } from '../../../../sandbox/src/networks.ts'
import { type RunningSandbox, runSandbox, temporaryFolder } from '../../../../sandbox/test/running-sandbox.ts'
import { until } from '../../../../test/support/until.ts'
import { networks as definitions } from '../../../networks/index.ts'
import { encodeSwap } from '../../../src/adapters/dex/encode-swap.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import { createPoolSnapshots } from '../../../src/adapters/postgres/swap/pool-snapshots.ts'
import { createMetrics } from '../../../src/app/metrics.ts'
import { type RoutedNetwork, sandboxRouting, startRouter } from '../../../src/app/router.ts'
import type { ChainsFile } from '../../../src/app/sandbox-chains.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { PoolSnapshots, PoolSource } from '../../../src/swap/ports/pools.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { openTestDatabase, type TestDatabase } from '../postgres/database.ts'

/*
 * The sandbox's twelve networks with the published contracts of five kinds, and its trader that moves the pools: compares our
 * state with the contracts, and our computation with the output of our router and executor.
 */

/** The trader moves four pools in every fourth. */
const BLOCKS = 12
const names = evmNetworks.map(({ network }) => network)
const folder = temporaryFolder()
const log = createLog({ level: 'warn', pretty: true })
const nothing: PoolSnapshots = { load: async () => null, save: async () => undefined }

let sandbox: RunningSandbox
let testDatabase: TestDatabase
let routing: readonly RoutedNetwork[]
beforeAll(async () => {
  ;[sandbox, testDatabase] = await Promise.all([
    runSandbox(folder.path, names.join(','), [], { SWAPYARD_SANDBOX_STILL: '0' }),
    openTestDatabase(4),
  ])
  routing = sandboxRouting((sandbox.chains as unknown as ChainsFile).networks)
})
afterAll(async () => {
  await sandbox?.stop()
  await testDatabase?.close()
  folder.remove()
})

const routedOn = (network: string): RoutedNetwork => {
  const routed = routing.find(({ dexNetwork }) => dexNetwork.network === network)
  if (!routed) throw new Error(`no routing on ${network}`)
  return routed
}
const marketOf = (network: string) =>
  ({
    ...JSON.parse(readFileSync(join(folder.path, 'chains', network, 'market.json'), 'utf8')),
    contracts: sandbox.chains.networks.find((one) => one.network === network)?.['contracts' as never],
  }) as Market
const clientOf = (network: string): PublicClient =>
  createPublicClient({ transport: http(routedOn(network).rpcUrls.map(urlOf)[0]), cacheTime: 0 })

function createSource(network: string, snapshots: PoolSnapshots): PoolSource {
  const definition = definitions.find(({ id }) => id === network)
  if (!definition) throw new Error(`no network ${network}`)
  const settings = { compareEveryBlocks: 1_000_000, snapshotEveryMs: 0 }
  return createNetworkPools({
    ...routedOn(network),
    network: resolveNetwork(definition, 'sandbox'),
    snapshots,
    log,
    settings,
  })
}

/** Advances to the head at the start of the call, or beyond. */
async function advanceToHead(source: PoolSource, network: string) {
  const { number, hash } = await clientOf(network).getBlock()
  for (let turns = 0; turns < 50; turns++) {
    await source.advance()
    const at = source.current()
    if (at !== null && (at.block.height > Number(number) || at.block.hash === hash)) return at
  }
  throw new Error(`block ${number} of ${network} was not read`)
}
const byId = (pools: readonly Pool[]): Pool[] => [...pools].sort((a, b) => (a.id < b.id ? -1 : 1))

const abi = parseAbi([
  'function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 at)',
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick)',
  'function globalState() view returns (uint160 price, int24 tick, int24 before, uint16 fee)',
  'function liquidity() view returns (uint128)',
  'function getSlot0(bytes32 id) view returns (uint160 sqrtPriceX96, int24 tick, uint24 protocolFee, uint24 lpFee)',
  'function getLiquidity(bytes32 id) view returns (uint128)',
  'function getPoolTokens(bytes32 id) view returns (address[] tokens, uint256[] balances, uint256 at)',
  'function approve(address spender, uint256 amount) returns (bool)',
])

/** The state of a pool from its contract, decoded by viem. */
async function readState(client: PublicClient, { contracts }: Market, { kind, address, id }: MarketPool) {
  const blockTag = 'latest' as const
  const read = (at: Hex | undefined, functionName: string, args: readonly unknown[] = []) =>
    client.readContract({ address: at, abi, functionName, args, blockTag } as never) as Promise<never>
  if (kind === 'uniswap-v2') {
    const [reserve0, reserve1]: readonly [bigint, bigint] = await read(address, 'getReserves')
    return { reserves: [reserve0, reserve1] }
  }
  if (kind === 'balancer-weighted') {
    const [, balances]: readonly [unknown, readonly bigint[]] = await read(
      contracts['balancerVault'],
      'getPoolTokens',
      [id],
    )
    return { balances }
  }
  const view = contracts['stateView']
  const [sqrtPrice, tick]: readonly [bigint, number] =
    kind === 'uniswap-v4'
      ? await read(view, 'getSlot0', [id])
      : await read(address, kind === 'algebra' ? 'globalState' : 'slot0')
  const liquidity: bigint =
    kind === 'uniswap-v4' ? await read(view, 'getLiquidity', [id]) : await read(address, 'liquidity')
  return { sqrtPrice, tick, liquidity }
}

/** Compares every pool of the market with its contract. */
async function compareWithContracts(network: string, pools: readonly Pool[]): Promise<void> {
  const market = marketOf(network)
  const ours = new Map(pools.map((pool) => [pool.id, pool]))
  expect(pools.length).toBe(market.pools.length)
  const client = clientOf(network)
  await Promise.all(
    market.pools.map(async (planned) => {
      const pool = ours.get(planned.id ?? planned.address)
      expect(pool, `${network} ${planned.kind} ${planned.prices.join('/')}`).toMatchObject({
        kind: planned.kind,
        ...(await readState(client, market, planned)),
      })
    }),
  )
}

/** The simulated output of our router and executor for a swap through one pool. */
async function paidOnChain(network: string, market: Market, pool: Pool, back: boolean, amountIn: bigint) {
  const [tokenIn, tokenOut] = back ? [1, 0] : [0, 1]
  const source = pool.tokens[tokenIn] as Hex
  const target = pool.tokens[tokenOut] as Hex
  const swaps = [{ pool, tokenIn, tokenOut, share: SHARE_ALL }]
  const expected = executeRoute(swaps, source, target, amountIn).amountOut
  const route = {
    swaps,
    source,
    target,
    nativeIn: false,
    nativeOut: false,
    wrapped: market.coinIsToken ? null : market.wrapped,
  }
  const terms = {
    amountIn,
    minOut: 1n,
    recipient: market.trader,
    fee: null,
    reference: `0x${'0'.repeat(64)}` as Hex,
    deadline: 2n ** 40n,
  }
  const call = encodeSwap(route, terms)
  const paid = await clientOf(network)
    .call({ account: market.trader, to: call.to, data: call.calldata, gas: 20_000_000n })
    .then(({ data }) => BigInt(data ?? 0))
    .catch((error: Error) => error.message.slice(0, 400))
  return { expected, paid }
}

/** Approves the router for every token of the pools' owner. */
async function approveAll(network: string, { contracts, trader, pools }: Market): Promise<void> {
  const node = sandbox.rpc(network)
  await node.call('anvil_impersonateAccount', [trader])
  if (BigInt((await node.call('eth_getBalance', [trader, 'latest'])) as Hex) < 10n ** 20n)
    await node.call('anvil_setBalance', [trader, `0x${(10n ** 20n).toString(16)}`])
  const calldata = encodeFunctionData({
    abi,
    functionName: 'approve',
    args: [contracts['swapRouter'] as Hex, 2n ** 255n],
  })
  const fees = { gas: '0x186a0', maxFeePerGas: '0x2e90edd000', maxPriorityFeePerGas: '0x0' }
  for (const to of new Set(pools.flatMap(({ tokens }) => tokens)))
    if (BigInt(to) !== 0n) await node.call('eth_sendTransaction', [{ ...fees, from: trader, to, data: calldata }])
  await sandbox.post('/blocks', { network, count: 1 })
}

describe('the markets of the sandbox', () => {
  type Session = Readonly<{ source: PoolSource; first: readonly Pool[]; at: number }>
  const sessions = new Map<string, Session>()
  let snapshots: PoolSnapshots

  /** Reads all networks at the same time, as one router does. */
  beforeAll(async () => {
    snapshots = createPoolSnapshots(testDatabase.database)
    await Promise.all(
      names.map(async (network) => {
        const source = createSource(network, snapshots)
        const { pools, block } = await advanceToHead(source, network)
        sessions.set(network, { source, first: pools, at: block.height })
        const isFollowed = async () => (await advanceToHead(source, network)).block.height >= block.height + BLOCKS
        await until(`${network} is followed for ${BLOCKS} blocks`, isFollowed)
      }),
    )
  })

  test.each(names)('%s: are updated, rolled back and restored in agreement with the contracts', async (network) => {
    const { source, first } = sessions.get(network) as Session
    compareKinds(network, first)
    expect(source.counts()).toEqual({ reorgs: 0, differences: 0, rereads: 1 })

    await sandbox.post('/mining', { network, paused: true })
    const moved = await advanceToHead(source, network)
    expect(moved.pools.filter((pool) => !first.includes(pool)).length).toBeGreaterThan(4)
    await compareWithContracts(network, moved.pools)
    for (const drop of [false, true]) {
      await sandbox.post('/reorgs', { network, depth: 6, drop })
      await compareWithContracts(network, (await advanceToHead(source, network)).pools)
    }
    expect(source.counts()).toEqual({ reorgs: 2, differences: 0, rereads: 1 })

    const current = byId((await advanceToHead(source, network)).pools)
    const fresh = createSource(network, nothing)
    expect(byId((await advanceToHead(fresh, network)).pools)).toEqual(current)
    const restarted = createSource(network, snapshots)
    expect(byId((await advanceToHead(restarted, network)).pools)).toEqual(current)
    expect(restarted.counts()).toEqual({ reorgs: 0, differences: 0, rereads: 0 })
    await sandbox.post('/mining', { network, paused: false })
  })
})

function compareKinds(network: string, pools: readonly Pool[]): void {
  const kinds = (some: readonly { kind: string }[]) => [...new Set(some.map(({ kind }) => kind))].sort()
  expect(kinds(pools)).toEqual(kinds(marketOf(network).pools))
}

test.each(['eth', 'bsc', 'celo'])('%s: every pool pays what we compute', async (network) => {
  const market = marketOf(network)
  await sandbox.post('/mining', { network, paused: true })
  await approveAll(network, market)
  const { pools } = await advanceToHead(createSource(network, nothing), network)
  const wrong: unknown[] = []
  let compared = 0
  for (const planned of market.pools) {
    const pool = pools.find(({ id }) => id === (planned.id ?? planned.address))
    if (pool === undefined || planned.prices.includes('levy')) continue
    for (const back of [false, true])
      for (const digits of [0, 2, 4]) {
        const amountIn = 10n ** BigInt(Math.max(0, (planned.decimals[back ? 1 : 0] ?? 18) - 2 + digits))
        const { expected, paid } = await paidOnChain(network, market, pool, back, amountIn)
        if (expected !== null) compared++
        if (expected !== null && expected !== paid)
          wrong.push([planned.kind, planned.prices, planned.feePpm, back, amountIn, expected, paid])
      }
  }
  await sandbox.post('/mining', { network, paused: false })
  expect(wrong).toEqual([])
  expect(compared).toBeGreaterThan(market.pools.length * 4)
})

test('the router thread quotes on all networks', async () => {
  const metrics = createMetrics({ defaults: false })
  const router = startRouter({
    environment: 'sandbox',
    networks: routing,
    database: testDatabase.database,
    pauses: () => new Set(),
    onDepth: () => undefined,
    log,
    metrics,
  })
  try {
    await until('all networks are read', () => names.every((network) => router.state(network) !== null))
    for (const { dexNetwork } of routing) {
      const { network, wrapped, stablecoin = '' } = dexNetwork
      const order = { network, tokenIn: wrapped, tokenOut: stablecoin.toLowerCase(), amountIn: 10n ** 20n }
      const quote = await router.route(order)
      expect(quote.amountOut, network).toBeGreaterThan(quote.middleOut / 2n)
      expect(router.liquidity(network).get(stablecoin.toLowerCase()) ?? 0, network).toBeGreaterThan(10_000)
    }
    expect(await metrics.render()).toMatch(/swapyard_pools_behind_blocks\{network="eth"\} \d/)
  } finally {
    await router.stop()
  }
})
