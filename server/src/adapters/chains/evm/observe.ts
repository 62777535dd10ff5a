import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { Observation, WatchedTransaction } from '../../../exchange/ports/chain.ts'
import { present } from '../../../lib/assert.ts'
import { parseConflictKey } from '../shared/account-transfer.ts'
import { askEveryNode, type EvmNode, hex, type Note } from './node.ts'
import { findAgreedHead, hashAt, readTaggedHeight } from './reader.ts'
import { findAgreedFee } from './received.ts'
import { block, count, orNull, type ReceiptReply, receipt, type TransactionReply, transaction } from './replies.ts'
import { refusalOf } from './rpc.ts'
import { eventOf, parseTransferCall } from './token.ts'

/** One node's answers about a transaction. `included` is null unless the receipt's block is on its best chain. */
type View = Readonly<{ included: ReceiptReply | null; receipt: ReceiptReply | null; tx: TransactionReply | null }>

/**
 * `included` if every node has the transaction in the same block, with the same result and fee; `invalidated` only with a
 * conflict proof at finality.
 */
export async function observe(
  nodes: readonly EvmNode[],
  network: Network,
  attempt: WatchedTransaction,
  note: Note,
): Promise<Observation> {
  const views = await askEveryNode(nodes, (node) => readView(node, attempt.txHash))
  const [first] = views
  const inclusion = first?.included
  if (inclusion && views.every(({ included }) => included?.blockHash === inclusion.blockHash)) {
    return observeInclusion(nodes, views, inclusion, note)
  }
  // A node's pool may keep a transaction whose nonce is used, so a pending transaction can be invalidated.
  const { txHash, conflictKey, conflictingTxHash: namedTxHash = null } = attempt
  if (conflictKey !== null && views.every((view) => view.receipt === null)) {
    const proof = await proveConflict(nodes, network, { txHash, conflictKey, namedTxHash }, note)
    if (proof !== null) return { kind: 'invalidated', proof }
  }
  return { kind: views.some((view) => view.receipt !== null || view.tx !== null) ? 'pending' : 'unseen' }
}

/** One node proves neither a payment nor a failure: while results or fees differ, the transaction is disputed. */
function observeInclusion(
  nodes: readonly EvmNode[],
  views: readonly View[],
  { height, blockHash, txHash }: ReceiptReply,
  note: Note,
): Observation {
  const results = views.map(resultOf)
  const [result] = results
  const feeUnits = findAgreedFee(views.flatMap(({ included }) => included ?? []))
  if (feeUnits !== null && results.every((one) => one === result))
    return { kind: 'included', block: { height, hash: blockHash }, ok: result === 'paid', feeUnits }
  const names = nodes.map(({ name }, n) => `${name}: ${results[n]}`).join(', ')
  const detail = `transaction ${txHash} in block ${height} ${blockHash}: ${feeUnits === null ? 'fees differ' : names}`
  note({ kind: 'receipts-disagree', node: nodes.map(({ name }) => name).join(', '), detail })
  return { kind: 'pending', isDisputed: true }
}

async function readView(node: EvmNode, txHash: string): Promise<View> {
  const [ownReceipt, tx] = await Promise.all([
    node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt)),
    node.ask('eth_getTransactionByHash', [txHash], orNull(transaction)),
  ])
  const isCanonical = ownReceipt !== null && (await hashAt(node, ownReceipt.height)) === ownReceipt.blockHash
  return { included: isCanonical && tx !== null ? ownReceipt : null, receipt: ownReceipt, tx }
}

/**
 * `paid` if the receipt has status 1 and, for a token payment, a Transfer log: some tokens return false without a transfer.
 * `failed` = status 0.
 */
function resultOf({ included, tx }: View): 'paid' | 'without transfer' | 'failed' {
  if (!included?.ok || tx === null) return 'failed'
  const call = tx.value === 0n ? parseTransferCall(tx.input) : null
  if (call === null) return 'paid'
  const hasPaid = included.logs.some((entry) => {
    const event = eventOf(entry)
    return entry.address === tx.to && event?.from === tx.from && event.to === call.to && event.units > 0n
  })
  return hasPaid ? 'paid' : 'without transfer'
}

/**
 * The conflict proof: every node has another transaction with our nonce at finality. We look for that transaction, because
 * a missing receipt of ours proves nothing: nodes prune receipts and their index of hashes.
 */
