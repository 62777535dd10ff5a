import { join } from 'node:path'
import { deploymentProxy, swapExecutor, swapRouter } from '@swapyard/contracts'
import { type Abi, decodeFunctionResult, encodeDeployData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { expect } from 'vitest'
import { networks } from '../../../networks/index.ts'
import { encodeSwap } from '../../../src/adapters/dex/encode-swap.ts'
import { createNetworkPools } from '../../../src/adapters/dex/network-pools.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'
import { createLog } from '../../../src/lib/log.ts'
import type { Dex } from '../../../src/swap/domain/dex.ts'
import type { PoolSource } from '../../../src/swap/ports/pools.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { hex, startAnvil } from '../chains/evm/anvil.ts'
import { type Compiled, compile } from '../chains/evm/compile.ts'
import { testTokens } from '../chains/evm/tokens.ts'

/** A node for the test pools of contracts/test/pools, with our published router and executor, and tokens. */

const GAS = 12_000_000n
const OPTIONS = ['--gas-limit', '400000000', '--hardfork', 'cancun', '--code-size-limit', '100000']
const MOST = 2n ** 256n - 1n
const erc20 = parseAbi(['function balanceOf(address) view returns (uint256)'])
const log = createLog({ level: 'warn', pretty: true })

export const poolContracts = (file: string): Promise<Readonly<Record<string, Compiled>>> =>
  compile(join(import.meta.dirname, '../../../../contracts/test/pools', `${file}.sol`))

export type OwnChain = Awaited<ReturnType<typeof startOwnChain>>

export async function startOwnChain(decimals: readonly number[]) {
  const anvil = await startAnvil(OPTIONS)
  const me = (anvil.accounts[0] ?? '').toLowerCase() as Hex
  const lower = (address: string) => address.toLowerCase() as Hex
  const deploy = async ({ abi, bytecode }: Compiled, args: readonly unknown[] = []) => {
    const { txHash } = await anvil.sendAndMine({ data: encodeDeployData({ abi, bytecode, args: [...args] }), gas: GAS })
    return lower((await receiptOf(txHash)).contractAddress)
  }
  async function receiptOf(txHash: string) {
    const receipt = await anvil.request<{ status: Hex; contractAddress: Hex }>('eth_getTransactionReceipt', [txHash])
    if (receipt.status !== '0x1') throw new Error(`${txHash} reverted`)
    return receipt
  }
  /** Sends a transaction for the next block. */
  const act = (to: Hex, abi: Abi, functionName: string, args: readonly unknown[] = []) =>
    anvil.send({ to, data: encodeFunctionData({ abi, functionName, args: [...args] }), gas: GAS })
  const newest = () => anvil.request<{ hash: Hex; timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
  /** Calls after the newest block, with its timestamp. */
  async function ask(to: Hex, calldata: Hex): Promise<Hex> {
    const { hash } = await newest()
    return anvil.request<Hex>('eth_call', [{ from: me, to, data: calldata, gas: hex(GAS) }, { blockHash: hash }])
  }
  async function read<T>(to: Hex, abi: Abi, functionName: string, args: readonly unknown[] = []): Promise<T> {
    const answer = await ask(to, encodeFunctionData({ abi, functionName, args: [...args] }))
    return decodeFunctionResult({ abi, functionName, data: answer }) as T
  }

  for (const { data } of [swapRouter, swapExecutor]) await anvil.sendAndMine({ to: deploymentProxy, data, gas: GAS })
  const { StandardToken } = await testTokens()
  const made: { token: Hex; places: number }[] = []
  for (const places of decimals) made.push({ token: await deploy(StandardToken, ['Token', 'TKN', places]), places })
  made.sort((a, b) => (a.token < b.token ? -1 : 1))
  const tokens: readonly Hex[] = made.map(({ token }) => token)
  const approve = (spender: Hex) =>
    Promise.all(tokens.map((token) => act(token, StandardToken.abi, 'approve', [spender, MOST])))
  for (const token of tokens) await act(token, StandardToken.abi, 'mint', [me, 10n ** 40n])
  await approve(swapRouter.address)
  await anvil.mine()

  function createSource(dexes: readonly Dex[], connectors: readonly Hex[] = tokens): PoolSource {
    const definition = networks.find(({ id }) => id === 'eth')
    if (!definition) throw new Error('unknown network')
    return createNetworkPools({
      network: resolveNetwork(definition, 'sandbox'),
      rpcUrls: [anvil.url],
      dexNetwork: { network: 'eth', wrapped: tokens[0] ?? '', connectors, dexes },
      tokens: [],
      snapshots: { load: async () => null, save: async () => undefined },
      log,
      settings: { compareEveryBlocks: 1, comparePools: 3 },
    })
  }

  async function current(source: PoolSource) {
    const { hash } = await newest()
    for (let turns = 0; turns < 20; turns++) {
      await source.advance()
      const at = source.current()
      if (at?.block.hash === hash) return at
    }
    throw new Error('the pools did not reach the newest block')
  }

  /** Our router's call through one pool, and its expected output. */
  function quote(pool: Pool, tokenIn: number, tokenOut: number, amountIn: bigint) {
    const swaps = [{ pool, tokenIn, tokenOut, share: SHARE_ALL }]
    const [source, target] = [pool.tokens[tokenIn] ?? '', pool.tokens[tokenOut] ?? '']
    const expected = executeRoute(swaps, source, target, amountIn).amountOut
    const route = { swaps, source, target, nativeIn: false, nativeOut: false, wrapped: null }
    const reference = `0x${'0'.repeat(64)}` as Hex
    const terms = { amountIn, minOut: 1n, recipient: me, fee: null, reference, deadline: 2n ** 40n }
    return { expected, target: target as Hex, ...encodeSwap(route, terms) }
  }

  /** False without an expected output. Otherwise checks that the router pays it exactly in a call at the same block. */
  async function compareQuote(pool: Pool, tokenIn: number, tokenOut: number, amountIn: bigint): Promise<boolean> {
    const { expected, to, calldata } = quote(pool, tokenIn, tokenOut, amountIn)
    if (expected === null) return false
    const paid = await ask(to, calldata)
      .then(BigInt)
      .catch((error: Error) => error.message)
    expect([pool.dex, pool.tokens.length, tokenIn, amountIn, paid]).toEqual([
      ...[pool.dex, pool.tokens.length, tokenIn, amountIn, expected],
    ])
    return true
  }

  const balanceOf = (token: Hex) => read<bigint>(token, erc20, 'balanceOf', [me])

  /** Swaps in a transaction and returns the amount received. */
  async function trade(pool: Pool, tokenIn: number, tokenOut: number, amountIn: bigint) {
    const { expected, target, to, calldata } = quote(pool, tokenIn, tokenOut, amountIn)
    const before = await balanceOf(target)
    const { txHash } = await anvil.sendAndMine({ to, data: calldata, gas: GAS })
    await receiptOf(txHash)
    return { expected, received: (await balanceOf(target)) - before }
  }

  /** Sends a swap through our router for the next block. */
  function swap(pool: Pool, tokenIn: number, tokenOut: number, amountIn: bigint) {
    const { to, calldata } = quote(pool, tokenIn, tokenOut, amountIn)
    return anvil.send({ to, data: calldata, gas: GAS })
  }

  const decimalsOf = (token: string) => made.find((one) => one.token === token)?.places ?? 0
  return {
    ...{ anvil, me, tokens, decimalsOf, deploy, approve, act, read, newest },
    ...{ createSource, current, quote, compareQuote, trade, swap },
  }
}
