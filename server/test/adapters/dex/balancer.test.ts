import fc from 'fast-check'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seed } from '../../../../test/support/seed.ts'
import { networks } from '../../../networks/index.ts'
import { encodeSwap } from '../../../src/adapters/dex/encode-swap.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { PoolSnapshot, PoolSource } from '../../../src/swap/ports/pools.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { type Balancer, ONE, receiptOf, startBalancer, type VenuePool } from './balancer-venue.ts'

/*
 * The published vault of Balancer and stable pools of every version on a real node: compares our state with the contracts after
 * each block, and the output of our router with our computation.
 */

const BLOCKS = 24
const log = createLog({ level: 'warn', pretty: true })
const definition = networks.find(({ id }) => id === 'eth')

let venue: Balancer
let pools: Record<'stable2021' | 'metaStable' | 'stable2022' | 'composable', VenuePool>
let snapshot: PoolSnapshot | null = null
const CACHE_S = 3_000n
const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Hex

beforeAll(async () => {
  venue = await startBalancer()
})
afterAll(() => venue?.anvil.stop())

function createSource(clock: { ms: number } = { ms: 0 }): PoolSource {
  if (!definition) throw new Error('no such network')
  const [wrapped = ''] = venue.tokens
  return createNetworkPools({
    network: resolveNetwork(definition, 'sandbox'),
    rpcUrls: [venue.anvil.url],
    dexNetwork: { network: 'eth', wrapped, connectors: venue.tokens, dexes: venue.dexes },
    tokens: [],
    snapshots: {
      load: async () => snapshot,
      save: async (saved) => {
        snapshot = saved
      },
    },
    log,
    now: () => clock.ms,
    settings: { compareEveryBlocks: 1, comparePools: 5, snapshotEveryMs: 60_000 },
  })
}

async function current(source: PoolSource) {
  const { hash } = await venue.anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
  for (let turns = 0; turns < 20; turns++) {
    await source.advance()
    const at = source.current()
    if (at?.block.hash === hash) return at
  }
  throw new Error('the newest block was not reached')
}

async function makePools(): Promise<void> {
  const { create, tokens, providers, me } = venue
  const fee = 4n * 10n ** 14n
  const [a, b, c, d] = tokens
  pools = {
    stable2021: await create('stable2021', [[a, b, d], 200n, fee, me], 1_000_000n),
    metaStable: await create(
      'metaStable',
      [[a, c], 50n, [providers[0], ZERO_ADDRESS], [CACHE_S, 0n], fee, false, me],
      500_000n,
    ),
    stable2022: await create('stable2022', [[a, b, c, d], 2_000n, fee, me], 2_000_000n),
    composable: await create(
      'composable',
      [
        [b, c, d],
        700n,
        [ZERO_ADDRESS, providers[0], providers[1]],
        [0n, CACHE_S, CACHE_S * 2n],
        [false, false, false],
        fee,
        me,
      ],
      1_500_000n,
    ),
  }
  await create('weighted', [[a, b], [ONE / 4n, (3n * ONE) / 4n], [ZERO_ADDRESS, ZERO_ADDRESS], fee, me], 300_000n)
}

/** Compares every stable pool with its contracts. */
async function compareStates(livePools: readonly Pool[]): Promise<void> {
  const { read, vault } = venue
  for (const one of Object.values(pools)) {
    const pool = livePools.find(({ id }) => id === one.id)
    if (pool === undefined) continue
    if (pool.kind !== 'balancer-stable') throw new Error(`unexpected pool kind ${pool.kind}`)
    const [held, balances] = await read<readonly [readonly Hex[], readonly bigint[]]>(vault, 'getPoolTokens', [one.id])
    const own = held.map((token) => token.toLowerCase() === one.address.toLowerCase())
    const tradable = <T>(list: readonly T[]) => list.filter((_, place) => !own[place])
    const [amp] = await read<readonly [bigint]>(one.address, 'getAmplificationParameter')
    expect(pool).toMatchObject({
      tokens: tradable(held).map((token) => token.toLowerCase()),
      balances: tradable(balances),
      amp,
      swapFee: await read(one.address, 'getSwapFeePercentage'),
    })
    if (one === pools.stable2021) continue
    const scaling = tradable(await read<readonly bigint[]>(one.address, 'getScalingFactors'))
    expect(pool.scales.map(({ factor, rate }) => factor * rate)).toEqual(scaling)
  }
}

