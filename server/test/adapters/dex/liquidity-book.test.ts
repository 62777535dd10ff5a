import fc from 'fast-check'
import type { Abi, Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seed } from '../../../../test/support/seed.ts'
import type { Dex } from '../../../src/swap/domain/dex.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import type { LiquidityBookPool } from '../../../src/swap/routing/pools/liquidity-book.ts'
import type { Compiled } from '../chains/evm/compile.ts'
import { type OwnChain, poolContracts, startOwnChain } from './own-pools.ts'

/*
 * Pairs and a factory with the Liquidity Book's interfaces and events on a real node: compares our state with theirs after each
 * block, and the output of our router with our computation.
 */

const BLOCKS = 24
const ONE = 2 ** 23
/** Bins on each side that the test fills, with gaps. */
const FILLED = 12

let chain: OwnChain
let factory: Hex
let factoryAbi: Abi
let pairAbi: Abi
let dexes: readonly Dex[]
const pairs: Hex[] = []

beforeAll(async () => {
  const [started, { LiquidityBookFactory }, { LiquidityBookPool }] = await Promise.all([
    startOwnChain([18, 6, 18]),
    poolContracts('LiquidityBookFactory'),
    poolContracts('LiquidityBookPool'),
  ])
  chain = started
  factoryAbi = (LiquidityBookFactory as Compiled).abi
  pairAbi = (LiquidityBookPool as Compiled).abi
  factory = await chain.deploy(LiquidityBookFactory as Compiled)
  dexes = [{ name: 'book', kind: 'liquidity-book', factory, deployedAt: 0 }]
})
afterAll(() => chain?.anvil.stop())

async function create(x: Hex, y: Hex, activeId: number, step: number): Promise<Hex> {
  await chain.act(factory, factoryAbi, 'createLBPair', [x, y, activeId, step])
  await chain.anvil.mine()
  const count = await chain.read<bigint>(factory, factoryAbi, 'getNumberOfLBPairs')
  const pair = (await chain.read<Hex>(factory, factoryAbi, 'getLBPairAtIndex', [count - 1n])).toLowerCase() as Hex
  await chain.approve(pair)
  const [unitX, unitY] = [x, y].map((token) => 10n ** BigInt(chain.decimalsOf(token))) as [bigint, bigint]
  for (let away = -FILLED; away <= FILLED; away++)
    if (away % 3 !== 1)
      await chain.act(pair, pairAbi, 'mint', [
        activeId + away,
        away >= 0 ? 100n * unitX : 0n,
        away <= 0 ? 100n * unitY : 0n,
      ])
  await chain.anvil.mine()
  return pair
}

/** The price of a pair of 18 and 6 decimals is 10^-12. */
const priceOf = (x: Hex, y: Hex, step: number): number =>
  ONE + Math.round((Math.LN10 * (chain.decimalsOf(y) - chain.decimalsOf(x))) / Math.log1p(step / 10_000))

async function makePairs(): Promise<void> {
  const [a, b, c] = chain.tokens as readonly [Hex, Hex, Hex]
  for (const [x, y, step] of [
    [a, b, 25],
    [b, a, 100],
    [c, a, 10],
    [b, c, 1],
  ] as const)
    pairs.push(await create(x, y, priceOf(x, y, step), step))
  const hooked = await create(a, c, priceOf(a, c, 20), 20)
  await chain.act(hooked, pairAbi, 'setHooksParameters', [`0x${'1'.repeat(64)}`])
  await chain.anvil.mine()
}

const books = (livePools: readonly Pool[]): readonly LiquidityBookPool[] =>
  [...livePools]
    .sort((x, y) => pairs.indexOf(x.id as Hex) - pairs.indexOf(y.id as Hex))
    .flatMap((pool) => (pool.kind === 'liquidity-book' ? [pool] : []))

