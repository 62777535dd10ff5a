import { deploymentProxy, swapExecutor, swapRouter } from '@swapyard/contracts'
import fc from 'fast-check'
import { type Abi, decodeFunctionResult, encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
 * Pools of both sorts by factories that are asked as Velodrome's two versions are, with pairs of our own by the published formulas,
 * moved by random swaps of our executor: what is followed against what the contracts say.
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
/** By address, each with its decimals: 18, 6 and 8 among them. */
let tokens: readonly Readonly<{ address: Hex; unit: bigint }>[]
let made: readonly Readonly<{ address: Hex; factory: 'v1' | 'v2'; stable: boolean }>[]

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
  const fresh: { address: Hex; unit: bigint }[] = []
  for (const decimals of [18, 6, 18, 8]) {
    const address = (await anvil.deploy(StandardToken, ['T', 'T', decimals])).toLowerCase() as Hex
    fresh.push({ address, unit: 10n ** BigInt(decimals) })
    await send(address, erc20, 'mint', me, 10n ** 36n)
    await send(address, erc20, 'approve', swapRouter.address, 2n ** 256n - 1n)
  }
  tokens = fresh.sort((a, b) => (a.address < b.address ? -1 : 1))
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
  throw new Error('the newest block was not reached')
}

/** Both sorts by both factories, off balance, and one that never gets anything. */
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
  made = named.sort((a, b) => (a.address < b.address ? -1 : 1))
}

