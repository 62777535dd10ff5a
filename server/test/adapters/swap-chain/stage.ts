import { encodeDeployData, type Hex, parseTransaction } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { type DexNode, startDexChain } from '../../../../test/contracts/dex-chain.ts'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { eth } from '../../../networks/eth.ts'
import { isNative, nativeAddress } from '../../../src/adapters/chains/evm/native-coin.ts'
import {
  createEvmSwapChain,
  type EvmSwapChain,
  type EvmSwapChainOptions,
} from '../../../src/adapters/swap-chain/chain.ts'
import { type Network, resolveNetwork } from '../../../src/core/domain/network.ts'
import type { PreparedSwap, SwapChain, SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import { executeRoute, type RouteSwap, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import type { Compiled } from '../chains/evm/compile.ts'

/** The account of the partner's user: the second account of the well-known development seed phrase. */
export const user = mnemonicToAccount('test test test test test test test test test test test junk', {
  addressIndex: 1,
})
export const ether = 10n ** 18n
export const native = nativeAddress

/** anvil's default chain id; finality after five blocks. */
const sandbox = resolveNetwork(eth, 'sandbox')
export const network: Network = {
  ...sandbox,
  finalityBlocks: 5,
  evm: { chainId: 31_337, finalityTag: null, dynamicFees: true },
}

export async function startStage(startNode?: () => Promise<DexNode>) {
  const dex = await startDexChain(startNode)
  const url = String(dex.reader.transport['url'])
  const wrapped = dex.wrapped.toLowerCase()
  const swaps = (options: Partial<EvmSwapChainOptions> = {}) =>
    createEvmSwapChain({ network, rpcUrls: [url], wrapped, rpc: { timeoutMs: 5_000, attempts: 2 }, ...options })
  const ask = <T>(method: string, params: readonly unknown[] = []) =>
    dex.reader.request({ method, params } as never) as Promise<T>

  async function deploy({ abi, bytecode }: Compiled, args: readonly unknown[] = []): Promise<Hex> {
    const { contractAddress } = await dex.send(dex.owner, null, encodeDeployData({ abi, bytecode, args: [...args] }))
    return (contractAddress as Hex).toLowerCase() as Hex
  }

  /** Executes a route in the domain and returns its order with the expected output. */
  function order(
    swapsOfRoute: readonly RouteSwap[],
    { tokenIn, tokenOut, amountIn, ...rest }: Pick<SwapOrder, 'tokenIn' | 'tokenOut' | 'amountIn'> & Partial<SwapOrder>,
  ): { order: SwapOrder; expected: bigint } {
    const [source, target] = [tokenIn, tokenOut].map((token) => (isNative(token) ? wrapped : token)) as [string, string]
    const executed = executeRoute(swapsOfRoute, source, target, amountIn)
    if (executed.amountOut === null) throw new Error('the route pays nothing')
    const swapOrder: SwapOrder = {
      ...{ account: user.address.toLowerCase(), recipient: user.address.toLowerCase(), tokenIn, tokenOut, amountIn },
      ...{ minReceived: 1n, feePpm: 0, feeTo: dex.partner.toLowerCase(), ref: 'a swap' },
      expiry: { by: 'time', at: 2 ** 40 },
      ...{ swaps: executed.swaps, ...rest },
    }
    return { order: swapOrder, expected: executed.amountOut }
  }

  return { dex, url, wrapped, swaps, ask, deploy, order }
}

export type Stage = Awaited<ReturnType<typeof startStage>>

export function via(pool: Pool, from: string, share = 1): RouteSwap {
  const tokenIn = pool.tokens.indexOf(from.toLowerCase())
  return { pool, tokenIn, tokenOut: 1 - tokenIn, share: share === 1 ? SHARE_ALL : Math.round(share * 2 ** 24) }
}

/** Signs as a partner does: viem parses the unsigned transaction and signs it. */
export async function sign(unsigned: string): Promise<Hex> {
  return user.signTransaction(parseTransaction(unsigned as Hex) as Parameters<typeof user.signTransaction>[0])
}

/** Signs and sends the prepared transactions and waits until they are mined. Returns the hash of the swap. */
export async function sendAll(chain: SwapChain, { approve, swap }: PreparedSwap): Promise<string> {
  for (const unsigned of approve === null ? [swap] : [approve, swap]) {
    const sent = await chain.broadcast(await sign(unsigned))
    if (sent.kind !== 'accepted') throw new Error(JSON.stringify(sent))
  }
  const { hash } = await chain.readSigned(await sign(swap))
  await expect.poll(async () => (await chain.observe(hash)).kind, PATIENCE).toBe('included')
  return hash
}

/** Sends a prepared swap, and checks what the recipient gets and what the observation states. Returns the hash of the swap. */
export async function sendExact(
  { dex }: Stage,
  chain: EvmSwapChain,
  { tokenOut, recipient }: SwapOrder,
  prepared: PreparedSwap,
  expected: bigint,
): Promise<string> {
  const out = tokenOut === native ? null : (tokenOut as Hex)
  const before = await dex.balanceOf(out, recipient as Hex)
  const hash = await sendAll(chain, prepared)
  expect((await dex.balanceOf(out, recipient as Hex)) - before).toBe(expected)
  const { signer, nonce } = chain.readSigned(await sign(prepared.swap))
  const observed = await chain.observe(hash, { signer, nonce })
  expect(observed).toMatchObject({ kind: 'included', ok: true, confirmations: 1, received: expected })
  return hash
}

export type Signer = typeof user

export const signAs = (signer: Signer, transaction: object): Promise<Hex> =>
  signer.signTransaction(transaction as Parameters<Signer['signTransaction']>[0])
