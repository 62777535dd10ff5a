import { swapRouter } from '@swapyard/contracts'
import { getAddress, type Hex, parseEventLogs } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import type { Expiry } from '../../swap/domain/expiry.ts'
import type { TransactionObservation } from '../../swap/domain/swap.ts'
import { askEveryNode, type EvmNode, hex, type Note } from '../chains/evm/node.ts'
import { observe } from '../chains/evm/observe.ts'
import { findAgreedHead, hashAt } from '../chains/evm/reader.ts'
import { blockHash, count, type Decode, fields, orNull, receipt } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'

export type Sent = Readonly<{ signer: string; nonce: number | null; expiry?: Expiry; block?: BlockRef | null }>

type Context = Readonly<{ sent: Sent | undefined; note: Note }>

/**
 * Observes a swap. Throws while a node no longer reports it in the known block and no node has another block at that height: a node
 * that lags, or whose index lags, is no reorganisation.
 */
export async function track(
  nodes: readonly EvmNode[],
  network: Network,
  txHash: string,
  context: Context,
): Promise<TransactionObservation> {
  const observed = await observeSwap(nodes, network, txHash, context)
  const known = context.sent?.block ?? null
  const isOpen = observed.kind === 'pending' || observed.kind === 'unseen'
  if (isOpen && known !== null && !(await isReorged(nodes, known)))
    throw unavailable(`not every node has ${txHash} in block ${known.height} now, and none has another block there`)
  const { expiry } = context.sent ?? {}
  if (observed.kind !== 'unseen' || expiry?.by !== 'time') return observed
  const chainTimeMs = await readTimeMs(nodes)
  if (chainTimeMs <= expiry.at * 1000) return observed
  // A block from before that time may have been mined since the first reading.
  const last = await observeSwap(nodes, network, txHash, context)
  return last.kind === 'unseen' ? { ...last, chainTimeMs } : last
}

/** Time of the highest block that all nodes have in common; 0 if it changes while it is read. */
async function readTimeMs(nodes: readonly EvmNode[]): Promise<number> {
  const head = await findAgreedHead(nodes)
  const times = await askEveryNode(nodes, async (node) => {
    const read = await node.ask('eth_getBlockByNumber', [hex(head.height), false], orNull(blockTime))
    return read?.hash === head.hash ? read.seconds : 0
  })
  return Math.min(...times) * 1000
}

const blockTime: Decode<Readonly<{ hash: string; seconds: number }>> = (reply) => ({
  hash: blockHash(reply),
  seconds: count(fields(reply)['timestamp']),
})

/** Whether a node has another block at the height. A node below that height proves nothing. */
async function isReorged(nodes: readonly EvmNode[], { height, hash }: BlockRef): Promise<boolean> {
  const hashes = await askEveryNode(nodes, (node) => hashAt(node, height))
  return hashes.some((one) => one !== null && one !== hash)
}

/** Mined only if every node has it in the same block. The paid amounts are from that block's receipt. */
async function observeSwap(
  nodes: readonly EvmNode[],
  network: Network,
  txHash: string,
  { sent, note }: Context,
): Promise<TransactionObservation> {
  const { signer = '', nonce = null } = sent ?? {}
  const conflictKey = nonce === null ? null : `${getAddress(signer)}:${nonce}`
  const observed = await observe(nodes, network, { txHash, conflictKey }, note)
  if (observed.kind === 'invalidated') return { kind: 'replaced' }
  if (observed.kind !== 'included') return { kind: observed.kind }
  const paid = await askEveryNode(nodes, (node) => paidIn(node, txHash, observed.block.hash))
  const head = await findAgreedHead(nodes)
  // The chain changed between the reads.
  if (paid.includes('moved') || head.height < observed.block.height) return { kind: 'pending' }
  const [first = null, ...others] = paid
  const same = (one: Paid | null | 'moved') => textOf(one) === textOf(first)
  if (!others.every(same)) throw unavailable(`the nodes disagree about the amounts that ${txHash} paid`)
  const amounts = observed.ok && first !== 'moved' ? first : null
  return {
    kind: 'included',
    block: observed.block,
    confirmations: head.height - observed.block.height + 1,
    ok: observed.ok,
    received: amounts?.amountOut ?? null,
    fee: amounts?.fee ?? null,
  }
}

type Paid = Readonly<{ amountOut: bigint; fee: bigint }>

const textOf = (paid: Paid | null | 'moved'): string =>
  paid === null || paid === 'moved' ? String(paid) : `${paid.amountOut} ${paid.fee}`

/**
 * Reads the paid amounts from the router's event. The router measures them by balance differences, so fees on transfer are
 * accounted for, and native payments have no other event. Null unless the transaction is exactly one swap of our router.
 */
async function paidIn(node: EvmNode, txHash: string, blockHash: string): Promise<Paid | null | 'moved'> {
  const mined = await node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt))
  if (mined?.blockHash !== blockHash) return 'moved'
  const own = mined.logs
    .filter((entry) => entry.address === swapRouter.address && !entry.removed)
    .map((entry) => ({ ...entry, topics: [...entry.topics] as [Hex, ...Hex[]] }))
  const swaps = parseEventLogs({ abi: swapRouter.abi, eventName: 'Swapped', logs: own as never })
  const [swap] = swaps
  if (swaps.length !== 1 || swap === undefined) return null
  const { amountOut, fee } = swap.args
  return { amountOut, fee }
}
