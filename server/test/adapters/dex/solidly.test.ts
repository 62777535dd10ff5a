import { deploymentProxy, swapExecutor, swapRouter } from '@swapyard/contracts'
import fc from 'fast-check'
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seed } from '../../../../test/support/seed.ts'
import { networks } from '../../../networks/index.ts'
import { encodeSwap } from '../../../src/adapters/dex/encode-swap.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { Dex } from '../../../src/swap/domain/dex.ts'
import type { PoolSnapshots, PoolSource } from '../../../src/swap/ports/pools.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import type { SolidlyPool } from '../../../src/swap/routing/pools/solidly.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { type Anvil, hex, startAnvil } from '../chains/evm/anvil.ts'
import { type Compiled, compile } from '../chains/evm/compile.ts'
import { testTokens } from '../chains/evm/tokens.ts'

/*
 * Stable and volatile pools of factories with the interfaces of both Velodrome versions, with our own pairs by the published
 * formulas and random swaps of our executor: compares our state with the contracts.
 */

const BLOCKS = 40
const GAS = 10_000_000n
const definition = networks.find(({ id }) => id === 'eth')
const log = createLog({ level: 'warn', pretty: true })
const nothing: PoolSnapshots = { load: async () => null, save: async () => undefined }
const erc20 = parseAbi([
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
])

let anvil: Anvil
let me: Hex
let compiled: Readonly<Record<string, Compiled>>
let v1: Hex
let v2: Hex
/** Sorted by address, with 18, 6 and 8 decimals. */
let tokens: readonly Readonly<{ address: Hex; unit: bigint }>[]
let poolList: readonly Readonly<{ address: Hex; factory: 'v1' | 'v2'; stable: boolean }>[]

const abiOf = (name: 'SolidlyPool' | 'VelodromeV1Factory' | 'VelodromeV2Factory'): Abi => compiled[name]?.abi ?? []
const send = (to: Hex, abi: Abi, functionName: string, ...args: readonly unknown[]) =>
  anvil.send({ to, data: encodeFunctionData({ abi, functionName, args: [...args] }), gas: GAS, from: me })
async function read<T>(to: Hex, abi: Abi, functionName: string, ...args: readonly unknown[]): Promise<T> {
  const data = encodeFunctionData({ abi, functionName, args: [...args] })
  const answer = await anvil.request<Hex>('eth_call', [{ to, data, from: me, gas: hex(GAS) }, 'latest'])
  return decodeFunctionResult({ abi, functionName, data: answer }) as T
}

beforeAll(async () => {
  anvil = await startAnvil(['--gas-limit', '400000000', '--hardfork', 'cancun', '--balance', '1000000000'])
  me = anvil.accounts[0] as Hex
  compiled = await compile(new URL('../../../../contracts/test/pools/SolidlyPool.sol', import.meta.url).pathname)
  const { StandardToken } = await testTokens()
  const created: { address: Hex; unit: bigint }[] = []
  for (const decimals of [18, 6, 18, 8]) {
    const address = (await anvil.deploy(StandardToken, ['T', 'T', decimals])).toLowerCase() as Hex
    created.push({ address, unit: 10n ** BigInt(decimals) })
    await send(address, erc20, 'mint', me, 10n ** 36n)
    await send(address, erc20, 'approve', swapRouter.address, 2n ** 256n - 1n)
  }
  tokens = created.sort((a, b) => (a.address < b.address ? -1 : 1))
  v1 = (await anvil.deploy(compiled['VelodromeV1Factory'] as Compiled, [])).toLowerCase() as Hex
  v2 = (await anvil.deploy(compiled['VelodromeV2Factory'] as Compiled, [])).toLowerCase() as Hex
  for (const { data } of [swapRouter, swapExecutor]) await anvil.send({ to: deploymentProxy, data, gas: GAS, from: me })
  await anvil.mine()
})
afterAll(() => anvil?.stop())

