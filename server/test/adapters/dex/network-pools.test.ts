import { RpcError } from '@swapyard/lib/json-rpc.ts'
import fc from 'fast-check'
import { type Hex, toEventSelector, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seed } from '../../../../test/support/seed.ts'
import type { NetworkPoolsOptions } from '../../../src/adapters/dex/sync-context.ts'
import type { PoolSnapshot, PoolSnapshots, PoolSource } from '../../../src/swap/ports/pools.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { startFaultyNode } from '../chains/evm/faulty-node.ts'
import { startVenueCluster, type VenueCluster } from './venue-cluster.ts'
import type { Venues } from './venues.ts'

/*
 * Uniswap's published contracts on a real node with random swaps and liquidity changes: compares our state with the contracts after
 * each block, and our quotes with Uniswap's quoters.
 */

const BLOCKS = 24
/** Error code of `eth_call`. */
const EXECUTION_REVERTED = 3
const DEADLINE = 2n ** 40n
const LIMITS = [4295128740n, 1461446703485210103287273052203988822378723970341n] as const
const BOUNDS = [-1_200, -600, -120, 0, 60, 600, 1_200, 6_000]

/** The value for a call that the contract reverted; any other error passes through. */
const orIfReverted =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof RpcError && error.code === EXECUTION_REVERTED) return value
    throw error
  }

let cluster: VenueCluster
let venues: Venues
beforeAll(async () => {
  cluster = await startVenueCluster()
  venues = cluster.venues
})
afterAll(() => cluster?.stop())

const createSource = (clock = { ms: Date.now() }, more: Partial<NetworkPoolsOptions> = {}): PoolSource =>
  cluster.createSource({
    now: () => clock.ms,
    ...more,
    settings: { compareEveryBlocks: 1, comparePools: 3, snapshotEveryMs: 60_000, ...more.settings },
  })
const nothing: PoolSnapshots = { load: async () => null, save: async () => undefined }

async function current(source: PoolSource) {
  const { number, hash } = await venues.anvil.request<{ number: Hex; hash: Hex }>('eth_getBlockByNumber', [
    'latest',
    false,
  ])
  for (let turns = 0; turns < 20; turns++) {
    await source.advance()
    const at = source.current()
    if (at?.block.hash === hash) return at
  }
  throw new Error(`the pools did not reach block ${Number(number)}`)
}

const keyOf = (token0: Hex, token1: Hex, fee: number, spacing: number) => ({
  currency0: token0,
  currency1: token1,
  fee,
  tickSpacing: spacing,
  hooks: zeroAddress,
})
const pairs = () => {
  const [a, b, c, d] = venues.tokens as readonly [Hex, Hex, Hex, Hex]
  const other = venues.address.weth.toLowerCase() === b ? c : b
  return {
    v2: [
      [a, b],
      [b, c],
    ],
    v3: [
      [a, b],
      [c, d],
    ],
    v4: [
      [zeroAddress, other],
      [a, d],
    ],
  } as const
}
const SQRT_ONE = 2n ** 96n

async function makePools(): Promise<void> {
  const { act, me } = venues
  const { v2, v3, v4 } = pairs()
  for (const [a, b] of v2)
    await act('v2Router', 'addLiquidity', [a, b, 10n ** 21n, 3n * 10n ** 21n, 0n, 0n, me, DEADLINE])
  for (const [a, b] of v3) await act('positions', 'createAndInitializePoolIfNecessary', [a, b, 3_000, SQRT_ONE])
  for (const [a, b] of v4) await act('v4Core', 'initialize', [keyOf(a, b, 3_000, 60), SQRT_ONE])
  await venues.mine()
  for (const [a, b] of v3) await act('positions', 'mint', [mintOf(a, b, -6_000, 6_000, 10n ** 21n)])
  for (const [a, b] of v4)
    await act(
      'v4Liquidity',
      'modifyLiquidity',
      [keyOf(a, b, 3_000, 60), positionOf(-6_000, 6_000, 10n ** 21n), '0x'],
      a === zeroAddress ? 10n ** 22n : 0n,
    )
  await venues.mine()
}
const mintOf = (token0: Hex, token1: Hex, tickLower: number, tickUpper: number, amount: bigint) => ({
  token0,
  token1,
  fee: 3_000,
  tickLower,
  tickUpper,
  amount0Desired: amount,
  amount1Desired: amount,
  amount0Min: 0n,
  amount1Min: 0n,
  recipient: venues.me,
  deadline: DEADLINE,
})
const positionOf = (tickLower: number, tickUpper: number, liquidityDelta: bigint) => ({
  tickLower,
  tickUpper,
  liquidityDelta,
  salt: `0x${'0'.repeat(64)}`,
})

