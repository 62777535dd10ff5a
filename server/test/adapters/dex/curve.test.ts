import fc from 'fast-check'
import { type Abi, getContractAddress, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seed } from '../../../../test/support/seed.ts'
import type { Dex } from '../../../src/swap/domain/dex.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import type { CurveStablePool } from '../../../src/swap/routing/pools/curve-stable.ts'
import type { Compiled } from '../chains/evm/compile.ts'
import { type OwnChain, poolContracts, startOwnChain } from './own-pools.ts'

/*
 * Pools and factories with Curve's interfaces and events on a real node: compares our state with theirs after each block, and the
 * output of our router with our computation.
 */

const BLOCKS = 20
const DAY_S = 86_400n
const IMPLEMENTATION = `0x${'1'.repeat(40)}`

let chain: OwnChain
let made: Readonly<Record<string, Compiled>>
let poolAbi: Abi
let ng: Hex
let old: Hex
let listing: Hex
let dexes: readonly Dex[]

beforeAll(async () => {
  ;[chain, made] = await Promise.all([startOwnChain([18, 6, 18, 8]), poolContracts('CurveFactory')])
  const { abi } = (await poolContracts('CurvePool'))['CurvePool'] as Compiled
  // Remove the `exchange` overload with uint256.
  poolAbi = abi.filter(
    (item) => !('inputs' in item && item.inputs?.[0]?.type === 'uint256' && item.inputs.length === 4),
  )
  ng = await chain.deploy(made['CurveFactory'] as Compiled)
  old = await chain.deploy(made['CurveOldFactory'] as Compiled)
  listing = await chain.deploy(made['CurveListing'] as Compiled)
  const listed = [getContractAddress({ from: listing, nonce: 1n })]
  dexes = [
    { name: 'ng', kind: 'curve-stable', factory: ng, deployedAt: 0 },
    {
      name: 'old',
      kind: 'curve-stable',
      factory: old,
      implementations: [IMPLEMENTATION.toUpperCase().replace('X', 'x')],
      deployedAt: 0,
    },
    { name: 'listed', kind: 'curve-stable', factory: listing, pools: listed, deployedAt: 0 },
  ]
})
afterAll(() => chain?.anvil.stop())

const abiOf = (name: string) => (made[name] as Compiled).abi

/** Creates a pool and returns its address. */
async function create(factory: Hex, args: readonly unknown[]): Promise<Hex> {
  const abi = abiOf(factory === ng ? 'CurveFactory' : factory === old ? 'CurveOldFactory' : 'CurveListing')
  await chain.act(factory, abi, 'deploy', args)
  await chain.anvil.mine()
  const count = await chain.read<bigint>(factory, abi, 'pool_count')
  const pool = (await chain.read<Hex>(factory, abi, 'pool_list', [count - 1n])).toLowerCase() as Hex
  await chain.approve(pool)
  return pool
}

const fill = async (pool: Hex, coins: readonly Hex[], whole: bigint) =>
  chain.act(pool, poolAbi, 'add_liquidity', [
    coins.map((coin, place) => (whole + BigInt(place) * 1_000n) * 10n ** BigInt(chain.decimalsOf(coin))),
  ])

const plain = (count: number) => Array.from({ length: count }, () => 0)
const pools: Hex[] = []

async function makePools(): Promise<void> {
  const [a, b, c, d] = chain.tokens as readonly [Hex, Hex, Hex, Hex]
  const fee = 4_000_000n
  const plans: [Hex, readonly Hex[], bigint, readonly unknown[]][] = [
    [ng, [a, b], 100_000n, [200n, fee, 20n * 10n ** 9n, plain(2)]],
    [ng, [b, c, d, a], 20_000n, [1_500n, fee, 50n * 10n ** 9n, plain(4)]],
    [ng, [b, a], 5_000n, [30n, fee, 0n, plain(2)]],
    [old, [c, d], 70_000n, [400n, fee, IMPLEMENTATION]],
    [old, [a, c, d], 30_000n, [90n, fee, IMPLEMENTATION]],
    [listing, [b, d, a], 40_000n, [2_000n, fee]],
  ]
  for (const [factory, coins, whole, rest] of plans) {
    const pool = await create(factory, [coins, ...rest])
    await fill(pool, coins, whole)
    pools.push(pool)
  }
  // Listed by the registry, but not in our file.
  await fill(await create(listing, [[a, b], 100n, fee]), [a, b], 9_000n)
  await chain.anvil.mine()
}

/** Unsupported pools: rebasing coins, external rates, metapools, and an unknown implementation. */
async function makeUnsupportedPools(): Promise<void> {
  const [a, b] = chain.tokens as readonly [Hex, Hex]
  for (const type of [1, 2, 3]) await fill(await create(ng, [[a, b], 100n, 4n, 0n, [0, type]]), [a, b], 9_000n)
  const meta = await create(ng, [[a, b], 100n, 4n, 0n, plain(2)])
  await chain.act(ng, abiOf('CurveFactory'), 'setMeta', [meta, true])
  await fill(meta, [a, b], 9_000n)
  await fill(await create(old, [[a, b], 100n, 4n, `0x${'2'.repeat(40)}`]), [a, b], 9_000n)
  await chain.anvil.mine()
}