const dexes = (): readonly Dex[] => [
  { name: 'v1', kind: 'solidly', fork: 'velodrome-v1', factory: v1, deployedAt: 0 },
  { name: 'v2', kind: 'solidly', fork: 'velodrome-v2', factory: v2, deployedAt: 0 },
]
function createSource(traded: readonly Dex[] = dexes()): PoolSource {
  if (!definition) throw new Error('no such network')
  const [first, ...others] = tokens.map(({ address }) => address)
  return createNetworkPools({
    network: resolveNetwork(definition, 'sandbox'),
    rpcUrls: [anvil.url],
    dexNetwork: { network: 'eth', wrapped: first ?? '', connectors: others, dexes: traded },
    tokens: [],
    snapshots: nothing,
    log,
    settings: { compareEveryBlocks: 1_000_000 },
  })
}

async function current(source: PoolSource): Promise<readonly SolidlyPool[]> {
  const { hash } = await anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
  for (let turns = 0; turns < 20; turns++) {
    await source.advance()
    const at = source.current()
    if (at?.block.hash !== hash) continue
    return at.pools.map((pool) => pool as SolidlyPool).sort((a, b) => (a.id < b.id ? -1 : 1))
  }
  throw new Error('the pools did not reach the newest block')
}

/** Stable and volatile pools of both factories, unbalanced, and one empty pool. */
async function makePools(): Promise<void> {
  const plans = [
    ['v1', 0, 1, false],
    ['v1', 0, 2, true],
    ['v1', 1, 3, true],
    ['v2', 0, 1, false],
    ['v2', 0, 1, true],
    ['v2', 2, 3, true],
    ['v2', 1, 2, false],
  ] as const
  const named: { address: Hex; factory: 'v1' | 'v2'; stable: boolean }[] = []
  for (const [index, [factory, x, y, stable]] of plans.entries()) {
    const [a, b] = [tokens[x], tokens[y]]
    if (!a || !b) throw new Error('no such token')
    const [to, abi] = factory === 'v1' ? [v1, abiOf('VelodromeV1Factory')] : [v2, abiOf('VelodromeV2Factory')]
    await send(to, abi, factory === 'v1' ? 'createPair' : 'createPool', b.address, a.address, stable)
    await anvil.mine()
    const look = factory === 'v1' ? 'getPair' : 'getPool'
    const address = (await read<Hex>(to, abi, look, a.address, b.address, stable)).toLowerCase() as Hex
    if (index === plans.length - 1) break
    await send(a.address, erc20, 'mint', address, a.unit * 1_000_003n)
    await send(b.address, erc20, 'mint', address, b.unit * 1_234_567n + 89n)
    await send(address, abiOf('SolidlyPool'), 'sync')
    named.push({ address, factory, stable })
  }
  await anvil.mine()
  poolList = named.sort((a, b) => (a.address < b.address ? -1 : 1))
}

/** Compares every tradable pool with its contract and factory, decoded by viem. */
async function compareStates(pools: readonly SolidlyPool[]): Promise<void> {
  expect(pools.map(({ id }) => id)).toEqual(poolList.map(({ address }) => address))
  for (const [index, one] of poolList.entries()) {
    const [unit0, unit1, reserve0, reserve1, stable, token0, token1] = await read<
      readonly [bigint, bigint, bigint, bigint, boolean, Hex, Hex]
    >(one.address, abiOf('SolidlyPool'), 'metadata')
    const fee = await (one.factory === 'v1'
      ? read<bigint>(v1, abiOf('VelodromeV1Factory'), 'getFee', stable)
      : read<bigint>(v2, abiOf('VelodromeV2Factory'), 'getFee', one.address, stable))
    expect(stable).toBe(one.stable)
    expect(pools[index]).toEqual({
      ...{ kind: 'solidly', id: one.address, address: one.address, dex: one.factory, newton: one.factory, stable },
      ...{
        tokens: [token0.toLowerCase(), token1.toLowerCase()],
        units: [unit0, unit1],
        reserves: [reserve0, reserve1],
      },
      feePpm: Number(fee) * 100,
    })
  }
}

type Leg = Readonly<{ pool: SolidlyPool; tokenIn: number }>

/** The expected output of consecutive swaps, and the call that executes them. */
function planSwaps(legs: readonly Leg[], amountIn: bigint) {
  const swaps = legs.map(({ pool, tokenIn }) => ({ pool, tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }))
  const source = legs[0]?.pool.tokens[legs[0].tokenIn] ?? ''
  const last = legs.at(-1)
  const target = last?.pool.tokens[1 - last.tokenIn] ?? ''
  const expected = executeRoute(swaps, source, target, amountIn).amountOut
  const route = { swaps, source, target, nativeIn: false, nativeOut: false, wrapped: tokens[0]?.address ?? '' }
  const terms = { amountIn, minOut: 1n, recipient: me, fee: null, reference: hex(1n).padEnd(66, '0') as Hex }
  return { expected, target: target as Hex, ...encodeSwap(route, { ...terms, deadline: 2n ** 40n }) }
}

