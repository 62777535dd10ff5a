import type { Network } from '../../core/domain/network.ts'
import type { Payment, SwapChain } from '../../swap/ports/swap-chain.ts'
import { isNative } from '../chains/evm/native-coin.ts'
import { askEveryNode, type EvmNode, type Note } from '../chains/evm/node.ts'
import { observe } from '../chains/evm/observe.ts'
import { findAgreedHead } from '../chains/evm/reader.ts'
import { orNull, receipt, transaction } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import { eventOf } from '../chains/evm/token.ts'

type Transfer = Parameters<SwapChain['readPayment']>[1]
type Context = Readonly<{
  nodes: readonly EvmNode[]
  network: Network
  wrapped: string
  nativeIsToken: boolean
  note: Note
}>

/** Reads the amount that a transaction moved between two accounts. Throws if the nodes disagree about block or amount. */
export async function readPayment(context: Context, txHash: string, transfer: Transfer): Promise<Payment | null> {
  const { nodes, network, note } = context
  const observed = await observe(nodes, network, { txHash, conflictKey: null }, note)
  if (observed.kind !== 'included' || !observed.ok) return null
  const { block } = observed
  const moved = await askEveryNode(nodes, (node) =>
    movedIn(context, node, { txHash, blockHash: block.hash, ...transfer }),
  )
  const head = await findAgreedHead(nodes)
  const [units] = moved
  if (units === undefined || units === null || moved.some((one) => one !== units) || head.height < block.height)
    throw unavailable(`the nodes disagree about the amount that ${txHash} moved`)
  return { units, confirmations: head.height - block.height + 1 }
}

/**
 * Sums the native value of a plain transfer and the token's events. Native currency that a contract forwards leaves no event
 * and counts as 0. Null if the transaction is now in another block.
 */
async function movedIn(
  { wrapped, nativeIsToken }: Context,
  node: EvmNode,
  { txHash, blockHash, token, from, to }: Transfer & Readonly<{ txHash: string; blockHash: string }>,
): Promise<bigint | null> {
  const [mined, tx] = await Promise.all([
    node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt)),
    node.ask('eth_getTransactionByHash', [txHash], orNull(transaction)),
  ])
  if (mined?.blockHash !== blockHash || tx?.blockHash !== blockHash) return null
  const isNativeTransfer = isNative(token) || (nativeIsToken && token === wrapped)
  const direct = isNativeTransfer && tx.from.toLowerCase() === from && tx.to?.toLowerCase() === to ? tx.value : 0n
  return mined.logs
    .filter((entry) => entry.address.toLowerCase() === token)
    .map(eventOf)
    .filter((event) => event?.from.toLowerCase() === from && event.to.toLowerCase() === to)
    .reduce((sum, event) => sum + (event?.units ?? 0n), direct)
}