type Act = Readonly<{
  what: number
  pool: number
  back: boolean
  amount: bigint
  bounds: readonly number[]
  part: number
}>
const acts: fc.Arbitrary<Act> = fc.record({
  what: fc.integer({ min: 0, max: 7 }),
  pool: fc.integer({ min: 0, max: 1 }),
  back: fc.boolean(),
  amount: fc.bigInt({ min: 1n, max: 10n ** 20n }),
  bounds: fc.subarray(BOUNDS, { minLength: 2, maxLength: 2 }),
  part: fc.integer({ min: 1, max: 4 }),
})

const minted: { id: bigint }[] = []
const placed: { pool: number; lower: number; upper: number; liquidity: bigint }[] = []

async function perform({ what, pool, back, amount, bounds, part }: Act): Promise<void> {
  const { act, me } = venues
  const { v2, v3, v4 } = pairs()
  const [lower, upper] = bounds as readonly [number, number]
  const turned = <T>([x, y]: readonly [T, T]) => (back ? [y, x] : [x, y]) as [T, T]
  if (what === 0)
    await act('v2Router', 'swapExactTokensForTokens', [
      amount,
      0n,
      turned(v2[pool] as readonly [Hex, Hex]),
      me,
      DEADLINE,
    ])
  if (what === 1)
    await act('v2Router', 'addLiquidity', [
      ...(v2[pool] as readonly [Hex, Hex]),
      amount,
      amount * 9n,
      0n,
      0n,
      me,
      DEADLINE,
    ])
  if (what === 2 || what === 3) {
    const [tokenIn, tokenOut] = turned(v3[pool] as readonly [Hex, Hex])
    await act('v3Router', 'exactInputSingle', [
      {
        tokenIn,
        tokenOut,
        fee: 3_000,
        recipient: me,
        deadline: DEADLINE,
        amountIn: amount,
        amountOutMinimum: 0n,
        sqrtPriceLimitX96: 0n,
      },
    ])
  }
  if (what === 4) {
    const [a, b] = v3[pool] as readonly [Hex, Hex]
    await act('positions', 'mint', [mintOf(a, b, lower, upper, amount)])
    minted.push({ id: BigInt(minted.length + 3) })
  }
  if (what === 5 && minted.length > 0) {
    const { id } = minted[Number(amount) % minted.length] as { id: bigint }
    const [, , , , , , , liquidity] = await venues
      .read<readonly bigint[]>(venues.address.positions, 'positions', 'positions', [id])
      .catch(orIfReverted([0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n]))
    await act('positions', 'decreaseLiquidity', [
      { tokenId: id, liquidity: (liquidity ?? 0n) / BigInt(part), amount0Min: 0n, amount1Min: 0n, deadline: DEADLINE },
    ])
  }
  const [c0, c1] = v4[pool] as readonly [Hex, Hex]
  const key = keyOf(c0, c1, 3_000, 60)
  const value = c0 === zeroAddress ? 10n ** 22n : 0n
  if (what === 6) {
    const params = { zeroForOne: !back, amountSpecified: -amount, sqrtPriceLimitX96: LIMITS[back ? 1 : 0] }
    await act('v4Swap', 'swap', [key, params, { takeClaims: false, settleUsingBurn: false }, '0x'], value)
  }
  if (what === 7) {
    const old = placed[0]
    if (back && old?.pool === pool) {
      placed.shift()
      await act('v4Liquidity', 'modifyLiquidity', [key, positionOf(old.lower, old.upper, -old.liquidity), '0x'], value)
    } else {
      placed.push({ pool, lower, upper, liquidity: amount })
      await act('v4Liquidity', 'modifyLiquidity', [key, positionOf(lower, upper, amount), '0x'], value)
    }
  }
}