/** Compares the simulated output of every pool in both directions with our computation. */
async function compareQuotes(pools: readonly SolidlyPool[], part: bigint): Promise<number> {
  let compared = 0
  for (const pool of pools)
    for (const tokenIn of [0, 1]) {
      const { expected, to, calldata } = planSwaps([{ pool, tokenIn }], (pool.reserves[tokenIn] ?? 0n) / part + 7n)
      if (expected === null) continue
      const answer = await anvil.request<Hex>('eth_call', [{ from: me, to, data: calldata, gas: hex(GAS) }, 'latest'])
      expect([pool.stable, pool.newton, BigInt(answer)]).toEqual([pool.stable, pool.newton, expected])
      compared++
    }
  return compared
}

type Act = Readonly<{ pool: number; tokenIn: number; part: bigint }>
const acts: fc.Arbitrary<Act> = fc.record({
  pool: fc.nat({ max: 5 }),
  tokenIn: fc.nat({ max: 1 }),
  part: fc.bigInt({ min: 3n, max: 10n ** 7n }),
})
async function perform(pools: readonly SolidlyPool[], { pool: index, tokenIn, part }: Act): Promise<void> {
  const pool = pools[index]
  if (!pool) throw new Error('no such pool')
  const { to, calldata } = planSwaps([{ pool, tokenIn }], (pool.reserves[tokenIn] ?? 0n) / part + 1n)
  await anvil.send({ to, data: calldata, gas: GAS, from: me })
}

