import { deploymentProxy, swapExecutor, swapRouter } from '@swapyard/contracts'
import {
  type Abi,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  parseAbi,
} from 'viem'
import { networks } from '../../../networks/index.ts'
import { encodeSwap } from '../../../src/adapters/dex/encode-swap.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { PoolSource } from '../../../src/swap/ports/pools.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { artifact, startChain } from '../../swap/routing/differential/chain.ts'

const packages = { algebra: '@cryptoalgebra/core', 'algebra-integral': '@cryptoalgebra/integral-core' } as const
const tokenAbi = parseAbi([
  'function approve(address spender, uint256 value)',
  'function balanceOf(address owner) view returns (uint256)',
])
export const SQRT_ONE = 2n ** 96n
const log = createLog({ level: 'warn', pretty: true })
const DEPLOY_GAS = 10_000_000n

/** A node with the published contracts of Algebra 2 or Integral, our router, and a harness that owns everything. */
export async function startAlgebra(kind: keyof typeof packages) {
  const published = (name: string) => artifact(packages[kind], `artifacts/contracts/${name}.sol/${name}.json`)
  const factoryContract = published('AlgebraFactory')
  const poolAbi = published('AlgebraPool').abi
  const chain = await startChain('ConcentratedHarness')
  const { anvil, harness } = chain
  for (const { data } of [swapRouter, swapExecutor])
    await anvil.sendAndMine({ to: deploymentProxy, data, gas: DEPLOY_GAS })
  // Factory and deployer need each other's address, so the deployer's address is computed first. The harness is the vault of version 2.
  const nonce = BigInt(await anvil.request<Hex>('eth_getTransactionCount', [harness, 'latest']))
  const deployer = getContractAddress({ from: harness, nonce: nonce + 1n })
  const factory = await chain.deploy(encodeDeployData({ ...factoryContract, args: [deployer] }))
  const deployerArgs = kind === 'algebra' ? [factory, harness] : [factory]
  await chain.deploy(encodeDeployData({ ...published('AlgebraPoolDeployer'), args: deployerArgs }))
  let tokens: readonly Hex[] = []

  const execute = (to: Hex, abi: Abi, functionName: string, args: readonly unknown[]) =>
    chain.send('execute', [to, encodeFunctionData({ abi, functionName, args: [...args] })])
  const call = (to: Hex, data: Hex) =>
    anvil.request<Hex>('eth_call', [{ from: harness, to, data, gas: '0x989680' }, 'latest'])
  async function read<T>(to: Hex, abi: Abi, functionName: string, args: readonly unknown[] = []): Promise<T> {
    const data = encodeFunctionData({ abi, functionName, args: [...args] })
    return decodeFunctionResult({ abi, functionName, data: await call(to, data) }) as T
  }

  return {
    ...{ anvil, harness, poolAbi, call },
    factory,
    send: chain.send,
    onPool: (pool: Hex, functionName: string, args: readonly unknown[]) => execute(pool, poolAbi, functionName, args),
    ofPool: <T>(pool: Hex, functionName: string, args: readonly unknown[] = []) =>
      read<T>(pool, poolAbi, functionName, args),
    balanceOf: (token: Hex) => read<bigint>(token, tokenAbi, 'balanceOf', [harness]),
    /** Creates a pool of new tokens. The harness holds them and approves our router. */
    async makePool(positions: readonly { lower: number; upper: number; liquidity: bigint }[]): Promise<Hex> {
      await chain.send('renew', [])
      tokens = await Promise.all(
        [0n, 1n].map(async (place) => (await chain.ask<Hex>('tokens', [place])).toLowerCase() as Hex),
      )
      for (const token of tokens) await execute(token, tokenAbi, 'approve', [swapRouter.address, 2n ** 255n])
      const extraArgs = kind === 'algebra' ? [] : ['0x']
      await execute(factory, factoryContract.abi, 'createPool', [...tokens, ...extraArgs])
      const made = await read<Hex>(factory, factoryContract.abi, 'poolByPair', tokens)
      await chain.send('adopt', [made, SQRT_ONE, positions])
      return made.toLowerCase() as Hex
    },
    createSource(): PoolSource {
      const definition = networks.find(({ id }) => id === 'eth')
      if (!definition) throw new Error('unknown network')
      const [wrapped = ''] = tokens
      return createNetworkPools({
        network: resolveNetwork(definition, 'sandbox'),
        rpcUrls: [anvil.url],
        dexNetwork: { network: 'eth', wrapped, connectors: tokens, dexes: [{ name: 'algebra', kind, factory }] },
        tokens: [],
        snapshots: { load: async () => null, save: async () => undefined },
        log,
        settings: { compareEveryBlocks: 1, comparePools: 3 },
      })
    },
    async current(source: PoolSource): Promise<readonly Pool[]> {
      const { hash } = await anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
      for (let turns = 0; turns < 20; turns++) {
        await source.advance()
        const at = source.current()
        if (at?.block.hash === hash) return at.pools
      }
      throw new Error('the pools did not reach the newest block')
    },
    /** Our router's call through one pool, and its expected output. */
    swapOf(pool: Pool, back: boolean, amountIn: bigint) {
      const [tokenIn, tokenOut] = back ? [1, 0] : [0, 1]
      const swaps = [{ pool, tokenIn, tokenOut, share: SHARE_ALL }]
      const [source, target] = [pool.tokens[tokenIn] ?? '', pool.tokens[tokenOut] ?? '']
      const expected = executeRoute(swaps, source, target, amountIn).amountOut
      const route = { swaps, source, target, nativeIn: false, nativeOut: false, wrapped: null }
      const reference = `0x${'0'.repeat(64)}` as Hex
      const terms = { amountIn, minOut: 1n, recipient: harness, fee: null, reference, deadline: 2n ** 40n }
      return { expected, target: target as Hex, ...encodeSwap(route, terms) }
    },
  }
}
export type Algebra = Awaited<ReturnType<typeof startAlgebra>>
