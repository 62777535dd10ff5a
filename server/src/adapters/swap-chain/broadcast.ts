import { parseTransaction } from 'viem'
import type { SignedTransaction, SwapBroadcast } from '../../swap/ports/swap-chain.ts'
import { type EvmNode, askFirstNode } from '../chains/evm/node.ts'
import { bytes, count, fields, orNull, quantity } from '../chains/evm/replies.ts'
import { broadcast } from '../chains/evm/sender.ts'

type Because = Extract<SwapBroadcast, { kind: 'rejected' }>['because']

export async function broadcastSwap(
  nodes: readonly EvmNode[],
  { signer, nonce }: SignedTransaction,
  raw: string,
): Promise<SwapBroadcast> {
  const result = await broadcast(nodes, raw)
  if (result.kind !== 'rejected') return result
  const because = await askFirstNode(nodes, (node) => whyRefused(node, { signer, nonce }, raw)).catch(
    () => 'other' as const,
  )
  return { ...result, because }
}

/** From the account and the chain: the words of refusals differ by client and version. */
async function whyRefused(
  node: EvmNode,
  { signer, nonce }: { signer: string; nonce: number },
  raw: string,
): Promise<Because> {
  const { gas = 0n, gasPrice, maxFeePerGas, value = 0n } = parseTransaction(bytes(raw))
  const price = maxFeePerGas ?? gasPrice ?? 0n
  const [used, waiting, balance, base] = await Promise.all([
    node.ask('eth_getTransactionCount', [signer, 'latest'], count),
    node.ask('eth_getTransactionCount', [signer, 'pending'], count),
    node.ask('eth_getBalance', [signer, 'latest'], quantity),
    node.ask(
      'eth_getBlockByNumber',
      ['latest', false],
      (reply) => orNull(quantity)(fields(reply)['baseFeePerGas']) ?? 0n,
    ),
  ])
  if (used > nonce) return 'nonce-used'
  if (balance < value + gas * price) return 'insufficient-funds'
  // One of the same nonce waits, and this one does not pay enough more; or it pays less than the block asks.
  return waiting > nonce || price < base ? 'underpriced' : 'other'
}