/** Our router's call through one pool, and its expected output. */
function callOf(pool: Pool, tokenIn: number, tokenOut: number, amountIn: bigint) {
  const swaps = [{ pool, tokenIn, tokenOut, share: SHARE_ALL }]
  const [source, target] = [pool.tokens[tokenIn] ?? '', pool.tokens[tokenOut] ?? '']
  const expected = executeRoute(swaps, source, target, amountIn).amountOut
  const route = { swaps, source, target, nativeIn: false, nativeOut: false, wrapped: null }
  const reference = `0x${'0'.repeat(64)}` as Hex
  const terms = { amountIn, minOut: 1n, recipient: venue.me, fee: null, reference, deadline: 2n ** 40n }
  return { expected, target: target as Hex, ...encodeSwap(route, terms) }
}

/** Compares the simulated output of our router with our computation, for each direction of each pool. */
async function compareQuotes(livePools: readonly Pool[], share: bigint): Promise<number> {
  let compared = 0
  for (const pool of livePools) {
    if (pool.kind !== 'balancer-stable') continue
    for (const tokenIn of pool.tokens.keys()) {
      const tokenOut = (tokenIn + 1) % pool.tokens.length
      const amountIn = ((pool.balances[tokenIn] ?? 0n) * share) / 1_000_000n + 1n
      const { expected, to, calldata } = callOf(pool, tokenIn, tokenOut, amountIn)
      const paid = await venue.anvil
        .request<Hex>('eth_call', [{ from: venue.me, to, data: calldata, gas: '0x989680' }, 'latest'])
        .then(BigInt)
        .catch((error: Error) => error.message)
      if (expected === null) continue
      expect([pool.dex, pool.tokens.length, amountIn, expected]).toEqual([pool.dex, pool.tokens.length, amountIn, paid])
      compared++
    }
  }
  return compared
}

type Act = Readonly<{ what: number; pool: number; from: number; step: number; share: bigint }>
const acts: fc.Arbitrary<Act> = fc.record({
  what: fc.integer({ min: 0, max: 7 }),
  pool: fc.integer({ min: 0, max: 3 }),
  from: fc.integer({ min: 0, max: 3 }),
  step: fc.integer({ min: 1, max: 3 }),
  share: fc.bigInt({ min: 1n, max: 200_000n }),
})

async function perform({ what, pool: place, from, step, share }: Act): Promise<void> {
  const pool = Object.values(pools)[place] as VenuePool
  const tokens = await venue.tokensOf(pool)
  const [, held] = await venue.read<readonly [unknown, readonly bigint[]]>(venue.vault, 'getPoolTokens', [pool.id])
  // A composable pool holds 2^111 of its own token.
  const least = [...held].sort((x, y) => (x < y ? -1 : 1))[0] ?? 0n
  if (what <= 3) {
    const tokenIn = tokens[from % tokens.length] as Hex
    const tokenOut = tokens[(from + step) % tokens.length] as Hex
    if (tokenIn !== tokenOut) await venue.swap(pool, [tokenIn, tokenOut], (least * share) / 1_000_000n + 1n)
  }
  if (what === 4 || what === 5)
    await venue.join(
      pool,
      tokens.map((_, at) => (least * share * BigInt(at + 1)) / 10_000_000n + 1n),
    )
  if (what === 6) await venue.act(pool.address, 'setSwapFeePercentage', [share * 10n ** 10n + 10n ** 12n])
  if (what === 7) await venue.setRate(from % 2, ONE + share * 10n ** 10n)
}