const curves = (livePools: readonly Pool[]): readonly CurveStablePool[] =>
  [...livePools]
    .sort((x, y) => pools.indexOf(x.id as Hex) - pools.indexOf(y.id as Hex))
    .flatMap((pool) => (pool.kind === 'curve-stable' ? [pool] : []))

/** Compares every pool with its contract. */
async function compareStates(livePools: readonly Pool[]): Promise<void> {
  const { read } = chain
  expect(curves(livePools).map(({ id }) => id)).toEqual(pools)
  for (const pool of curves(livePools)) {
    const to = pool.address as Hex
    const isNg = pool.dex === 'ng'
    const coins = await Promise.all(pool.tokens.map((_, place) => read<Hex>(to, poolAbi, 'coins', [BigInt(place)])))
    const held = await Promise.all(coins.map((_, place) => read<bigint>(to, poolAbi, 'balances', [BigInt(place)])))
    expect(pool).toMatchObject({
      tokens: coins.map((coin) => coin.toLowerCase()),
      balances: held,
      rates: coins.map((coin) => 10n ** BigInt(36 - chain.decimalsOf(coin.toLowerCase()))),
      amp: await read<bigint>(to, poolAbi, pool.dex === 'listed' ? 'A' : 'A_precise'),
      ampPrecision: pool.dex === 'listed' ? 1n : 100n,
      fee: await read<bigint>(to, poolAbi, 'fee'),
      offPegFee: isNg ? await read<bigint>(to, poolAbi, 'offpeg_fee_multiplier') : null,
    })
  }
}

async function compareQuotes(livePools: readonly Pool[], share: bigint): Promise<number> {
  let compared = 0
  for (const pool of curves(livePools))
    for (const tokenIn of pool.tokens.keys()) {
      const tokenOut = (tokenIn + 1) % pool.tokens.length
      const amountIn = ((pool.balances[tokenIn] ?? 0n) * share) / 1_000_000n + 1n
      if (await chain.compareQuote(pool, tokenIn, tokenOut, amountIn)) compared++
    }
  return compared
}

type Act = Readonly<{ what: number; pool: number; from: number; step: number; share: bigint }>
const acts: fc.Arbitrary<Act> = fc.record({
  what: fc.integer({ min: 0, max: 7 }),
  pool: fc.integer({ min: 0, max: 5 }),
  from: fc.integer({ min: 0, max: 3 }),
  step: fc.integer({ min: 1, max: 3 }),
  share: fc.bigInt({ min: 1n, max: 400_000n }),
})

async function perform(
  { what, pool: place, from, step, share }: Act,
  livePools: readonly CurveStablePool[],
): Promise<void> {
  const pool = livePools[place] as CurveStablePool
  const to = pool.address as Hex
  const count = pool.tokens.length
  const [i, j] = [from % count, (from + step) % count]
  const part = ((pool.balances[i] ?? 0n) * share) / 1_000_000n + 1n
  const act = (name: string, args: readonly unknown[]) => chain.act(to, poolAbi, name, args)
  if (what <= 3 && i !== j) await act('exchange', [BigInt(i), BigInt(j), part, 0n])
  if (what === 4) await act('add_liquidity', [pool.balances.map((balance, at) => (at === i ? part : balance / 100n))])
  if (what === 5 && pool.dex === 'ng') await act('remove_liquidity', [share * 10n ** 15n])
  if (what === 6) await act('set_new_fee', [share * 100n, share * 10n ** 5n])
  if (what === 7) {
    const now = BigInt((await chain.newest()).timestamp)
    await act('ramp_A', [share / 500n + 10n, now + DAY_S])
  }
}

