import { swapRouter } from '@swapyard/contracts'
import { getAddress, type Hex, parseEventLogs } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import type { SignedTransaction, SwapObservation } from '../../swap/ports/swap-chain.ts'
import { type EvmNode, askEveryNode, type Note } from '../chains/evm/node.ts'
import { observe } from '../chains/evm/observe.ts'
import { findAgreedHead } from '../chains/evm/reader.ts'
import { orNull, receipt, type TransactionReply, transaction } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import { decodeAction } from './act.ts'

type Sent = Readonly<{ signer: string; nonce: number }>

/** Where every node has it, in the same block of its best chain; what it paid, from the receipt of that block. */
export async function track(
  nodes: readonly EvmNode[],
  network: Network,
  txHash: string,
  { sent, note }: { sent: Sent | undefined; note: Note },
): Promise<SwapObservation> {
  const conflictKey = sent === undefined ? null : `${getAddress(sent.signer)}:${sent.nonce}`
  const seen = await observe(nodes, network, { txHash, conflictKey }, note)
  if (seen.kind === 'invalidated') return { kind: 'replaced' }
  if (seen.kind !== 'included') return { kind: seen.kind }
  const paid = await askEveryNode(nodes, (node) => paidIn(node, txHash, seen.block.hash))
  const head = await findAgreedHead(nodes)
  // The chain moved between the reads.
  if (paid.includes('moved') || head.height < seen.block.height) return { kind: 'pending' }
  const [first = null, ...others] = paid
  const same = (one: Paid | null | 'moved') => textOf(one) === textOf(first)
  if (!others.every(same)) throw unavailable(`the nodes differ about what ${txHash} paid`)
  const told = seen.ok && first !== 'moved' ? first : null
  return {
    kind: 'included',
    block: seen.block,
    confirmations: head.height - seen.block.height + 1,
    ok: seen.ok,
    received: told?.amountOut ?? null,
    fee: told?.fee ?? null,
  }
}

type Paid = Readonly<{ amountOut: bigint; fee: bigint }>

const textOf = (paid: Paid | null | 'moved'): string =>
  paid === null || paid === 'moved' ? String(paid) : `${paid.amountOut} ${paid.fee}`

/**
 * The router measured what the recipient got, by its balance where the token may take a fee, and says it in its event: for
 * the native coin there is no other trace of it. null where the transaction is no single swap of our router.
 */
async function paidIn(node: EvmNode, txHash: string, blockHash: string): Promise<Paid | null | 'moved'> {
  const found = await node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt))
  if (found?.blockHash !== blockHash) return 'moved'
  const own = found.logs
    .filter((entry) => entry.address === swapRouter.address && !entry.removed)
    .map((entry) => ({ ...entry, topics: [...entry.topics] as [Hex, ...Hex[]] }))
  const swaps = parseEventLogs({ abi: swapRouter.abi, eventName: 'Swapped', logs: own as never })
  const [swap] = swaps
  if (swaps.length !== 1 || swap === undefined) return null
  const { amountOut, fee } = swap.args
  return { amountOut, fee }
}

/** A transaction by its hash, from the first node that has it. Its signature was the node's to check. */
export async function lookUp(
  nodes: readonly EvmNode[],
  chainId: number,
  txHash: string,
): Promise<SignedTransaction | null> {
  let failure: unknown = null
  for (const node of nodes) {
    try {
      const found = await node.ask('eth_getTransactionByHash', [txHash], orNull(transaction))
      if (found?.hash === txHash && found.nonce !== null) return signedOf(found, found.nonce, chainId)
    } catch (error) {
      failure = error
    }
  }
  // That one node does not know it means nothing while another is silent.
  if (failure !== null) throw failure
  return null
}

function signedOf(
  { hash, from, to, value, input, type }: TransactionReply,
  nonce: number,
  chainId: number,
): SignedTransaction {
  const target = to?.toLowerCase() ?? null
  const act = type === 4 ? null : decodeAction(target, input, value)
  return { hash, signer: from.toLowerCase(), chainId, nonce, to: target, act }
}