describe("Solidly's pools", () => {
  let source: PoolSource

  test('are found at creation, updated in every block, and rolled back after a reorg', async () => {
    source = createSource()
    expect(await current(source)).toEqual([])
    await makePools()
    await compareStates(await current(source))
    const plan = fc.sample(fc.array(acts, { minLength: 1, maxLength: 4 }), { seed, numRuns: BLOCKS })
    let quotes = 0
    for (const [index, block] of plan.entries()) {
      const before = await current(source)
      for (const act of block) await perform(before, act)
      await anvil.mine()
      const pools = await current(source)
      expect(pools).not.toEqual(before)
      await compareStates(pools)
      quotes += await compareQuotes(pools, block[0]?.part ?? 3n)
      if (index % 5 === 3) {
        await anvil.request('anvil_reorg', [3, []])
        await compareStates(await current(source))
      }
    }
    expect(quotes).toBeGreaterThan(BLOCKS * 8)
    expect(source.counts()).toEqual({ reorgs: 8, differences: 0, rereads: 1 })
  })

  test('are the same by a log scan, with the calls of other forks, and by a pair lookup', async () => {
    const pools = await current(source)
    expect(await current(createSource())).toEqual(pools)
    const forks = ['equalizer', 'ramses', 'blackhole'] as const
    for (const fork of forks)
      expect(await current(createSource(dexes().map((dex) => (dex.name === 'v1' ? { ...dex, fork } : dex))))).toEqual(
        pools,
      )
    const unscanned = dexes().map(({ deployedAt: _, ...dex }) => dex)
    expect(await current(createSource(unscanned))).toEqual(pools)
  })

  test('have the fee of their factory: immediately after a log, otherwise within a minute', async () => {
    const own = poolList.find(({ factory }) => factory === 'v2')
    for (const fee of [37n, 420n]) {
      await send(v2, abiOf('VelodromeV2Factory'), 'setCustomFee', own?.address, fee)
      await anvil.mine()
      const pools = await current(source)
      await compareStates(pools)
      expect(pools.find(({ id }) => id === own?.address)?.feePpm).toBe(fee === 420n ? 0 : 3_700)
      await compareQuotes(pools, 1_000n)
    }
    // A fee change for all stable pools emits no log.
    for (const [to, name] of [[v1, 'VelodromeV1Factory'] as const, [v2, 'VelodromeV2Factory'] as const])
      await send(to, abiOf(name), 'setFee', true, 11n)
    await anvil.mine()
    await current(source)
    await anvil.request('evm_increaseTime', [61])
    await anvil.mine()
    const pools = await current(source)
    await compareStates(pools)
    expect(pools.filter(({ feePpm }) => feePpm === 1_100).length).toBeGreaterThan(1)
    await compareQuotes(pools, 1_000n)
    expect(source.counts()).toMatchObject({ differences: 0, rereads: 1 })
  })

  test('are idle while their factory is paused', async () => {
    const pause = async (paused: boolean) => {
      await send(v1, abiOf('VelodromeV1Factory'), 'setPaused', paused)
      await anvil.request('evm_increaseTime', [61])
      await anvil.mine()
      return current(source)
    }
    const others = poolList.filter(({ factory }) => factory === 'v2').map(({ address }) => address)
    expect((await pause(true)).map(({ id }) => id)).toEqual(others)
    await compareStates(await pause(false))
  })

  test('pay exactly the quoted output for routes through stable and volatile pools of both factories', async () => {
    const pools = await current(source)
    const via = (dex: string, stable: boolean, from: number, to: number): Leg => {
      const [tokenIn, tokenOut] = [tokens[from]?.address ?? '', tokens[to]?.address ?? '']
      const pool = pools.find(
        (one) =>
          one.dex === dex && one.stable === stable && one.tokens.includes(tokenIn) && one.tokens.includes(tokenOut),
      )
      if (!pool) throw new Error('no such pool')
      return { pool, tokenIn: pool.tokens.indexOf(tokenIn) }
    }
    const legs = [via('v2', true, 3, 2), via('v1', true, 2, 0), via('v2', false, 0, 1)]
    const fixed = planSwaps(legs, (tokens[3]?.unit ?? 0n) * 4_321n + 7n)
    const before = await read<bigint>(fixed.target, erc20, 'balanceOf', me)
    await anvil.send({ to: fixed.to, data: fixed.calldata, gas: GAS, from: me })
    await anvil.mine()
    expect((await read<bigint>(fixed.target, erc20, 'balanceOf', me)) - before).toBe(fixed.expected)

    const after = await current(source)
    await compareStates(after)
    const [first, , , last] = tokens
    if (!first || !last) throw new Error('no such token')
    const amountIn = first.unit * 4_321n + 7n
    const terms = { source: first.address, target: last.address, amountIn }
    const options = { hopsMax: 3, swapsMax: 8, gasPrice: 0, isOver: () => false }
    const best = bestRoute(createPoolMarket(after), terms, options)
    if (!best) throw new Error('no route')
    const recipient = `0x${'ab'.repeat(20)}` as const
    const route = { ...terms, swaps: best.swaps, nativeIn: false, nativeOut: false, wrapped: first.address }
    const { to, calldata } = encodeSwap(route, {
      ...{ amountIn, minOut: best.amountOut, recipient, fee: null },
      ...{ reference: `0x${'0'.repeat(64)}`, deadline: 2n ** 40n },
    })
    await anvil.send({ to, data: calldata, gas: GAS, from: me })
    await anvil.mine()
    expect(await read<bigint>(last.address, erc20, 'balanceOf', recipient)).toBe(best.amountOut)
    await compareStates(await current(source))
  })

  test('are excluded if they do not match the configuration of their DEX', async () => {
    const [first, second] = dexes()
    if (!first || !second) throw new Error('no such dex')
    const of = async (...traded: readonly Dex[]) => (await current(createSource(traded))).map(({ dex }) => dex)
    const initCodeHash = keccak256(compiled['SolidlyPool']?.bytecode ?? '0x')
    expect(await of({ ...first, initCodeHash }, { ...second, initCodeHash })).toHaveLength(poolList.length)
    expect(await of({ ...first, initCodeHash: `0x${'11'.repeat(32)}` })).toEqual([])
    expect(await of({ ...first, fork: 'velodrome-v2' })).toEqual([])
    expect(await of({ ...second, fork: 'velodrome-v1' })).toEqual([])
    // Only the stable pools have the configured fee.
    const fixed = await current(createSource([{ ...first, fork: 'solidly', feePpm: 1_100 }]))
    expect(fixed.map(({ stable }) => stable)).toEqual([true, true])
  })
})