describe("balancer's stable pools", () => {
  test('are found, updated in every block, rolled back after a reorg and restored after a restart', async () => {
    const source = createSource()
    expect((await current(source)).pools).toEqual([])
    await makePools()
    const initial = await current(source)
    expect(initial.pools.map(({ dex }) => dex).sort()).toEqual([...venue.dexes.map(({ name }) => name)].sort())
    expect(initial.pools.some(({ tokens }) => tokens.includes(pools.composable.address.toLowerCase()))).toBe(false)
    await compareStates(initial.pools)

    const plan = fc.sample(fc.array(acts, { minLength: 1, maxLength: 4 }), { seed, numRuns: BLOCKS })
    let quotes = 0
    let done = 0
    for (const [index, block] of plan.entries()) {
      for (const act of block) await perform(act)
      done += await mineAndCountSuccess()
      const { pools: livePools } = await current(source)
      await compareStates(livePools)
      quotes += await compareQuotes(livePools, block[0]?.share ?? 1n)
      if (index === BLOCKS / 2) {
        await venue.anvil.request('anvil_reorg', [3, []])
        await compareStates((await current(source)).pools)
      }
    }
    expect(quotes).toBeGreaterThan(BLOCKS * 8)
    expect(done).toBeGreaterThan(BLOCKS)
    expect(source.counts()).toMatchObject({ reorgs: 1, differences: 0, rereads: 1 })

    const fresh = (await current(createSourceWithoutSnapshot())).pools
    expect(byId(fresh)).toEqual(byId((await current(source)).pools))
    const saving = createSource({ ms: 120_000 })
    await current(saving)
    // The first run publishes the pools, the next one saves them.
    await saving.advance()
    await perform({ what: 0, pool: 3, from: 0, step: 1, share: 1_000n })
    await venue.anvil.mine()
    const restarted = createSource()
    await compareStates((await current(restarted)).pools)
    expect(restarted.counts().rereads).toBe(0)
  })

  test('are idle while an expired rate differs from its provider, until a swap updates the rate', async () => {
    const { anvil, setRate, swap, tokensOf, read } = venue
    const source = createSourceWithoutSnapshot()
    const has = async (pool: VenuePool) => (await current(source)).pools.some(({ id }) => id === pool.id)
    expect(await has(pools.composable)).toBe(true)
    // Make the cached rates equal the rates of the providers after the random actions.
    for (const place of [0, 1]) await setRate(place, ONE + 7n * 10n ** 15n)
    await anvil.mine()
    for (const token of (await tokensOf(pools.composable)).slice(1))
      await venue.act(pools.composable.address, 'updateTokenRateCache', [token])
    await venue.act(pools.metaStable.address, 'updatePriceRateCache', [(await tokensOf(pools.metaStable))[0]])
    await anvil.mine()
    await compareStates((await current(source)).pools)

    await anvil.request('evm_increaseTime', [Number(CACHE_S) * 3])
    await anvil.mine()
    // The provider returns the cached rate, so an update changes nothing.
    for (const pool of [pools.composable, pools.metaStable]) expect(await has(pool)).toBe(true)
    expect(await compareQuotes((await current(source)).pools, 5_000n)).toBeGreaterThan(8)

    await setRate(0, ONE + 9n * 10n ** 15n)
    await anvil.mine()
    for (const pool of [pools.composable, pools.metaStable]) expect(await has(pool)).toBe(false)
    expect(await has(pools.stable2022)).toBe(true)
    // The reorg removes the new rate.
    await anvil.request('anvil_reorg', [1, []])
    for (const pool of [pools.composable, pools.metaStable]) expect(await has(pool)).toBe(true)
    await setRate(0, ONE + 9n * 10n ** 15n)
    await anvil.mine()
    for (const pool of [pools.composable, pools.metaStable]) expect(await has(pool)).toBe(false)

    for (const pool of [pools.composable, pools.metaStable]) {
      const [first, second] = await tokensOf(pool)
      await swap(pool, [first as Hex, second as Hex], 10n ** 9n)
    }
    await anvil.mine()
    for (const pool of [pools.composable, pools.metaStable]) expect(await has(pool)).toBe(true)
    const { pools: livePools } = await current(source)
    await compareStates(livePools)
    expect(await compareQuotes(livePools, 5_000n)).toBeGreaterThan(8)
    const [, second] = await tokensOf(pools.composable)
    const [rate] = await read<readonly [bigint]>(pools.composable.address, 'getTokenRateCache', [second])
    expect(rate).toBe(ONE + 9n * 10n ** 15n)
    expect(source.counts()).toMatchObject({ reorgs: 1, differences: 0, rereads: 1 })
  })

  test('are read in every block while the amplification changes, and are idle while paused', async () => {
    const { anvil, act, read } = venue
    const source = createSourceWithoutSnapshot()
    await current(source)
    const { timestamp } = await anvil.request<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
    for (const { address } of Object.values(pools)) {
      const [amp] = await read<readonly [bigint]>(address, 'getAmplificationParameter')
      // The change takes at least a day and at most doubles the value.
      await act(address, 'startAmplificationParameterUpdate', [amp / 600n, BigInt(timestamp) + 90_000n])
    }
    expect(await mineAndCountSuccess()).toBe(4)
    const amps = new Set<bigint>()
    for (let hours = 0; hours < 26; hours += 5) {
      await anvil.request('evm_increaseTime', [hours * 60])
      await anvil.mine()
      const { pools: livePools } = await current(source)
      await compareStates(livePools)
      for (const pool of livePools) if (pool.kind === 'balancer-stable') amps.add(pool.amp)
    }
    expect(amps.size).toBeGreaterThan(20)
    for (const { address } of Object.values(pools)) await act(address, 'stopAmplificationParameterUpdate')
    expect(await mineAndCountSuccess()).toBe(4)
    await compareStates((await current(source)).pools)
    expect(await compareQuotes((await current(source)).pools, 5_000n)).toBeGreaterThan(6)

    const { address, id } = pools.composable
    await act(address, 'pause')
    expect(await mineAndCountSuccess()).toBe(1)
    expect((await current(source)).pools.some((one) => one.id === id)).toBe(false)
    await act(address, 'unpause')
    expect(await mineAndCountSuccess()).toBe(1)
    expect((await current(source)).pools.some((one) => one.id === id)).toBe(true)
    expect(source.counts()).toMatchObject({ reorgs: 0, differences: 0, rereads: 1 })
  })

  test('pay exactly the computed output through our router', async () => {
    const { pools: livePools } = await current(createSourceWithoutSnapshot())
    let paid = 0
    for (const pool of livePools) {
      if (pool.kind !== 'balancer-stable') continue
      const { expected, target, to, calldata } = callOf(pool, 0, 1, (pool.balances[0] ?? 0n) / 50n)
      const before = await venue.balanceOf(target)
      const { txHash } = await venue.anvil.sendAndMine({ to, data: calldata, gas: 4_000_000n })
      await receiptOf(venue.anvil, txHash)
      expect([pool.dex, (await venue.balanceOf(target)) - before]).toEqual([pool.dex, expected])
      paid++
    }
    expect(paid).toBe(4)
  })
})

/** Mines and returns the number of successful transactions. */
async function mineAndCountSuccess(): Promise<number> {
  await venue.anvil.mine()
  const block = await venue.anvil.request<{ transactions: Hex[] }>('eth_getBlockByNumber', ['latest', false])
  const receipts = await Promise.all(
    block.transactions.map((hash) => venue.anvil.request<{ status: Hex }>('eth_getTransactionReceipt', [hash])),
  )
  return receipts.filter(({ status }) => status === '0x1').length
}

function createSourceWithoutSnapshot(): PoolSource {
  snapshot = null
  return createSource()
}
const byId = (livePools: readonly Pool[]): Pool[] => [...livePools].sort((a, b) => (a.id < b.id ? -1 : 1))
