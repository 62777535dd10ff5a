import { deploymentProxy, swapExecutor, swapRouter } from '@swapyard/contracts'
import fc from 'fast-check'
import {
  type Abi,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { networks } from '../../../networks/index.ts'
import { encodeSwap } from '../../../src/adapters/evm/dex/encode-swap.ts'
import { createNetworkPools } from '../../../src/adapters/evm/dex/network-pools.ts'
import { resolveNetwork } from '../../../src/domain/network.ts'
import { executeRoute, SHARE_ALL } from '../../../src/domain/swap/execute.ts'
import type { Pool } from '../../../src/domain/swap/kinds.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { PoolSource } from '../../../src/ports/pools.ts'
import { type Artifact, artifact, type Chain, startChain } from '../differential/chain.ts'

/* Algebra Integral's own factory and pools on a real node: what is followed by logs against what they say and pay. */

const integral = (name: string) =>
  artifact('@cryptoalgebra/integral-core', `artifacts/contracts/${name}.sol/${name}.json`)
const deployerContract = integral('AlgebraPoolDeployer')
const factoryContract = integral('AlgebraFactory')
const poolAbi = integral('AlgebraPool').abi
const tokenAbi = [
  {
    type: 'function',
    name: 'approve',
    stateMutability: 'nonpayable',
    inputs: [{ type: 'address' }, { type: 'uint256' }],
    outputs: [],
  },
  {
    type: 'function',
    name: 'balanceOf',
    stateMutability: 'view',
    inputs: [{ type: 'address' }],
    outputs: [{ type: 'uint256' }],
  },
] as const satisfies Abi

const BLOCKS = 20
const SQRT_ONE = 2n ** 96n
const BOUNDS = [-6_000, -600, -60, 0, 60, 600, 6_000] as const
const positions = [
  { lower: -60_000, upper: 60_000, liquidity: 10n ** 21n },
  { lower: -600, upper: 600, liquidity: 3n * 10n ** 21n },
]
const log = createLog({ level: 'warn', pretty: true })

let chain: Chain
let factory: Hex
let pool: Hex
let tokens: readonly Hex[]
beforeAll(async () => {
  chain = await startChain('ConcentratedHarness')
  for (const { data } of [swapRouter, swapExecutor])
    await chain.anvil.sendAndMine({ to: deploymentProxy, data, gas: 10_000_000n })
  const nonce = BigInt(await chain.anvil.request<Hex>('eth_getTransactionCount', [chain.harness, 'latest']))
  const deployer = getContractAddress({ from: chain.harness, nonce: nonce + 1n })
  factory = await chain.deploy(encodeDeployData({ ...factoryContract, args: [deployer] }))
  await chain.deploy(encodeDeployData({ ...deployerContract, args: [factory] }))
})
afterAll(() => chain?.anvil.stop())

/** A pool of new tokens, which the harness holds and lets our router take. */
async function makePool(): Promise<Hex> {
  await chain.send('renew', [])
  tokens = await Promise.all(
    [0n, 1n].map(async (place) => (await chain.ask<Hex>('tokens', [place])).toLowerCase() as Hex),
  )
  for (const token of tokens) await execute(token, tokenAbi, 'approve', [swapRouter.address, 2n ** 255n])
  await execute(factory, factoryContract.abi, 'createPool', [...tokens, '0x'])
  const made = await read<Hex>(factory, factoryContract.abi, 'poolByPair', tokens)
  await chain.send('adopt', [made, SQRT_ONE, positions])
  return made.toLowerCase() as Hex
}
const execute = (to: Hex, abi: Abi, functionName: string, args: readonly unknown[]) =>
  chain.send('execute', [to, encodeFunctionData({ abi, functionName, args: [...args] })])
async function read<T>(to: Hex, abi: Artifact['abi'], functionName: string, args: readonly unknown[] = []): Promise<T> {
  const data = encodeFunctionData({ abi, functionName, args: [...args] })
  return decodeFunctionResult({ abi, functionName, data: await call(to, data) }) as T
}
const call = (to: Hex, data: Hex) =>
  chain.anvil.request<Hex>('eth_call', [{ from: chain.harness, to, data, gas: '0x989680' }, 'latest'])

function createSource(): PoolSource {
  const definition = networks.find(({ id }) => id === 'eth')
  if (!definition) throw new Error('no such network')
  return createNetworkPools({
    network: resolveNetwork(definition, 'sandbox'),
    rpcUrls: [chain.anvil.url],
    dexNetwork: {
      network: 'eth',
      wrapped: tokens[0] ?? '',
      hubs: tokens,
      dexes: [{ name: 'integral', kind: 'algebra-integral', factory }],
    },
    tokens: [],
    snapshots: { load: async () => null, save: async () => undefined },
    log,
    settings: { compareEveryBlocks: 1, comparePools: 3 },
  })
}

async function current(source: PoolSource): Promise<readonly Pool[]> {
  const { hash } = await chain.anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
  for (let turns = 0; turns < 20; turns++) {
    await source.advance()
    const at = source.current()
    if (at?.block.hash === hash) return at.pools
  }
  throw new Error('the newest block was not reached')
}

async function compareState(known: readonly Pool[]): Promise<void> {
  const [sqrtPrice, tick, fee] = await read<readonly [bigint, number, number]>(pool, poolAbi, 'globalState')
  const ticks: { index: number; gross: bigint; net: bigint }[] = []
  for (const index of [-60_000, ...BOUNDS, 60_000]) {
    const [gross, net] = await read<readonly [bigint, bigint]>(pool, poolAbi, 'ticks', [index])
    if (gross > 0n) ticks.push({ index, gross, net })
  }
  const liquidity = await read<bigint>(pool, poolAbi, 'liquidity')
  const [one] = known
  if (one?.kind !== 'algebra') throw new Error('the pool is not there')
  expect(one).toMatchObject({ sqrtPrice, tick, liquidity, feePpm: [fee, fee] })
  expect(one.ticks.filter(({ index }) => Math.abs(index) <= 60_000)).toMatchObject(ticks)
}

function swapOf(one: Pool, back: boolean, amountIn: bigint) {
  const [tokenIn, tokenOut] = back ? [1, 0] : [0, 1]
  const swaps = [{ pool: one, tokenIn, tokenOut, share: SHARE_ALL }]
  const [source, target] = [one.tokens[tokenIn] ?? '', one.tokens[tokenOut] ?? '']
  const promised = executeRoute(swaps, source, target, amountIn)?.amountOut ?? null
  const route = { swaps, source, target, coinIn: false, coinOut: false, wrapped: null }
  const reference = `0x${'0'.repeat(64)}` as Hex
  const terms = { amountIn, minOut: 1n, recipient: chain.harness, fee: null, reference, deadline: 2n ** 40n }
  return { promised, target: target as Hex, ...encodeSwap(route, terms) }
}

const acts = fc.record({
  what: fc.integer({ min: 0, max: 5 }),
  back: fc.boolean(),
  amount: fc.bigInt({ min: 1n, max: 10n ** 20n }),
  bounds: fc.subarray([...BOUNDS], { minLength: 2, maxLength: 2 }),
  fee: fc.integer({ min: 0, max: 60_000 }),
})

async function perform({ what, back, amount, bounds, fee }: typeof acts extends fc.Arbitrary<infer T> ? T : never) {
  const [lower, upper] = bounds
  if (what <= 2) await chain.send('run', [[{ zeroForOne: back, amountIn: amount }]])
  if (what === 3) await execute(pool, poolAbi, 'mint', [chain.harness, chain.harness, lower, upper, amount, '0x'])
  if (what === 4) await execute(pool, poolAbi, 'burn', [-600, 600, amount, '0x'])
  if (what === 5 && (await read<number>(pool, poolAbi, 'fee')) !== fee) await execute(pool, poolAbi, 'setFee', [fee])
}

describe("algebra integral's pools", () => {
  test('are found, followed block by block and taken back by a reorg, and pay what is promised', {
    timeout: 60_000,
  }, async () => {
    pool = await makePool()
    const source = createSource()
    await compareState(await current(source))
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.info(`engine: seed ${seed}`)
    let compared = 0
    for (const [index, act] of fc.sample(acts, { seed, numRuns: BLOCKS }).entries()) {
      await perform(act)
      const known = await current(source)
      await compareState(known)
      const { promised, to, calldata } = swapOf(known[0] as Pool, act.back, act.amount)
      if (promised !== null) {
        expect(promised).toBe(BigInt(await call(to, calldata)))
        compared++
      }
      if (index === BLOCKS / 2) {
        await chain.anvil.request('anvil_reorg', [3, []])
        await compareState(await current(source))
      }
    }
    expect(compared).toBeGreaterThan(BLOCKS / 2)
    expect(source.counts()).toEqual({ reorgs: 1, differences: 0, rereads: 1 })

    const [one] = await current(source)
    const { promised, target, to, calldata } = swapOf(one as Pool, false, 10n ** 18n)
    const before = await read<bigint>(target, tokenAbi, 'balanceOf', [chain.harness])
    await chain.send('execute', [to, calldata])
    expect((await read<bigint>(target, tokenAbi, 'balanceOf', [chain.harness])) - before).toBe(promised)
  })

  test('are left out while a plugin is asked before each swap', async () => {
    pool = await makePool()
    const source = createSource()
    expect(await current(source)).toHaveLength(1)
    await execute(pool, poolAbi, 'setPlugin', [factory])
    // After a swap it may be asked: that changes no amount.
    await execute(pool, poolAbi, 'setPluginConfig', [2])
    expect(await current(source)).toHaveLength(1)
    await execute(pool, poolAbi, 'setPluginConfig', [1])
    expect(await current(source)).toEqual([])
    expect(await current(createSource())).toEqual([])
    await execute(pool, poolAbi, 'setPluginConfig', [0])
    expect(await current(createSource())).toHaveLength(1)
  })
})
