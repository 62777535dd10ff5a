import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { Observation, WatchedTransaction } from '../../../exchange/ports/chain.ts'
import { assert, present } from '../../../lib/assert.ts'
import { type EvmNode, askEveryNode, hex, type Note } from './node.ts'
import { findAgreedHead, hashAt, readTaggedHeight } from './reader.ts'
import { feeOf } from './received.ts'
import { block, count, orNull, type ReceiptReply, receipt, type TransactionReply, transaction } from './replies.ts'
import { refusalOf } from './rpc.ts'
import { eventOf, parseTransferCall } from './token.ts'

/** What one node knows: `included` is null unless the receipt's block is on its best chain. */
type View = Readonly<{ included: ReceiptReply | null; receipt: ReceiptReply | null; tx: TransactionReply | null }>

/** Included only where every node has it in the same block of its best chain; dead only by proof at finality. */
export async function observe(
  nodes: readonly EvmNode[],
  network: Network,
  attempt: WatchedTransaction,
  note: Note,
): Promise<Observation> {
  const views = await askEveryNode(nodes, (node) => viewOn(node, attempt.txHash))
  const [first] = views
  const found = first?.included
  if (found && views.every(({ included }) => included?.blockHash === found.blockHash)) {
    return {
      kind: 'included',
      block: { height: found.height, hash: found.blockHash },
      ok: views.every(hasPaid),
      feeUnits: feeOf(found),
    }
  }
  // A pool may hold a transaction for ever whose nonce is long used: the proof counts, whoever still knows it.
  const { txHash, conflictKey, conflictingTxHash: rival = null } = attempt
  if (conflictKey !== null && views.every((view) => view.receipt === null)) {
    const proof = await proveDead(nodes, network, { txHash, conflictKey, rival }, note)
    if (proof !== null) return { kind: 'invalidated', proof }
  }
  return { kind: views.some((view) => view.receipt !== null || view.tx !== null) ? 'pending' : 'unseen' }
}

async function viewOn(node: EvmNode, txHash: string): Promise<View> {
  const [found, tx] = await Promise.all([
    node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt)),
    node.ask('eth_getTransactionByHash', [txHash], orNull(transaction)),
  ])
  const isCanonical = found !== null && (await hashAt(node, found.height)) === found.blockHash
  return { included: isCanonical && tx !== null ? found : null, receipt: found, tx }
}

/** Status 1; and where a token was to be paid, its log: some tokens return false, and nothing moves. */
function hasPaid({ included, tx }: View): boolean {
  if (!included?.ok || tx === null) return false
  const call = tx.value === 0n ? parseTransferCall(tx.input) : null
  if (call === null) return true
  return included.logs.some((entry) => {
    const event = eventOf(entry)
    return entry.address === tx.to && event?.from === tx.from && event.to === call.to && event.units > 0n
  })
}

/**
 * Another transaction with our nonce lies below finality on every node: then ours can never confirm. It is looked for and
 * shown; that a node knows no receipt of ours proves nothing, for nodes prune receipts and their index of hashes.
 */
async function proveDead(
  nodes: readonly EvmNode[],
  network: Network,
  { txHash, conflictKey, rival: named }: { txHash: string; conflictKey: string; rival: string | null },
  note: Note,
): Promise<Record<string, string | number> | null> {
  const { address, nonce } = parseConflictKey(conflictKey)
  const used = await askEveryNode(nodes, (node) => node.ask('eth_getTransactionCount', [address, 'latest'], count))
  if (used.some((next) => next <= nonce)) return null
  const final = await finalBlock(nodes, network)
  if (final === null) return null
  const height =
    (await heightOf(nodes, named, final.height)) ?? (await whereUsed(nodes, { address, nonce }, final.height, note))
  if (height === null) return null
  const rivals = await askEveryNode(nodes, (node) => rivalIn(node, height, { address, nonce }))
  const [rival] = rivals
  const isShown = rival && rivals.every((one) => one?.txHash === rival.txHash && one.hash === rival.hash)
  if (!isShown || rival.txHash === txHash) return null
  // Asked last: an inclusion of ours, or a fork, in between would show.
  const receipts = await askEveryNode(nodes, (node) => node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt)))
  const hashes = await askEveryNode(nodes, (node) => hashAt(node, final.height))
  if (receipts.some((found) => found !== null) || hashes.some((hash) => hash !== final.hash)) return null
  return {
    rival: rival.txHash,
    height,
    hash: rival.hash,
    finalHeight: final.height,
    finalHash: final.hash,
    nonce,
    nodes: nodes.length,
  }
}

