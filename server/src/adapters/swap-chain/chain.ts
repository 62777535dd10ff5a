import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { getAddress } from 'viem'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import { assert } from '../../lib/assert.ts'
import { isNative, nativeAddress } from '../../swap/domain/token.ts'
import type { SwapChain } from '../../swap/ports/swap-chain.ts'
import { parseAddress } from '../chains/evm/address.ts'
import { type FeeCaps, feeCaps } from '../chains/evm/fees.ts'
import { askEveryNode, createNode, type Note } from '../chains/evm/node.ts'
import { balanceAt } from '../chains/evm/received.ts'
import { type RpcOptions, rpcDefaults } from '../chains/evm/rpc.ts'
import { readAddress } from '../chains/shared/account-address.ts'
import { minOf } from '../chains/shared/min-max.ts'
import { broadcastSwap } from './broadcast.ts'
import { finalHeight, paidFees } from './paid-fees.ts'
import { payment } from './payments.ts'
import { callHash, prepare } from './prepare.ts'
import { readSigned } from './read-signed.ts'
import { readTokenFacts } from './token-facts.ts'
import { lookUp, track } from './track.ts'

export type EvmSwapChainOptions = Readonly<{
  network: Network
  /** At least two in production: what is said of a sent swap is believed only where they agree. */
  rpcUrls: readonly string[]
  /** The wrapped native coin; on Celo the coin's own token. */
  wrapped: string
  /** The coin is itself a token, so that nothing is wrapped; by default on Celo. */
  nativeIsToken?: boolean
  rpc?: Partial<RpcOptions>
  caps?: FeeCaps
  note?: Note
}>

/** For whom a partner waits: in place of a second attempt the next node is asked, where there is one. */
const ASKED = { timeoutMs: 4_000, attempts: 2 } as const

/** A block with all its transactions is the largest reply that is asked for. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024

/** One network of the EVM family. Nothing is asked of the nodes until the first call. */
export function createEvmSwapChain(parts: EvmSwapChainOptions): SwapChain {
  const { network, rpcUrls, caps = feeCaps, note = () => undefined } = parts
  const { evm } = network
  assert(evm !== undefined && rpcUrls.length > 0, `${network.id} has parameters and a node`)
  const parse = (text: string) => parseToken(text, evm.coinContract)
  const wrapped = parse(parts.wrapped)
  assert(wrapped !== null && wrapped !== nativeAddress, `${network.id} has a wrapped coin`)
  const options = { ...rpcDefaults, replyBytesMax: REPLY_BYTES_MAX, ...parts.rpc }
  const nodesWith = (rpc: RpcOptions) =>
    rpcUrls.map((url, n) => createNode(`${network.id} node ${n + 1}`, url, evm.chainId, rpc))
  const nodes = nodesWith(options)
  const attempts = rpcUrls.length > 1 ? 1 : ASKED.attempts
  const asked = nodesWith({ ...options, timeoutMs: ASKED.timeoutMs, attempts, ...parts.rpc })
  const forPartner = <T>(work: Promise<T>) => inOurWords(network, work)
  const nativeIsToken = parts.nativeIsToken ?? network.id === 'celo'
  return Object.freeze({
    network,
    wrapped,
    router: swapRouter.address.toLowerCase(),
    executor: swapExecutor.address.toLowerCase(),
    externalExecutor: externalExecutor.address.toLowerCase(),
    parse,
    parseAccount,
    formatAddress: spellAddress,
    readToken: (address) => forPartner(readTokenFacts(asked, network, address)),
    callHash: (order) => callHash({ wrapped, nativeIsToken }, order),
    prepare: (order) => forPartner(prepare({ network, nodes: asked, caps, wrapped, nativeIsToken }, order)),
    readSigned: (raw) => readSigned(evm.chainId, raw),
    broadcast: async (raw) => broadcastSwap(nodes, readSigned(evm.chainId, raw), raw.toLowerCase()),
    observe: (hash, sent) => track(nodes, network, hash, { sent, note }),
    lookUp: (hash) => forPartner(lookUp(asked, evm.chainId, hash)),
    finalHeight: () => finalHeight(nodes, network),
    paidFees: (from, to) => paidFees(nodes, from, to),
    balance: async (address, token) =>
      minOf(await askEveryNode(nodes, (node) => balanceAt(node, address, isNative(token) ? null : token, 'latest'))),
    payment: (hash, asked) => payment({ nodes, network, wrapped, nativeIsToken, note }, hash, asked),
  } satisfies SwapChain)
}

/** Which node failed at what is the operator's to know, and stands in the cause. */
async function inOurWords<T>({ id }: Network, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'NETWORK_UNAVAILABLE') throw cause
    throw new AppError('NETWORK_UNAVAILABLE', `the nodes of ${id} do not answer as they should at the moment`, {
      cause,
    })
  }
}

/** Written as wallets and aggregators write it. */
const placeholder = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const spellAddress = (address: string): string => (isNative(address) ? placeholder : getAddress(address))

function parseToken(text: string, coinContract: string | undefined): string | null {
  const lower = text.toLowerCase()
  return isNative(lower) || lower === coinContract ? nativeAddress : (readAddress(text)?.toLowerCase() ?? null)
}

function parseAccount(text: string): string | null {
  const account = parseAddress(text)?.toLowerCase() ?? null
  return account === null || isNative(account) ? null : account
}