async function proveConflict(
  nodes: readonly EvmNode[],
  network: Network,
  { txHash, conflictKey, namedTxHash }: { txHash: string; conflictKey: string; namedTxHash: string | null },
  note: Note,
): Promise<Record<string, string | number> | null> {
  const { address, nonce } = parseConflictKey(conflictKey)
  const nextNonces = await askEveryNode(nodes, (node) =>
    node.ask('eth_getTransactionCount', [address, 'latest'], count),
  )
  if (nextNonces.some((next) => next <= nonce)) return null
  const final = await findFinalBlock(nodes, network)
  if (final === null) return null
  const height =
    (await findNamedHeight(nodes, namedTxHash, final.height)) ??
    (await findNonceHeight(nodes, { address, nonce }, final.height, note))
  if (height === null) return null
  const conflicts = await askEveryNode(nodes, (node) => findNonceUse(node, height, { address, nonce }))
  const [conflict] = conflicts
  const isAgreed = conflict && conflicts.every((one) => one?.txHash === conflict.txHash && one.hash === conflict.hash)
  if (!isAgreed || conflict.txHash === txHash) return null
  // Read last, to detect an inclusion of our transaction or a fork during the calls above.
  const receipts = await askEveryNode(nodes, (node) => node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt)))
  const hashes = await askEveryNode(nodes, (node) => hashAt(node, final.height))
  if (receipts.some((one) => one !== null) || hashes.some((hash) => hash !== final.hash)) return null
  return {
    conflictingTxHash: conflict.txHash,
    height,
    hash: conflict.hash,
    finalHeight: final.height,
    finalHash: final.hash,
    nonce,
    nodes: nodes.length,
  }
}

type AccountNonce = Readonly<{ address: string; nonce: number }>

/** The height of the transaction that an operator named, if final. The caller checks whether it used the nonce. */
async function findNamedHeight(nodes: readonly EvmNode[], txHash: string | null, top: number): Promise<number | null> {
  if (txHash === null || !/^0x[0-9a-fA-F]{64}$/.test(txHash)) return null
  const named = await present(nodes[0], 'a node').ask('eth_getTransactionReceipt', [txHash], orNull(receipt))
  return named !== null && named.height <= top ? named.height : null
}

/** The height of the block that used the nonce, by bisection; null if a node has pruned the required states. */
async function findNonceHeight(
  nodes: readonly EvmNode[],
  { address, nonce }: AccountNonce,
  top: number,
  note: Note,
): Promise<number | null> {
  const counts = await askEveryNode(nodes, (one) => readNonceAt(one, address, top, note))
  if (counts.some((next) => next === null || next <= nonce)) return null
  const node = present(nodes[0], 'a node')
  let high = top
  let low = top
  for (let step = 1; low > 0; step *= 2) {
    low = Math.max(0, high - step)
    const next = await readNonceAt(node, address, low, note)
    if (next === null) return null
    if (next <= nonce) break
    high = low
  }
  // At `high` the account's next nonce is above `nonce`; at `low` it is not, or `low` is the first block.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const next = await readNonceAt(node, address, middle, note)
    if (next === null) return null
    if (next > nonce) high = middle
    else low = middle
  }
  return high
}

/** The transaction that used the nonce in this node's block at the height. */
async function findNonceUse(
  node: EvmNode,
  height: number,
  { address, nonce }: AccountNonce,
): Promise<{ txHash: string; hash: string } | null> {
  const read = await node.ask('eth_getBlockByNumber', [hex(height), true], orNull(block))
  const tx = read?.transactions.find((one) => one.from === address && one.nonce === nonce)
  return read && tx ? { txHash: tx.hash, hash: read.hash } : null
}

/** The highest final block of all nodes: by depth, and by the chain's finality tag if it has one. */
async function findFinalBlock(nodes: readonly EvmNode[], network: Network): Promise<BlockRef | null> {
  const head = await findAgreedHead(nodes)
  const tag = network.evm?.finalityTag ?? null
  const tagged = tag === null ? head.height : ((await readTaggedHeight(nodes, tag)) ?? -1)
  const heights = [head.height - network.finalityBlocks, tagged]
  const height = Math.min(...heights)
  if (height < 0) return null
  const [first, ...others] = await askEveryNode(nodes, (node) => hashAt(node, height))
  return first && others.every((hash) => hash === first) ? { height, hash: first } : null
}

/** The account's next nonce at a block; null if the node has pruned that state, so that it can prove nothing. */
async function readNonceAt(node: EvmNode, address: string, height: number, note: Note): Promise<number | null> {
  try {
    return await node.ask('eth_getTransactionCount', [address, hex(height)], count)
  } catch (error) {
    if (refusalOf(error) === null) throw error
    note({ kind: 'state-pruned', node: node.name, detail: `nonce at block ${height}` })
    return null
  }
}
