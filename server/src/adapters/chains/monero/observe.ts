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
    const seen = await Promise.all(nodes.map(async (node) => (await node.transactions([watched.txHash]))[0] ?? null))
    const included = await includedAt(nodes, seen)
    if (included !== null) return included
    if (seen.some((transaction) => transaction !== null)) return { kind: 'pending' }
    return (await proveDead(network, nodes, search, watched)) ?? { kind: 'unseen' }
  }
}

/** In one block on every node. */
async function includedAt(
  nodes: readonly MoneroNode[],
  seen: readonly (NodeTransaction | null)[],
): Promise<Observation | null> {
  const height = seen[0]?.height ?? null
  if (height === null || !seen.every((transaction) => transaction?.height === height)) return null
  const hash = await findAgreedHash(nodes, height)
  if (hash === null) return null
  return { kind: 'included', block: { height, hash }, ok: true, feeUnits: seen[0]?.content?.feeUnits ?? null }
}

/** The proof of death: a key image of the transaction was spent by another one, which every node holds at finality. */
async function proveDead(
  network: Network,
  nodes: readonly MoneroNode[],
  search: ReturnType<typeof createSpenderSearch>,
  { txHash, conflictKey, raw, conflictingTxHash: rival }: WatchedTransaction,
): Promise<Observation | null> {
  if (conflictKey === null) return null
  const keyImages = raw === undefined ? [conflictKey] : (parseTransaction(fromHex(raw), null)?.keyImages ?? [])
  const answers = await Promise.all(nodes.map((node) => node.spent(keyImages)))
  const spent = keyImages.filter((_, at) => answers.every((answer) => answer[at] === true))
  if (spent.length === 0) return null
  const heads = await Promise.all(nodes.map((node) => node.head()))
  const lowest = Math.min(...heads.map(({ height }) => height))
  for (const keyImage of spent) {
    const named = await namedSpender(nodes, keyImage, rival ?? null)
    const spender = named ?? (await search(keyImage, lowest))
    if (spender === null || spender.txHash === txHash) continue
    if (lowest - spender.height + 1 < network.finalityBlocks) continue
    const { height, hash } = spender
    return { kind: 'invalidated', proof: { keyImage, spentBy: spender.txHash, blockHash: hash, blockHeight: height } }
  }
  return null
}

/** What a person named, however deep it lies: every node must have it in the same block, and it must spend the key image. */
async function namedSpender(
  nodes: readonly MoneroNode[],
  keyImage: string,
  rival: string | null,
): Promise<Spender | null> {
  if (rival === null || !/^[0-9a-f]{64}$/.test(rival)) return null
  const found = await Promise.all(nodes.map(async (node) => (await node.transactions([rival]))[0] ?? null))
  if (!found.every((one) => one?.content?.keyImages.includes(keyImage))) return null
  const included = await includedAt(nodes, found)
  return included?.kind === 'included' ? { txHash: rival, ...included.block } : null
}