/** Compares every pool with its contract. */
async function compareStates(pools: readonly Pool[]): Promise<void> {
  const { read, address } = venues
  for (const pool of pools) {
    if (pool.kind === 'uniswap-v2') {
      const reserves = await read<readonly bigint[]>(pool.address as Hex, 'v2Pair', 'getReserves')
      expect(pool.reserves).toEqual(reserves.slice(0, 2))
    } else if (pool.kind === 'uniswap-v3' || pool.kind === 'uniswap-v4') {
      const isV3 = pool.kind === 'uniswap-v3'
      const ask = <T>(name: string, args: readonly unknown[] = []) =>
        isV3
          ? read<T>(pool.address as Hex, 'v3Pool', name, args)
          : read<T>(address.stateView, 'stateView', name, [pool.id, ...args])
      const [sqrtPrice, tick] = await ask<readonly [bigint, number]>(isV3 ? 'slot0' : 'getSlot0')
      const liquidity = await ask<bigint>(isV3 ? 'liquidity' : 'getLiquidity')
      expect({ sqrtPrice: pool.sqrtPrice, tick: pool.tick, liquidity: pool.liquidity }).toEqual({
        sqrtPrice,
        tick,
        liquidity,
      })
      const ticks: { index: number; gross: bigint; net: bigint }[] = []
      for (const index of [...BOUNDS, -6_000].sort((a, b) => a - b)) {
        const [gross, net] = await ask<readonly [bigint, bigint]>(isV3 ? 'ticks' : 'getTickInfo', [index])
        if (gross > 0n) ticks.push({ index, gross, net })
      }
      expect(pool.ticks).toEqual(ticks)
    }
  }
}

/** Compares the output of a single pool by our route search and by Uniswap's quoters. */
async function compareQuotes(pools: readonly Pool[], amountIn: bigint): Promise<number> {
  const { read, address } = venues
  let compared = 0
  for (const pool of pools) {
    const [source, target] = pool.tokens as readonly [Hex, Hex]
    const options = { hopsMax: 1, swapsMax: 1, gasPrice: 0, isOver: () => false }
    const ours = bestRoute(createPoolMarket([pool]), { source, target, amountIn }, options)?.amountOut ?? null
    const theirs = await (pool.kind === 'uniswap-v2'
      ? read<readonly bigint[]>(address.v2Router, 'v2Router', 'getAmountsOut', [amountIn, [source, target]]).then(
          (amounts) => amounts[1],
        )
      : pool.kind === 'uniswap-v3'
        ? read<readonly bigint[]>(address.quoter, 'quoter', 'quoteExactInputSingle', [
            { tokenIn: source, tokenOut: target, amountIn, fee: 3_000, sqrtPriceLimitX96: 0n },
          ]).then(([out]) => out)
        : read<readonly bigint[]>(address.v4Quoter, 'v4Quoter', 'quoteExactInputSingle', [
            {
              poolKey: keyOf(pool.native ? zeroAddress : source, target, 3_000, 60),
              zeroForOne: true,
              exactAmount: amountIn,
              hookData: '0x',
            },
          ]).then(([out]) => out)
    ).catch(orIfReverted(null))
    // Beyond the liquidity the quoters fill partially or fail; we return no route.
    if (ours === null) continue
    expect([pool.kind, ours]).toEqual([pool.kind, theirs])
    compared++
  }
  return compared
}

