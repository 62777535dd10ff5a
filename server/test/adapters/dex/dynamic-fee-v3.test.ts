import fc from 'fast-check'
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PATIENCE_MS } from '../../../../test/support/patience.ts'
import { seed } from '../../../../test/support/seed.ts'
import type { Dex } from '../../../src/swap/domain/dex.ts'
import type { PoolSource } from '../../../src/swap/ports/pools.ts'
import type { UniswapV3Pool } from '../../../src/swap/routing/pools/uniswap-v3.ts'
import { artifact } from '../../swap/routing/differential/chain.ts'
import { hex } from '../chains/evm/anvil.ts'
import type { Compiled } from '../chains/evm/compile.ts'
import { type OwnChain, poolContracts, startOwnChain } from './own-pools.ts'

/*
 * Forks of Uniswap V3 whose fee changes without a log. The pools are Uniswap's published ones with one change in the bytecode:
 * they read the fee from their factory, as Slipstream's pools do.
 */

const BLOCKS = 40
const SQRT_ONE = 2n ** 96n
const FAR = 60_000
const BOUNDS = [-6_000, -2_000, -400, 0, 400, 2_000, 6_000] as const
/** Placeholder fee in the bytecode; this number occurs nowhere else in it. */
const MARK = 0x0d_bb_a1
/** A storage slot after the pool's own. */
const SLOT = 0x2_0000
const NONE = { base: 0, cap: 0, scaling: 0n, hasFirst: false, first: 0 }
const v3 = artifact('@uniswap/v3-core', 'artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json')
const mintable = parseAbi(['function mint(address to, uint256 value)'])
const word = (value: bigint | number): Hex => `0x${value.toString(16).padStart(64, '0')}`

let chain: OwnChain
let contracts: Readonly<Record<string, Compiled>>
let positions: Hex
beforeAll(async () => {
  chain = await startOwnChain([18, 18, 6])
  contracts = await poolContracts('SlipstreamFactory')
  positions = await chain.deploy(contractOf('Positions'))
  for (const token of chain.tokens) await chain.act(token, mintable, 'mint', [positions, 10n ** 40n])
})
afterAll(() => chain?.anvil.stop())

const contractOf = (name: string) => contracts[name] as Compiled
const abiOf = (name: string): Abi => contractOf(name).abi

/** Replaces PUSH32 of the fee with a call of getSwapFee(address(this)) on the contract in the slot, padded to the same length. */
function callFactoryForFee(code: Hex): Hex {
  const selector = encodeFunctionData({
    abi: abiOf('SlipstreamFactory'),
    functionName: 'getSwapFee',
    args: [positions],
  })
  const ask =
    `63${selector.slice(2, 10)}5f5230602052` + `60205f6024601c62${SLOT.toString(16).padStart(6, '0')}545afa505f51`
  const places = code.split(`7f${word(MARK).slice(2)}`)
  expect(places.length).toBeGreaterThan(2)
  return places.join(ask.padEnd(66, '5b')) as Hex
}

async function makePool(factory: Hex, [a, b]: readonly Hex[], spacing: number, price = SQRT_ONE): Promise<Hex> {
  const { anvil, act, read } = chain
  const abi = abiOf('SlipstreamFactory')
  await act(factory, abi, 'createPool', [v3.bytecode, a, b, spacing, price, MARK])
  await anvil.mine()
  const pool = (await read<Hex>(factory, abi, 'getPool', [a, b, spacing])).toLowerCase() as Hex
  const code = await anvil.request<Hex>('eth_getCode', [pool, 'latest'])
  await anvil.request('anvil_setCode', [pool, callFactoryForFee(code)])
  await anvil.request('anvil_setStorageAt', [pool, word(SLOT), word(BigInt(factory))])
  return pool
}

const provide = (pool: Hex, lower: number, upper: number, amount: bigint) =>
  chain.act(positions, abiOf('Positions'), 'mint', [pool, lower, upper, amount])

