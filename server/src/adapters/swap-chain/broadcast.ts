import { parseTransaction } from 'viem'
import type { SwapBroadcast } from '../../swap/ports/swap-chain.ts'
import { askFirstNode, type EvmNode } from '../chains/evm/node.ts'
import { bytes, count, fields, orNull, quantity } from '../chains/evm/replies.ts'
import { broadcast } from '../chains/evm/sender.ts'
import type { readSigned } from './read-signed.ts'

type Because = Extract<SwapBroadcast, { kind: 'rejected' }>['because']

export async function broadcastSwap(
  nodes: readonly EvmNode[],
  { signer, nonce }: ReturnType<typeof readSigned>,
  raw: string,
): Promise<SwapBroadcast> {
  const result = await broadcast(nodes, raw)
  if (result.kind !== 'rejected') return result
  const because = await askFirstNode(nodes, (node) => findRefusalCause(node, { signer, nonce }, raw)).catch(
    () => 'other' as const,
  )
  return { ...result, because }
}

/** Derived from the account and the chain, because error texts differ by client and version. */
async function findRefusalCause(
  node: EvmNode,
  { signer, nonce }: { signer: string; nonce: number },
  raw: string,
): Promise<Because> {
  const { gas = 0n, gasPrice, maxFeePerGas, value = 0n } = parseTransaction(bytes(raw))
  const price = maxFeePerGas ?? gasPrice ?? 0n
  const [confirmedNonce, pendingNonce, balance, baseFee] = await Promise.all([
    node.ask('eth_getTransactionCount', [signer, 'latest'], count),
    node.ask('eth_getTransactionCount', [signer, 'pending'], count),
    node.ask('eth_getBalance', [signer, 'latest'], quantity),
    node.ask(
      'eth_getBlockByNumber',
      ['latest', false],
      (reply) => orNull(quantity)(fields(reply)['baseFeePerGas']) ?? 0n,
    ),
  ])
  if (confirmedNonce > nonce) return 'nonce-used'
  if (balance < value + gas * price) return 'insufficient-funds'
  // Another transaction with this nonce is pending at a similar fee, or the fee is below the base fee.
  return pendingNonce > nonce || price < baseFee ? 'underpriced' : 'other'
}
