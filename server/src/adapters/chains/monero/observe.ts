import type { Network } from '../../../core/domain/network.ts'
import type { ChainSender, Observation, WatchedTransaction } from '../../../exchange/ports/chain.ts'
import { findAgreedHash } from '../shared/agreement.ts'
import { createSpenderSearch, type Spender } from '../shared/spender-search.ts'
import type { MoneroNode, NodeTransaction } from './node.ts'
import { fromHex, parseTransaction } from './transaction.ts'

export function createObserve(network: Network, nodes: readonly MoneroNode[]): ChainSender['observe'] {
  const search = createSpenderSearch(network, nodes, async (blockHash, keyImage) => {
    const [node] = nodes
    if (node === undefined) return null
    const transactions = await node.transactions((await node.block(blockHash)).txHashes)
    return transactions.find(({ content }) => content?.keyImages.includes(keyImage))?.txHash ?? null
  })
  return async (watched): Promise<Observation> => {
    const copies = await Promise.all(nodes.map(async (node) => (await node.transactions([watched.txHash]))[0] ?? null))
    const inclusion = await findInclusion(nodes, copies)
    if (inclusion !== null) return inclusion
    if (copies.some((transaction) => transaction !== null)) return { kind: 'pending' }
    return (await proveConflict(network, nodes, search, watched)) ?? { kind: 'unseen' }
  }
}

/** The inclusion if every node has the transaction in the same block, else null. */
async function findInclusion(
  nodes: readonly MoneroNode[],
  copies: readonly (NodeTransaction | null)[],
): Promise<Observation | null> {
  const height = copies[0]?.height ?? null
  if (height === null || !copies.every((transaction) => transaction?.height === height)) return null
  const hash = await findAgreedHash(nodes, height)
  if (hash === null) return null
  return { kind: 'included', block: { height, hash }, ok: true, feeUnits: copies[0]?.content?.feeUnits ?? null }
}

/** The conflict proof: every node has, at finality, another transaction that spends a key image of ours. */
async function proveConflict(
  network: Network,
  nodes: readonly MoneroNode[],
  search: ReturnType<typeof createSpenderSearch>,
  { txHash, conflictKey, raw, conflictingTxHash }: WatchedTransaction,
): Promise<Observation | null> {
  if (conflictKey === null) return null
  const keyImages = raw === undefined ? [conflictKey] : (parseTransaction(fromHex(raw), null)?.keyImages ?? [])
  const answers = await Promise.all(nodes.map((node) => node.areSpent(keyImages)))
  const spentKeyImages = keyImages.filter((_, n) => answers.every((answer) => answer[n] === true))
  if (spentKeyImages.length === 0) return null
  const heads = await Promise.all(nodes.map((node) => node.head()))
  const lowest = Math.min(...heads.map(({ height }) => height))
  for (const keyImage of spentKeyImages) {
    const named = await verifyNamedSpender(nodes, keyImage, conflictingTxHash ?? null)
    const spender = named ?? (await search(keyImage, lowest))
    if (spender === null || spender.txHash === txHash) continue
    if (lowest - spender.height + 1 < network.finalityBlocks) continue
    const { height, hash } = spender
    return { kind: 'invalidated', proof: { keyImage, spentBy: spender.txHash, blockHash: hash, blockHeight: height } }
  }
  return null
}

/** Checks a spender that an operator named, at any depth: every node must have it in one block, spending the key image. */
async function verifyNamedSpender(
  nodes: readonly MoneroNode[],
  keyImage: string,
  txHash: string | null,
): Promise<Spender | null> {
  if (txHash === null || !/^[0-9a-f]{64}$/.test(txHash)) return null
  const copies = await Promise.all(nodes.map(async (node) => (await node.transactions([txHash]))[0] ?? null))
  if (!copies.every((one) => one?.content?.keyImages.includes(keyImage))) return null
  const inclusion = await findInclusion(nodes, copies)
  return inclusion?.kind === 'included' ? { txHash, ...inclusion.block } : null
}