describe("curve's plain pools", () => {
  test('are found, updated in every block and rolled back after a reorg', async () => {
    const { anvil, createSource, current } = chain
    const source = createSource(dexes)
    expect((await current(source)).pools).toEqual([])
    await makeUnsupportedPools()
    await makePools()
    await compareStates((await current(source)).pools)
    expect(curves((await current(source)).pools).map(({ invariant }) => invariant)).toEqual([
      ...['at-once', 'at-once', 'at-once', 'at-once', 'stepwise', 'stepwise'],
    ])

    const drawn = fc.sample(fc.array(acts, { minLength: 1, maxLength: 4 }), { seed, numRuns: BLOCKS })
    const plan: Act[][] = [[{ what: 7, pool: 1, from: 0, step: 1, share: 100_000n }], ...drawn]
    let quotes = 0
    let ramping = 0
    for (const [index, block] of plan.entries()) {
      const livePools = curves((await current(source)).pools)
      for (const act of block) await perform(act, livePools)
      await anvil.request('evm_increaseTime', [3_600])
      await anvil.mine()
      const { pools: after } = await current(source)
      await compareStates(after)
      quotes += await compareQuotes(after, block[0]?.share ?? 1n)
      ramping += curves(after).filter(({ amp }, place) => amp !== livePools[place]?.amp).length
      if (index === BLOCKS / 2) {
        await anvil.request('anvil_reorg', [3, []])
        await compareStates((await current(source)).pools)
      }
    }
    expect(quotes).toBeGreaterThan(BLOCKS * 10)
    expect(ramping).toBeGreaterThan(0)
    expect(source.counts()).toMatchObject({ reorgs: 1, differences: 0, rereads: 1 })
  })

  test('are found by a log scan, and by pairs without one', async () => {
    const { createSource, current } = chain
    await compareStates((await current(createSource(dexes))).pools)
    const unscanned = dexes.map(({ deployedAt: _, ...dex }) => dex)
    await compareStates((await current(createSource(unscanned))).pools)
  })

  test('are idle while they contradict our maths', async () => {
    const { anvil, act, createSource, current } = chain
    // End every ramp of A, so that the state does not depend on the block.
    await anvil.request('evm_increaseTime', [Number(2n * DAY_S)])
    await anvil.mine()
    const source = createSource(dexes)
    const all = (await current(source)).pools
    for (const place of [0, 3, 5]) {
      await act(pools[place] as Hex, poolAbi, 'setSkew', [1n])
      await anvil.mine()
      expect(curves((await current(source)).pools)).toEqual(curves(all).filter(({ id }) => id !== pools[place]))
      await act(pools[place] as Hex, poolAbi, 'setSkew', [0n])
      await anvil.mine()
      expect(curves((await current(source)).pools)).toEqual(curves(all))
    }
  })

  test('pay the computed output through our router', async () => {
    const { createSource, current, trade } = chain
    const source = createSource(dexes)
    for (const place of pools.keys()) {
      const pool = curves((await current(source)).pools)[place] as CurveStablePool
      const { expected, received } = await trade(pool, 1, 0, (pool.balances[1] ?? 0n) / 50n)
      expect(expected).not.toBeNull()
      expect(received).toBe(expected)
    }
  })

  test('with external rates are read in every block if listed, and excluded otherwise', async () => {
    const { anvil, tokens, decimalsOf, createSource, current, act, read, compareQuote, trade } = chain
    const [a, b, c] = tokens as readonly [Hex, Hex, Hex]
    const made: Hex[] = []
    for (const [coins, types] of [
      [
        [a, b],
        [1, 0],
      ],
      [
        [b, c, a],
        [0, 3, 1],
      ],
      [
        [a, c],
        [2, 0],
      ],
      [
        [a, b],
        [1, 0],
      ],
    ] as const) {
      const pool = await create(ng, [coins, 200n, 4_000_000n, 20n * 10n ** 9n, types])
      await fill(pool, coins, 50_000n)
      made.push(pool)
    }
    await anvil.mine()
    const [oracle, vault, rebasing] = made as [Hex, Hex, Hex]
    const rated = [oracle.toUpperCase().replace('X', 'x'), vault, rebasing]
    const source = createSource(dexes.map((dex) => (dex.name === 'ng' ? { ...dex, rated } : dex)))
    const listed = async () =>
      (await current(source)).pools.filter(({ id }) => made.includes(id as Hex)) as CurveStablePool[]
    const byId = (list: readonly CurveStablePool[]) => list.map(({ id }) => id).sort()
    expect(byId(await listed())).toEqual([oracle, vault].sort())
    expect((await current(createSource(dexes))).pools.filter(({ id }) => made.includes(id as Hex))).toEqual([])

    const one = (coin: Hex) => 10n ** BigInt(36 - decimalsOf(coin))
    for (let n = 0n; n < 6n; n++) {
      // The oracle rate jumps in both directions; the vault gains value every second from the third block on.
      await act(oracle, poolAbi, 'setRate', [0n, one(a) + (one(a) * (n % 2n === 0n ? n + 1n : -n)) / 200n, 0n])
      if (n === 2n) await act(vault, poolAbi, 'setRate', [1n, one(c) + 7n, one(c) / 10n ** 9n])
      await anvil.request('evm_increaseTime', [600])
      await anvil.mine()
      const now = await listed()
      expect(now).toHaveLength(2)
      for (const pool of now) {
        expect(pool.rates).toEqual(await read(pool.address as Hex, poolAbi, 'stored_rates'))
        for (const [i, j] of [
          [0, 1],
          [1, 0],
        ] as const)
          expect(await compareQuote(pool, i, j, (pool.balances[i] ?? 0n) / 700n)).toBe(true)
      }
      if (n === 3n) {
        await anvil.request('anvil_reorg', [2, []])
        for (const pool of await listed())
          expect(pool.rates).toEqual(await read(pool.address as Hex, poolAbi, 'stored_rates'))
      }
    }
    // The oracle is constant until the next block, so the output is exact.
    const pool = (await listed()).find(({ id }) => id === oracle) as CurveStablePool
    const { expected, received } = await trade(pool, 1, 0, (pool.balances[1] ?? 0n) / 50n)
    expect(expected).not.toBeNull()
    expect(received).toBe(expected)
    expect(source.counts()).toMatchObject({ differences: 0 })
  })
})