/** Compares every pair with its contract. */
async function compareStates(livePools: readonly Pool[]): Promise<void> {
  expect(books(livePools).map(({ id }) => id)).toEqual(pairs)
  for (const pool of books(livePools)) {
    const ask = <T>(name: string, args: readonly unknown[] = []) =>
      chain.read<T>(pool.address as Hex, pairAbi, name, args)
    const activeId = await ask<number>('getActiveId')
    const fees = await ask<readonly number[]>('getStaticFeeParameters')
    const [accumulator, reference, idReference, lastUpdate] =
      await ask<readonly [number, number, number, number]>('getVariableFeeParameters')
    const held = await ask<readonly [bigint, bigint]>('getReserves')
    const sum = (side: 0 | 1) => pool.bins.reduce((total, { reserves }) => total + reserves[side], 0n)
    expect([sum(0), sum(1)]).toEqual(held)
    for (const { id, reserves } of pool.bins) expect(await ask('getBin', [id])).toEqual(reserves)
    expect(pool).toMatchObject({
      activeId,
      binStep: await ask<number>('getBinStep'),
      volatility: { accumulator: BigInt(accumulator), reference: BigInt(reference), idReference, lastUpdate },
    })
    expect(Object.values(pool.fees).map(Number)).toEqual(fees)
  }
}

async function compareQuotes(livePools: readonly Pool[], share: bigint): Promise<number> {
  let compared = 0
  for (const pool of books(livePools))
    for (const tokenIn of [0, 1]) {
      const held = pool.bins.reduce((total, { reserves }) => total + (reserves[tokenIn] ?? 0n), 0n)
      if (await chain.compareQuote(pool, tokenIn, 1 - tokenIn, (held * share) / 1_000_000n + 1n)) compared++
    }
  return compared
}

type Act = Readonly<{ what: number; pair: number; away: number; back: boolean; share: bigint; seconds: number }>
const acts: fc.Arbitrary<Act> = fc.record({
  what: fc.integer({ min: 0, max: 7 }),
  pair: fc.integer({ min: 0, max: 3 }),
  away: fc.integer({ min: -FILLED, max: FILLED }),
  back: fc.boolean(),
  share: fc.bigInt({ min: 1n, max: 600_000n }),
  seconds: fc.constantFrom(1, 12, 45, 200, 900),
})

async function perform({ what, pair: place, away, back, share }: Act, livePools: readonly Pool[]): Promise<void> {
  const pool = books(livePools)[place] as LiquidityBookPool
  const act = (name: string, args: readonly unknown[]) => chain.act(pool.address as Hex, pairAbi, name, args)
  const tokenIn = back ? 1 : 0
  const held = pool.bins.reduce((total, { reserves }) => total + reserves[tokenIn], 0n)
  const part = (held * share) / 1_000_000n + 1n
  const id = pool.activeId + away
  if (what <= 3) await chain.swap(pool, tokenIn, 1 - tokenIn, part)
  if (what === 4) await act('mint', [id, away >= 0 ? part : 0n, away <= 0 ? part : 0n])
  if (what === 5) await act('burn', [id, share % 101n])
  if (what === 6) {
    const [baseFactor, filterPeriod] = [Number(share % 20_000n) + 1, 10 + (away + FILLED)]
    const [reductionFactor, variableFeeControl, protocolShare] = [5_000, 40_000, 1_000]
    await act('setStaticFeeParameters', [
      {
        ...{ baseFactor, filterPeriod, decayPeriod: 300, reductionFactor, variableFeeControl, protocolShare },
        maxVolatilityAccumulator: 250_000,
      },
    ])
  }
  if (what === 7) await act('forceDecay', [])
}

