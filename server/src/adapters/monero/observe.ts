import type { Network } from '../../domain/network.ts'
import { agreedHash } from '../../ports/agreement.ts'
import type { BlockRef, ChainSender, Observation, Watched } from '../../ports/chain.ts'
import type { MoneroNode, NodeTransaction } from './node.ts'
import { fromHex, parseTransaction } from './transaction.ts'

/** How far below the head, beyond finality, the spender of a key image is looked for. */
const SEARCH_BLOCKS = 144
const REMEMBERED_MAX = 1000

type Spender = Readonly<{ txHash: string; height: number; hash: string }>
/** What is known of one key image: who spent it, or up to which block nobody did. */
type Search = Readonly<{ spender: Spender | null; upTo: BlockRef }>

export function createObserve(network: Network, nodes: readonly MoneroNode[]): ChainSender['observe'] {
  const searches = new Map<string, Search>()
  return async (watched): Promise<Observation> => {
    const seen = await Promise.all(nodes.map(async (node) => (await node.transactions([watched.txHash]))[0] ?? null))
    const included = await includedAt(nodes, seen)
    if (included !== null) return included
    if (seen.some((transaction) => transaction !== null)) return { kind: 'pending' }
    return (await proveDead(network, nodes, searches, watched)) ?? { kind: 'unseen' }
  }
}

/** In one block on every node. */
async function includedAt(
  nodes: readonly MoneroNode[],
  seen: readonly (NodeTransaction | null)[],
): Promise<Observation | null> {
  const height = seen[0]?.height ?? null
  if (height === null || !seen.every((transaction) => transaction?.height === height)) return null
  const hash = await agreedHash(nodes, height)
  if (hash === null) return null
  return { kind: 'included', block: { height, hash }, ok: true, feeUnits: seen[0]?.content?.feeUnits ?? null }
}

/** The proof of death: a key image of the transaction was spent by another one, which every node holds at finality. */
async function proveDead(
  network: Network,
  nodes: readonly MoneroNode[],
  searches: Map<string, Search>,
  { txHash, conflictKey, raw, rival }: Watched,
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
    const spender = named ?? (await findSpender(network, nodes, searches, keyImage, lowest))
    if (spender === null || spender.txHash === txHash) continue
    if (lowest - spender.height + 1 < network.finalityBlocks) continue
    const { height, hash } = spender
    return { kind: 'dead', proof: { keyImage, spentBy: spender.txHash, blockHash: hash, blockHeight: height } }
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

async function findSpender(
  network: Network,
  nodes: readonly MoneroNode[],
  searches: Map<string, Search>,
  keyImage: string,
  lowest: number,
): Promise<Spender | null> {
  const known = searches.get(keyImage)
  const stands = known !== undefined && (await agreedHash(nodes, known.upTo.height)) === known.upTo.hash
  if (stands && known.spender !== null) return known.spender
  const deepest = Math.max(0, lowest - network.finalityBlocks - SEARCH_BLOCKS)
  const from = stands ? Math.max(deepest, known.upTo.height + 1) : deepest
  const spender = await searchSpender(nodes, keyImage, lowest, from)
  const upTo = spender ?? { height: lowest, hash: (await agreedHash(nodes, lowest)) ?? '' }
  if (searches.size >= REMEMBERED_MAX) searches.clear()
  searches.set(keyImage, { spender, upTo: { height: upTo.height, hash: upTo.hash } })
  return spender
}

/** Read by the hash that every node has at the height: the block's contents are then the same on all of them. */
async function searchSpender(
  nodes: readonly MoneroNode[],
  keyImage: string,
  from: number,
  to: number,
): Promise<Spender | null> {
  const [node] = nodes
  for (let height = from; node !== undefined && height >= to; height--) {
    const hash = await agreedHash(nodes, height)
    if (hash === null) continue
    const { txHashes } = await node.block(hash)
    const transactions = await node.transactions(txHashes)
    const spending = transactions.find(({ content }) => content?.keyImages.includes(keyImage))
    if (spending !== undefined) return { txHash: spending.txHash, height, hash }
  }
  return null
}
