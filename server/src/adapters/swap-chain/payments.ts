import type { Network } from '../../core/domain/network.ts'
import { isNative } from '../../swap/domain/token.ts'
import type { Payment, SwapChain } from '../../swap/ports/swap-chain.ts'
import { type EvmNode, askEveryNode, type Note } from '../chains/evm/node.ts'
import { observe } from '../chains/evm/observe.ts'
import { findAgreedHead } from '../chains/evm/reader.ts'
import { orNull, receipt, transaction } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import { eventOf } from '../chains/evm/token.ts'

type Asked = Parameters<SwapChain['payment']>[1]
type Parts = Readonly<{
  nodes: readonly EvmNode[]
  network: Network
  wrapped: string
  nativeIsToken: boolean
  note: Note
}>

/** What a transaction moved between two accounts, where every node has it in the same block and says the same. */
export async function payment(parts: Parts, txHash: string, asked: Asked): Promise<Payment | null> {
  const { nodes, network, note } = parts
  const seen = await observe(nodes, network, { txHash, conflictKey: null }, note)
  if (seen.kind !== 'included' || !seen.ok) return null
  const { block } = seen
  const moved = await askEveryNode(nodes, (node) => movedIn(parts, node, { txHash, blockHash: block.hash, ...asked }))
  const head = await findAgreedHead(nodes)
  const [units] = moved
  if (units === undefined || units === null || moved.some((one) => one !== units) || head.height < block.height)
    throw unavailable(`the nodes differ about what ${txHash} moved`)
  return { units, confirmations: head.height - block.height + 1 }
}

/**
 * The coin of a plain transfer, and the token's own events. Coin that a contract passes on leaves no event: it counts as
 * nothing. null: the block is another by now.
 */
async function movedIn(
  { wrapped, nativeIsToken }: Parts,
  node: EvmNode,
  { txHash, blockHash, token, from, to }: Asked & Readonly<{ txHash: string; blockHash: string }>,
): Promise<bigint | null> {
  const [found, tx] = await Promise.all([
    node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt)),
    node.ask('eth_getTransactionByHash', [txHash], orNull(transaction)),
  ])
  if (found?.blockHash !== blockHash || tx?.blockHash !== blockHash) return null
  const isCoin = isNative(token) || (nativeIsToken && token === wrapped)
  const direct = isCoin && tx.from.toLowerCase() === from && tx.to?.toLowerCase() === to ? tx.value : 0n
  return found.logs
    .filter((entry) => entry.address.toLowerCase() === token)
    .map(eventOf)
    .filter((event) => event?.from.toLowerCase() === from && event.to.toLowerCase() === to)
    .reduce((sum, event) => sum + (event?.units ?? 0n), direct)
}