describe('pairs of the Liquidity Book', () => {
  test('are found, updated in every block and rolled back after a reorg', async () => {
    const { anvil, createSource, current } = chain
    const source = createSource(dexes)
    expect((await current(source)).pools).toEqual([])
    await makePairs()
    await compareStates((await current(source)).pools)

    const plan = fc.sample(fc.array(acts, { minLength: 1, maxLength: 4 }), { seed, numRuns: BLOCKS })
    let quotes = 0
    for (const [index, block] of plan.entries()) {
      const livePools = (await current(source)).pools
      for (const act of block) await perform(act, livePools)
      await anvil.request('evm_increaseTime', [block[0]?.seconds ?? 1])
      await anvil.mine()
      const { pools } = await current(source)
      await compareStates(pools)
      quotes += await compareQuotes(pools, block[0]?.share ?? 1n)
      if (index === BLOCKS / 2) {
        await anvil.request('anvil_reorg', [3, []])
        await compareStates((await current(source)).pools)
      }
    }
    expect(quotes).toBeGreaterThan(BLOCKS * 2)
    expect(source.counts()).toMatchObject({ reorgs: 1, differences: 0, rereads: 1 })
    expect(books((await current(createSource(dexes))).pools)).toEqual(books((await current(source)).pools))
  })

  test('have the fee at the time of the block', async () => {
    const { anvil, createSource, current } = chain
    const source = createSource(dexes)
    const swap: Act = { what: 0, pair: 0, away: 0, back: false, share: 30_000n, seconds: 1 }
    const deposit: Act = { ...swap, what: 4, share: 500_000n }
    for (const act of [deposit, swap]) await perform(act, (await current(source)).pools)
    await anvil.mine()
    const before = books((await current(source)).pools)[0] as LiquidityBookPool
    const times = [before.now]
    for (const seconds of [before.fees.filterPeriod, before.fees.decayPeriod]) {
      await anvil.request('evm_increaseTime', [seconds])
      await anvil.mine()
      const { pools } = await current(source)
      times.push(books(pools)[0]?.now ?? 0)
      expect(await compareQuotes(pools, 50_000n)).toBeGreaterThan(1)
    }
    const { lastUpdate } = before.volatility
    expect(times).toEqual([0, before.fees.filterPeriod, before.fees.decayPeriod].map((after) => lastUpdate + after))
  })

  test('are found by a log scan, and by pairs without one', async () => {
    const { createSource, current } = chain
    await compareStates((await current(createSource(dexes))).pools)
    const unscanned = dexes.map(({ deployedAt: _, ...dex }) => dex)
    await compareStates((await current(createSource(unscanned))).pools)
  })

  test('are excluded with hooks, and idle while they contradict our maths', async () => {
    const { anvil, act, createSource, current } = chain
    const source = createSource(dexes)
    await compareStates((await current(source)).pools)
    const [first, second] = pairs as [Hex, Hex]
    await act(first, pairAbi, 'setSkew', [1n])
    await anvil.mine()
    expect(books((await current(source)).pools).map(({ id }) => id)).toEqual(pairs.slice(1))
    await act(first, pairAbi, 'setSkew', [0n])
    await anvil.mine()
    await compareStates((await current(source)).pools)
    await act(second, pairAbi, 'setHooksParameters', [`0x${'1'.repeat(64)}`])
    await anvil.mine()
    expect(books((await current(source)).pools).map(({ id }) => id)).toEqual([first, ...pairs.slice(2)])
    await anvil.request('anvil_reorg', [1, []])
    await compareStates((await current(source)).pools)
  })

  test('pay the computed output through our router', async () => {
    const { anvil, createSource, current, trade } = chain
    const source = createSource(dexes)
    // The earlier trades may have emptied one side.
    for (const { address, activeId, tokens } of books((await current(source)).pools)) {
      const whole = tokens.map((token) => 1_000n * 10n ** BigInt(chain.decimalsOf(token)))
      await chain.act(address as Hex, pairAbi, 'mint', [activeId, ...whole])
    }
    for (const place of pairs.keys()) {
      // The variable fee is zero after the decay period and stays constant.
      await anvil.request('evm_increaseTime', [3_600])
      await anvil.mine()
      const pool = books((await current(source)).pools)[place] as LiquidityBookPool
      const amountIn = 100n * 10n ** BigInt(chain.decimalsOf(pool.tokens[1] ?? ''))
      const { expected, received } = await trade(pool, 1, 0, amountIn)
      expect(expected).not.toBeNull()
      expect(received).toBe(expected)
    }
  })
})