async function current(source: PoolSource): Promise<readonly UniswapV3Pool[]> {
  const { pools } = await chain.current(source)
  return pools.map((pool) => pool as UniswapV3Pool).sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function now(): Promise<number> {
  return Number((await chain.newest()).timestamp)
}

/** The result of a call after the newest block, in a block with that timestamp. */
async function askAt(time: number, to: Hex, data: Hex): Promise<Hex> {
  const { hash } = await chain.newest()
  const call = { from: chain.me, to, data, gas: hex(12_000_000n) }
  return chain.anvil.request<Hex>('eth_call', [call, { blockHash: hash }, {}, { time: hex(time) }])
}

async function feeAt(pool: Hex, time: number): Promise<number> {
  const data = encodeFunctionData({ abi: v3.abi, functionName: 'fee' })
  return Number(decodeFunctionResult({ abi: v3.abi, functionName: 'fee', data: await askAt(time, pool, data) }))
}

/** Compares the state, decoded by viem, and the highest fee of this and the next sixty seconds. */
async function compareState(pool: UniswapV3Pool): Promise<readonly number[]> {
  const address = pool.address as Hex
  const [sqrtPrice, tick] = await chain.read<readonly [bigint, number]>(address, v3.abi, 'slot0')
  const liquidity = await chain.read<bigint>(address, v3.abi, 'liquidity')
  const ticks: { index: number; net: bigint }[] = []
  for (const index of [-FAR, ...BOUNDS, FAR]) {
    const [gross, net] = await chain.read<readonly [bigint, bigint]>(address, v3.abi, 'ticks', [index])
    if (gross > 0n) ticks.push({ index, net })
  }
  const start = await now()
  const fees = await Promise.all(Array.from({ length: 61 }, (_, second) => feeAt(address, start + second)))
  expect(pool).toMatchObject({ sqrtPrice, tick, liquidity, feePpm: Math.max(...fees) })
  expect(pool.ticks).toMatchObject(ticks)
  return fees
}

/** Our router never pays less than computed in that second, and exactly that amount if the fee is the forecast one. */
async function comparePay(pool: UniswapV3Pool, tokenIn: number, amountIn: bigint, fees: readonly number[]) {
  const { expected, to, calldata } = chain.quote(pool, tokenIn, 1 - tokenIn, amountIn)
  if (expected === null) return 0
  const start = await now()
  const highest = fees.indexOf(pool.feePpm)
  expect(BigInt(await askAt(start + highest, to, calldata))).toBe(expected)
  for (const second of [0, 1, 29, 60])
    expect(BigInt(await askAt(start + second, to, calldata))).toBeGreaterThanOrEqual(expected)
  return 1
}

type Act = Readonly<{
  pool: number
  what: number
  tokenIn: number
  bounds: readonly number[]
  amount: bigint
  number: number
}>
const acts: fc.Arbitrary<Act> = fc.record({
  pool: fc.nat({ max: 2 }),
  what: fc.integer({ min: 0, max: 9 }),
  tokenIn: fc.nat({ max: 1 }),
  bounds: fc.subarray([...BOUNDS], { minLength: 2, maxLength: 2 }),
  amount: fc.bigInt({ min: 1n, max: 2n * 10n ** 20n }),
  number: fc.nat({ max: 10_000 }),
})

describe("Slipstream's pools", () => {
  let factory: Hex
  let late: Hex
  let poolAddresses: readonly Hex[]
  let source: PoolSource
  const dex = (): Dex => ({ name: 'slipstream', kind: 'slipstream', factory, deployedAt: 0 })
  const useModule = (module: string) => chain.act(factory, abiOf('SlipstreamFactory'), 'setSwapFeeModule', [module])

  async function perform(pools: readonly UniswapV3Pool[], { pool: at, what, tokenIn, bounds, amount, number }: Act) {
    const { act, swap } = chain
    const pool = pools[at]
    const address = poolAddresses[at]
    if (!pool || !address) throw new Error('unknown pool')
    const [lower = 0, upper = 0] = bounds
    const abi = abiOf('LateDynamicFees')
    if (what <= 4 && chain.quote(pool, tokenIn, 1 - tokenIn, amount).expected !== null)
      await swap(pool, tokenIn, 1 - tokenIn, amount)
    if (what === 5) await provide(address, lower, upper, amount)
    if (what === 6) await act(positions, abiOf('Positions'), 'burn', [address, -400, 400, amount / 100n + 1n])
    if (what === 7) {
      const scaling = BigInt(number % 3) * 10_000_000n
      const first = [0, 420, 77][number % 3]
      await act(late, abi, 'setTerms', [
        address,
        { base: number, cap: 50_000, scaling, hasFirst: number % 2 === 0, first },
      ])
    }
    if (what === 8) await act(late, abi, 'setDefaults', [BigInt(number) * 2_000n, 30_000, [40, 90, 120][number % 3]])
    if (what === 9) await chain.anvil.request('evm_increaseTime', [number % 300])
  }

  test('are found at creation, and tradable once they have liquidity', async () => {
    factory = await chain.deploy(contractOf('SlipstreamFactory'), [false])
    late = await chain.deploy(contractOf('LateDynamicFees'), [factory])
    await chain.act(late, abiOf('LateDynamicFees'), 'setDefaults', [10_000_000n, 30_000, 120])
    await useModule(late)
    await chain.anvil.mine()
    source = chain.createSource([dex()])
    expect(await current(source)).toEqual([])
    const [a, b, c] = chain.tokens as readonly [Hex, Hex, Hex]
    poolAddresses = [
      await makePool(factory, [a, b], 50),
      await makePool(factory, [b, c], 200),
      await makePool(factory, [a, b], 200),
    ].sort()
    await chain.anvil.mine()
    expect(await current(source)).toEqual([])
    for (const pool of poolAddresses) {
      await provide(pool, -FAR, FAR, 10n ** 21n)
      await provide(pool, -400, 400, 3n * 10n ** 21n)
      await chain.act(pool, v3.abi, 'increaseObservationCardinalityNext', [70])
    }
    await chain.anvil.mine()
    const pools = await current(source)
    expect(pools.map(({ id }) => id)).toEqual(poolAddresses)
    for (const pool of pools) await compareState(pool)
  })

  test(`are updated for ${BLOCKS} blocks, rolled back after reorgs, and pay the computed output`, {
    timeout: 3 * PATIENCE_MS,
  }, async () => {
    const plan = fc.sample(fc.array(acts, { minLength: 1, maxLength: 4 }), {
      seed,
      numRuns: BLOCKS,
    })
    let paid = 0
    let moves = 0
    const observedFees = new Set<number>()
    for (const [index, block] of plan.entries()) {
      const before = await current(source)
      for (const act of block) await perform(before, act)
      await chain.anvil.mine()
      for (const pool of await current(source)) {
        const fees = await compareState(pool)
        if (new Set(fees).size > 1) moves++
        observedFees.add(pool.feePpm)
        const act = block[0] as Act
        paid += await comparePay(pool, act.tokenIn, act.amount, fees)
      }
      if (index % 8 === 5) {
        await chain.anvil.request('anvil_reorg', [3, []])
        for (const pool of await current(source)) await compareState(pool)
      }
    }
    expect(paid).toBeGreaterThan(BLOCKS)
    expect(moves).toBeGreaterThan(BLOCKS / 4)
    expect(observedFees.size).toBeGreaterThan(10)
    expect(source.counts()).toEqual({ reorgs: 5, differences: 0, rereads: 1 })
  })

  test('are the same by a log scan and by a pair lookup', async () => {
    const trackedPools = await current(source)
    expect(await current(chain.createSource([dex()]))).toEqual(trackedPools)
    const { deployedAt: _, ...unscanned } = dex()
    expect(await current(chain.createSource([unscanned]))).toEqual(trackedPools)
  })

  test('have the fee of each published module or of none, and are idle with an unknown module', async () => {
    const abi = abiOf('EarlyDynamicFees')
    const early = await chain.deploy(contractOf('EarlyDynamicFees'), [factory])
    const custom = await chain.deploy(contractOf('CustomFees'), [factory])
    const strange = await chain.deploy(contractOf('StrangeFees'))
    await chain.act(early, abi, 'setDefaults', [30_000_000n, 40_000, 120])
    await chain.act(early, abi, 'setTerms', [poolAddresses[0], { ...NONE, base: 420 }])
    await chain.act(custom, abiOf('CustomFees'), 'setFee', [poolAddresses[1], 1_234])
    await chain.act(custom, abiOf('CustomFees'), 'setFee', [poolAddresses[2], 420])
    for (const module of [early, custom, `0x${'0'.repeat(40)}`, early]) {
      await useModule(module)
      await chain.anvil.mine()
      const pools = await current(source)
      expect(pools).toHaveLength(3)
      for (const pool of pools) await comparePay(pool, 0, 10n ** 18n, await compareState(pool))
    }
    await useModule(strange)
    await chain.anvil.mine()
    expect(await current(source)).toEqual([])
    await useModule(custom)
    await chain.anvil.request('evm_increaseTime', [61])
    await chain.anvil.mine()
    const pools = await current(source)
    expect(pools).toHaveLength(3)
    for (const pool of pools) await compareState(pool)
    expect(source.counts()).toMatchObject({ differences: 0, rereads: 1 })
  })

  test('pay the computed output in a transaction', async () => {
    const [first, second] = (await current(source)) as [UniswapV3Pool, UniswapV3Pool]
    for (const pool of [first, second]) {
      const { expected, received } = await chain.trade(pool, 1, 0, 10n ** 19n + 7n)
      expect(received).toBe(expected)
    }
    const [pool] = await current(source)
    expect(pool?.sqrtPrice).not.toBe(first.sqrtPrice)
  })
})

describe('pools of the other forks', () => {
  test('have the fee of their block, and are updated by their logs', async () => {
    const { anvil, act, tokens, compareQuote, swap } = chain
    const factory = await chain.deploy(contractOf('SlipstreamFactory'), [true])
    const custom = await chain.deploy(contractOf('CustomFees'), [factory])
    await act(factory, abiOf('SlipstreamFactory'), 'setSwapFeeModule', [custom])
    const pool = await makePool(factory, tokens.slice(0, 2), 50, SQRT_ONE * 3n)
    await provide(pool, -FAR, FAR, 10n ** 21n)
    await anvil.mine()
    await anvil.mine()
    await anvil.mine()
    const ramses: Dex = { name: 'ramses', kind: 'ramses-v3', factory, deployedAt: 0 }
    const source = chain.createSource([ramses])
    const plan = fc.sample(acts, { seed, numRuns: 20 })
    for (const [index, { what, tokenIn, amount, number, bounds }] of plan.entries()) {
      const [tracked] = await current(source)
      if (!tracked) throw new Error('no pool')
      expect(tracked.feePpm).toBe(Number(await chain.read<number>(pool, v3.abi, 'fee')))
      await compareQuote(tracked, tokenIn, 1 - tokenIn, amount)
      if (what <= 4) await swap(tracked, tokenIn, 1 - tokenIn, 10n ** 16n + amount / 100n)
      if (what === 5 || what === 6) await provide(pool, bounds[0] ?? 0, bounds[1] ?? 0, amount)
      if (what >= 7) await act(custom, abiOf('CustomFees'), 'setFee', [pool, number])
      await anvil.mine()
      if (index % 7 === 5) await anvil.request('anvil_reorg', [2, []])
    }
    expect(source.counts()).toMatchObject({ reorgs: 2, differences: 0, rereads: 1 })
  })

  test('are excluded if they do not pay what we compute', async () => {
    const { act, anvil, tokens } = chain
    const factory = await chain.deploy(contractOf('SlipstreamFactory'), [true])
    const custom = await chain.deploy(contractOf('CustomFees'), [factory])
    const pool = await makePool(factory, tokens.slice(0, 2), 50)
    await provide(pool, -FAR, FAR, 10n ** 21n)
    await anvil.mine()
    const of = async (kind: Dex['kind']) =>
      (await current(chain.createSource([{ name: 'fork', kind, factory, deployedAt: 0 }]))).map(({ feePpm }) => feePpm)
    expect(await of('ramses-v3')).toEqual([500])
    // solidly-v3 reads the fee from the third word of slot0, here the observation index: 0, then 1.
    expect(await of('solidly-v3')).toEqual([])
    await act(pool, v3.abi, 'increaseObservationCardinalityNext', [9])
    await anvil.mine()
    await anvil.request('evm_increaseTime', [9])
    await provide(pool, -FAR, FAR, 10n ** 21n)
    await act(factory, abiOf('SlipstreamFactory'), 'setSwapFeeModule', [custom])
    await act(custom, abiOf('CustomFees'), 'setFee', [pool, 1])
    await anvil.mine()
    expect(await of('solidly-v3')).toEqual([1])
    // A zero fee is valid.
    await act(custom, abiOf('CustomFees'), 'setFee', [pool, 420])
    await anvil.mine()
    expect(await of('solidly-v3')).toEqual([])
    expect(await of('ramses-v3')).toEqual([0])
  })
})