describe('the pools of a network', () => {
  test('are found, updated in every block, rolled back after a reorg and restored after a restart', async () => {
    const clock = { ms: Date.now() }
    const source = createSource(clock)
    await current(source)
    expect(source.current()?.pools).toEqual([])
    // Created while the source runs.
    await makePools()
    expect((await current(source)).pools.length).toBe(6)
    const plan = fc.sample(fc.array(acts, { minLength: 1, maxLength: 4 }), { seed, numRuns: BLOCKS })
    let quotes = 0
    for (const [index, block] of plan.entries()) {
      for (const act of block) await perform(act)
      await venues.mine()
      const { pools } = await current(source)
      await compareStates(pools)
      quotes += await compareQuotes(pools, block[0]?.amount ?? 1n)
      if (index === BLOCKS / 2) {
        await venues.anvil.request('anvil_reorg', [3, []])
        await compareStates((await current(source)).pools)
      }
    }
    expect(quotes).toBeGreaterThan(BLOCKS * 3)
    expect(source.counts()).toMatchObject({ reorgs: 1, differences: 0, rereads: 1 })

    clock.ms += 120_000
    await venues.mine()
    const before = await current(source)
    for (const block of plan.slice(0, 4)) for (const act of block) await perform(act)
    await venues.mine()
    await venues.anvil.mine(30)
    const restarted = createSource()
    const after = await current(restarted)
    expect(restarted.counts().rereads).toBe(0)
    expect(after.pools.map(({ id }) => id).sort()).toEqual(before.pools.map(({ id }) => id).sort())
    await compareStates(after.pools)

    // A log scan without a snapshot gives the same pools.
    await cluster.testDatabase.database.query('delete from pool_snapshots')
    const fresh = createSource()
    const scanned = await current(fresh)
    expect(scanned.pools.length).toBe(6)
    await compareStates(scanned.pools)
  })

  test('are looked up by pairs without a log scan, and by token on request', async () => {
    const { dexes, connectors } = cluster.dexNetwork
    const unscanned = dexes.map(({ deployedAt: _, ...dex }) => dex)
    const whole = createSource(undefined, {
      dexNetwork: { ...cluster.dexNetwork, dexes: unscanned },
      snapshots: nothing,
    })
    const scanned = createSource(undefined, { snapshots: nothing })
    const byId = (pools: readonly Pool[]) => [...pools].sort((a, b) => (a.id < b.id ? -1 : 1))
    const all = byId((await current(scanned)).pools)
    expect(byId((await current(whole)).pools)).toEqual(all)
    expect(all.length).toBe(6)

    const [a = '', ...others] = connectors
    const narrow = { ...cluster.dexNetwork, dexes: unscanned, connectors: [a] }
    const source = createSource(undefined, { dexNetwork: narrow, snapshots: nothing })
    const before = (await current(source)).pools.length
    for (const token of others) source.request(token)
    const connected = [a.toLowerCase(), venues.address.weth]
    // Random swaps may move the price out of all positions. Such a pool has no liquidity.
    const isWorthless = (pool: Pool) => 'liquidity' in pool && pool.liquidity === 0n
    const expected = all.filter(
      (pool) => !isWorthless(pool) && pool.tokens.some((token) => connected.includes(token as Hex)),
    )
    expect(before).toBeLessThan(expected.length)
    expect(byId((await current(source)).pools)).toEqual(expected)
    // Added pools are updated like the others, and a rollback does not assume their earlier state.
    for (const act of fc.sample(acts, { seed: 7, numRuns: 12 })) await perform(act)
    await venues.mine()
    await compareStates((await current(source)).pools)
    await venues.anvil.request('anvil_reorg', [1, []])
    await compareStates((await current(source)).pools)
    expect(source.counts()).toMatchObject({ reorgs: 1, differences: 0, rereads: 1 })
  })

  test('ignore logs of other contracts', async () => {
    const source = createSource(undefined, { snapshots: nothing })
    const { pools } = await current(source)
    const v4 = pools.find(({ kind }) => kind === 'uniswap-v4')
    const swap = toEventSelector('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)')
    const word = (value: bigint) => value.toString(16).padStart(64, '0')
    await venues.forge(
      [swap, v4?.id as Hex, `0x${word(1n)}`],
      `0x${[1n, 1n, SQRT_ONE * 9n, 1n, 43_944n, 3_000n].map(word).join('')}`,
    )
    const height = await venues.mine()
    const receipts = await venues.anvil.request<{ address: Hex; topics: Hex[] }[]>('eth_getLogs', [
      { fromBlock: `0x${height.toString(16)}`, toBlock: `0x${height.toString(16)}` },
    ])
    expect(receipts[0]?.topics.slice(0, 2)).toEqual([swap, v4?.id])
    expect((await current(source)).pools).toEqual(pools)
    await compareStates((await current(source)).pools)
  })

  test('are not updated from a chain that has stopped', async () => {
    await venues.mine()
    const clock = { ms: Date.now() + 1_000 }
    const source = createSource(clock, { snapshots: nothing, settings: { headAgeMaxMs: 60_000 } })
    const { readAtMs } = await current(source)
    clock.ms += 61_000
    await expect(source.advance()).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    expect(source.current()?.readAtMs).toBe(readAtMs)
  })

  test('are limited to poolsMax', async () => {
    const source = createSource(undefined, { snapshots: nothing, settings: { poolsMax: 3 } })
    const pools = (await current(source)).pools
    expect(pools.length).toBe(3)
    await compareStates(pools)
  })

  test('return by a lookup of their tokens if they were dropped, though their factory cannot be asked for them', async () => {
    // No lookup by pair asks Uniswap V4 for this fee.
    const [, token] = pairs().v4[0]
    const key = keyOf(zeroAddress, token, 777, 60)
    await venues.act('v4Core', 'initialize', [key, SQRT_ONE])
    await venues.mine()
    const deposit = [key, positionOf(-6_000, 6_000, 10n ** 18n), '0x']
    await venues.act('v4Liquidity', 'modifyLiquidity', deposit, 10n ** 19n)
    await venues.mine()
    const all = (await current(createSource(undefined, { snapshots: nothing }))).pools
    const unusual = all.filter((pool) => pool.kind === 'uniswap-v4' && pool.lpFeePpm === 777)
    expect(unusual).toHaveLength(1)
    const others = all.filter((pool) => !unusual.includes(pool))

    const source = createSource(undefined, { snapshots: nothing, settings: { poolsMax: 1 } })
    expect((await current(source)).pools.every(({ id }) => others.some((other) => other.id === id))).toBe(true)
    source.pause(others.map(({ id }) => `pool:${id}@eth`))
    source.request(token)
    await source.advance()
    expect((await current(source)).pools.map(({ id }) => id)).toEqual(unusual.map(({ id }) => id))
  })

  test('D6: a restart remembers the depth of the day before, also if a DEX can no longer be read or a block left', async () => {
    const clock = { ms: Date.now() }
    const stored: PoolSnapshot[] = []
    const snapshots: PoolSnapshots = {
      load: async () => stored.at(-1) ?? null,
      save: async (snapshot) => void stored.push(snapshot),
    }
    const settings = { snapshotEveryMs: 0 }
    const source = createSource(clock, { snapshots, settings })
    await current(source)
    const { units: wei } = source.depth()
    expect(wei).toBeGreaterThan(0)
    await venues.mine()
    await current(source)
    const HOUR_MS = 3_600_000
    clock.ms += 20 * HOUR_MS
    const { dexes, ...network } = cluster.dexNetwork
    const narrow = { ...network, dexes: dexes.filter(({ kind }) => kind !== 'uniswap-v2') }
    const restarted = createSource(clock, {
      snapshots: { ...snapshots, save: async () => undefined },
      dexNetwork: narrow,
    })
    await current(restarted)
    expect(restarted.depth().maximumUnits).toBe(wei)
    expect(restarted.depth().units).toBeLessThan(wei)
    // The block of the snapshot leaves the chain.
    await venues.anvil.request('anvil_reorg', [2, []])
    const reread = createSource(clock, { snapshots: { ...snapshots, save: async () => undefined } })
    await current(reread)
    expect(reread.counts().rereads).toBe(1)
    expect(reread.depth().maximumUnits).toBeGreaterThanOrEqual(wei)
    clock.ms += 5 * HOUR_MS
    expect(restarted.depth().maximumUnits).toBeLessThan(wei)
  })

  test('D5: are compared with the next node, and dropped where the nodes contradict each other', async () => {
    const honest = createSource(undefined, { snapshots: nothing })
    const { pools } = await current(honest)
    const pair = pools.find(({ kind }) => kind === 'uniswap-v2')
    if (pair?.kind !== 'uniswap-v2') throw new Error('there is no pair')
    const word = (value: bigint) => value.toString(16).padStart(64, '0')
    const liar = await startFaultyNode(venues.anvil.url)
    // This node says that one pair holds a fifth less.
    liar.set(async ({ method }, forward) => {
      if (method !== 'eth_call') return undefined
      const answer = await forward()
      if (typeof answer !== 'string') return undefined
      const [real] = pair.reserves
      return { result: answer.replaceAll(word(real), word((real * 4n) / 5n)) }
    })
    const settings = { comparePools: pools.length }
    for (const rpcUrls of [
      [liar.url, venues.anvil.url],
      [venues.anvil.url, liar.url],
    ]) {
      const source = createSource(undefined, { snapshots: nothing, rpcUrls, settings })
      const left = await untilCompared(source)
      expect(left.map(({ id }) => id).sort()).toEqual(pools.flatMap(({ id }) => (id === pair.id ? [] : [id])).sort())
      expect(source.counts().differences).toBe(1)
    }
    // A node that does not answer contradicts nothing.
    liar.set(() => ({ status: 500 }))
    const source = createSource(undefined, { snapshots: nothing, rpcUrls: [venues.anvil.url, liar.url], settings })
    expect(await untilCompared(source)).toHaveLength(pools.length)
    expect(source.counts().differences).toBe(0)
    await liar.stop()
  })

  /** The pools after the maintenance that follows their first block. */
  async function untilCompared(source: PoolSource): Promise<readonly Pool[]> {
    await current(source)
    await source.advance()
    return (await current(source)).pools
  }
})