type Used = Readonly<{ address: string; nonce: number }>

/** The block of the transaction that a person named, where it is final: whether it used the nonce is looked at there. */
async function heightOf(nodes: readonly EvmNode[], named: string | null, top: number): Promise<number | null> {
  if (named === null || !/^0x[0-9a-fA-F]{64}$/.test(named)) return null
  const found = await present(nodes[0], 'a node').ask('eth_getTransactionReceipt', [named], orNull(receipt))
  return found !== null && found.height <= top ? found.height : null
}

/** The block that used the nonce, by halving; null where the nodes no longer have the states to tell. */
async function whereUsed(
  nodes: readonly EvmNode[],
  { address, nonce }: Used,
  top: number,
  note: Note,
): Promise<number | null> {
  const counts = await askEveryNode(nodes, (one) => countAt(one, address, top, note))
  if (counts.some((next) => next === null || next <= nonce)) return null
  const node = present(nodes[0], 'a node')
  let high = top
  let low = top
  for (let step = 1; low > 0; step *= 2) {
    low = Math.max(0, high - step)
    const next = await countAt(node, address, low, note)
    if (next === null) return null
    if (next <= nonce) break
    high = low
  }
  // The count at `low` is too small, or `low` is the first block; at `high` it is past the nonce.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const next = await countAt(node, address, middle, note)
    if (next === null) return null
    if (next > nonce) high = middle
    else low = middle
  }
  return high
}

/** The transaction that took the nonce in this block, as this node has it. */
async function rivalIn(
  node: EvmNode,
  height: number,
  { address, nonce }: Used,
): Promise<{ txHash: string; hash: string } | null> {
  const found = await node.ask('eth_getBlockByNumber', [hex(height), true], orNull(block))
  const tx = found?.transactions.find((one) => one.from === address && one.nonce === nonce)
  return found && tx ? { txHash: tx.hash, hash: found.hash } : null
}

function parseConflictKey(key: string): { address: string; nonce: number } {
  const match = /^(0x[0-9a-fA-F]{40}):(0|[1-9][0-9]{0,15})$/.exec(key)
  assert(match?.[1] && match[2], 'a conflict key is address:nonce')
  return { address: match[1], nonce: Number(match[2]) }
}

/** The block below which all nodes agree that nothing changes: by depth, and by the chain's own tag where it has one. */
async function finalBlock(nodes: readonly EvmNode[], network: Network): Promise<BlockRef | null> {
  const head = await findAgreedHead(nodes)
  const tag = network.evm?.finalityTag ?? null
  const tagged = tag === null ? head.height : ((await readTaggedHeight(nodes, tag)) ?? -1)
  const heights = [head.height - network.finalityBlocks, tagged]
  const height = Math.min(...heights)
  if (height < 0) return null
  const [first, ...others] = await askEveryNode(nodes, (node) => hashAt(node, height))
  return first && others.every((hash) => hash === first) ? { height, hash: first } : null
}

/** null where the node no longer has the state of that block: no proof can be had from it. */
async function countAt(node: EvmNode, address: string, height: number, note: Note): Promise<number | null> {
  try {
    return await node.ask('eth_getTransactionCount', [address, hex(height)], count)
  } catch (error) {
    if (refusalOf(error) === null) throw error
    note({ kind: 'state-pruned', node: node.name, detail: `nonce at block ${height}` })
    return null
  }
}