/** Every pool that trades is there, and as its contract and its factory tell it, decoded by another library. */
async function compareStates(pools: readonly SolidlyPool[]): Promise<void> {
  expect(pools.map(({ id }) => id)).toEqual(made.map(({ address }) => address))
  for (const [index, one] of made.entries()) {
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

/** What we promise for swaps one after another, and the call that carries them out. */
function planned(legs: readonly Leg[], amountIn: bigint) {
  const swaps = legs.map(({ pool, tokenIn }) => ({ pool, tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }))
  const source = legs[0]?.pool.tokens[legs[0].tokenIn] ?? ''
  const last = legs.at(-1)
  const target = last?.pool.tokens[1 - last.tokenIn] ?? ''
  const promised = executeRoute(swaps, source, target, amountIn).amountOut
  const route = { swaps, source, target, coinIn: false, coinOut: false, wrapped: tokens[0]?.address ?? '' }
  const terms = { amountIn, minOut: 1n, recipient: me, fee: null, reference: hex(1n).padEnd(66, '0') as Hex }
  return { promised, target: target as Hex, ...encodeSwap(route, { ...terms, deadline: 2n ** 40n }) }
}

/** Every pool both ways, alone: what it pays now by the node itself, and what we promise. */
async function compareQuotes(pools: readonly SolidlyPool[], part: bigint): Promise<number> {
  let compared = 0
  for (const pool of pools)
    for (const tokenIn of [0, 1]) {
      const { promised, to, calldata } = planned([{ pool, tokenIn }], (pool.reserves[tokenIn] ?? 0n) / part + 7n)
      if (promised === null) continue
      const answer = await anvil.request<Hex>('eth_call', [{ from: me, to, data: calldata, gas: hex(GAS) }, 'latest'])
      expect([pool.stable, pool.newton, BigInt(answer)]).toEqual([pool.stable, pool.newton, promised])
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
  const { to, calldata } = planned([{ pool, tokenIn }], (pool.reserves[tokenIn] ?? 0n) / part + 1n)
  await anvil.send({ to, data: calldata, gas: GAS, from: me })
}

describe("Solidly's pools", () => {
  let source: PoolSource

  test('are found when they are made, followed block by block, and taken back by a reorg', async () => {
    source = createSource()
    expect(await current(source)).toEqual([])
    await makePools()
    await compareStates(await current(source))
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.info(`solidly: seed ${seed}`)
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

  test('are the same by a scan of history, by other forks’ ways, and by the factories’ answers for pairs', async () => {
    const known = await current(source)
    expect(await current(createSource())).toEqual(known)
    const forks = ['equalizer', 'ramses', 'blackhole'] as const
    for (const fork of forks)
      expect(await current(createSource(dexes().map((dex) => (dex.name === 'v1' ? { ...dex, fork } : dex))))).toEqual(
        known,
      )
    const unscanned = dexes().map(({ deployedAt: _, ...dex }) => dex)
    expect(await current(createSource(unscanned))).toEqual(known)
  })

  test('have the fee that their factory says: at once where it is logged, else within a minute', async () => {
    const own = made.find(({ factory }) => factory === 'v2')
    for (const fee of [37n, 420n]) {
      await send(v2, abiOf('VelodromeV2Factory'), 'setCustomFee', own?.address, fee)
      await anvil.mine()
      const pools = await current(source)
      await compareStates(pools)
      expect(pools.find(({ id }) => id === own?.address)?.feePpm).toBe(fee === 420n ? 0 : 3_700)
      await compareQuotes(pools, 1_000n)
    }
    // Changed for all of a sort, which nobody logs.
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

  test('are not traded on while their factory is paused', async () => {
    const pause = async (paused: boolean) => {
      await send(v1, abiOf('VelodromeV1Factory'), 'setPaused', paused)
      await anvil.request('evm_increaseTime', [61])
      await anvil.mine()
      return current(source)
    }
    const others = made.filter(({ factory }) => factory === 'v2').map(({ address }) => address)
    expect((await pause(true)).map(({ id }) => id)).toEqual(others)
    await compareStates(await pause(false))
  })

  test('pay exactly what was quoted for routes through both sorts of both factories', async () => {
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
    const fixed = planned(legs, (tokens[3]?.unit ?? 0n) * 4_321n + 7n)
    const before = await read<bigint>(fixed.target, erc20, 'balanceOf', me)
    await anvil.send({ to: fixed.to, data: fixed.calldata, gas: GAS, from: me })
    await anvil.mine()
    expect((await read<bigint>(fixed.target, erc20, 'balanceOf', me)) - before).toBe(fixed.promised)

    const after = await current(source)
    await compareStates(after)
    const [first, , , last] = tokens
    if (!first || !last) throw new Error('no such token')
    const amountIn = first.unit * 4_321n + 7n
    const terms = { source: first.address, target: last.address, amountIn }
    const options = { hopsMax: 3, swapsMax: 8, gasPrice: 0, isOver: () => false }
    const found = bestRoute(createPoolMarket(after), terms, options)
    if (!found) throw new Error('no route')
    const recipient = `0x${'ab'.repeat(20)}` as const
    const route = { ...terms, swaps: found.swaps, coinIn: false, coinOut: false, wrapped: first.address }
    const { to, calldata } = encodeSwap(route, {
      ...{ amountIn, minOut: found.amountOut, recipient, fee: null },
      ...{ reference: `0x${'0'.repeat(64)}`, deadline: 2n ** 40n },
    })
    await anvil.send({ to, data: calldata, gas: GAS, from: me })
    await anvil.mine()
    expect(await read<bigint>(last.address, erc20, 'balanceOf', recipient)).toBe(found.amountOut)
    await compareStates(await current(source))
  })

  test('are left alone where they don’t pay what the files say of them', async () => {
    const [first, second] = dexes()
    if (!first || !second) throw new Error('no such dex')
    const of = async (...traded: readonly Dex[]) => (await current(createSource(traded))).map(({ dex }) => dex)
    const initCodeHash = keccak256(compiled['SolidlyPool']?.bytecode ?? '0x')
    expect(await of({ ...first, initCodeHash }, { ...second, initCodeHash })).toHaveLength(made.length)
    expect(await of({ ...first, initCodeHash: `0x${'11'.repeat(32)}` })).toEqual([])
    expect(await of({ ...first, fork: 'velodrome-v2' })).toEqual([])
    expect(await of({ ...second, fork: 'velodrome-v1' })).toEqual([])
    // Fees of one sort alone are what the files say.
    const fixed = await current(createSource([{ ...first, fork: 'solidly', feePpm: 1_100 }]))
    expect(fixed.map(({ stable }) => stable)).toEqual([true, true])
  })
})
