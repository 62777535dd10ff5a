import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import type { Network } from '../../../core/domain/network.ts'
import type { ChainSender, RequiredSpend, Observation, WatchedTransaction } from '../../../exchange/ports/chain.ts'
import { createSpenderSearch, type Spender } from '../shared/spender-search.ts'
import { hasSegwit, parametersOf } from './address.ts'
import type { NodeTransaction } from './replies.ts'
import type { BitcoinNode } from './rpc.ts'

type Search = ReturnType<typeof createSpenderSearch>

export function createObserve(network: Network, nodes: readonly BitcoinNode[]): ChainSender['observe'] {
  const search = createSpenderSearch(network, nodes, async (blockHash, outpoint) => {
    const block = await nodes[0]?.block(blockHash)
    return block?.transactions.find(({ spends }) => spends.includes(outpoint))?.txid ?? null
  })
  return async (watched): Promise<Observation> => {
    const seen = await Promise.all(nodes.map((node) => node.transaction(watched.txHash)))
    const blockHash = seen[0]?.blockHash ?? null
    if (blockHash !== null && seen.every((transaction) => transaction?.blockHash === blockHash)) {
      const found = await included(nodes, blockHash)
      if (found !== null) return found
    }
    const stands = await Promise.all(nodes.map((node, at) => isAlive(node, seen[at] ?? null)))
    if (stands.includes(true)) return { kind: 'pending' }
    return (await proveDead(network, nodes, search, watched)) ?? { kind: 'unseen' }
  }
}

async function included(nodes: readonly BitcoinNode[], hash: string): Promise<Observation | null> {
  const headers = await Promise.all(nodes.map((node) => node.header(hash)))
  const height = headers[0]?.height
  const onBestChain = headers.every((header) => header !== null && header.confirmations > 0 && header.height === height)
  if (height === undefined || !onBestChain) return null
  return { kind: 'included', block: { height, hash }, ok: true, feeUnits: null }
}

/**
 * In the node's mempool or on its best chain. An index still gives what was in a block that left the chain and is in no
 * mempool any more: that may be dead, and is otherwise to be offered again.
 */
export async function isAlive(node: BitcoinNode, transaction: NodeTransaction | null): Promise<boolean> {
  if (transaction === null) return false
  if (transaction.blockHash === null) return true
  return ((await node.header(transaction.blockHash))?.confirmations ?? 0) > 0
}

/**
 * The proof of death: an output that the transaction needs was spent by another one, which every node holds at finality.
 * What it needs is what it spends itself, and what the transactions spend that made coins of its which left the chain: a
 * parent that can never be leaves children that can never be.
 */
async function proveDead(
  network: Network,
  nodes: readonly BitcoinNode[],
  search: Search,
  watched: WatchedTransaction,
): Promise<Observation | null> {
  if (watched.conflictKey === null) return null
  const heads = await Promise.all(nodes.map((node) => node.head()))
  const lowest = Math.min(...heads.map(({ height }) => height))
  for (const need of needsOf(watched)) {
    const spender = await findSpender(nodes, search, need, { lowest, rival: watched.conflictingTxHash ?? null })
    if (spender === null || lowest - spender.height + 1 < network.finalityBlocks) continue
    const proves =
      need.spentBy === watched.txHash
        ? await isAnother(network, nodes, watched, spender)
        : await isGone(nodes, need.spentBy)
    if (!proves) continue
    const { txHash, height, hash } = spender
    const parent = need.spentBy === watched.txHash ? {} : { output: need.outpoint, parent: need.spentBy }
    return { kind: 'invalidated', proof: { spentBy: txHash, blockHash: hash, blockHeight: height, ...parent } }
  }
  return null
}

function needsOf({ txHash, conflictKey, raw, ancestorSpends: origins = [] }: WatchedTransaction): readonly RequiredSpend[] {
  const spent = raw === undefined ? [conflictKey ?? ''] : inputsOf(raw)
  return [...spent.map((outpoint) => ({ outpoint, spentBy: txHash })), ...origins]
}

const read = (raw: string) => Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true })

function inputsOf(raw: string): readonly string[] {
  const transaction = read(raw)
  return Array.from({ length: transaction.inputsLength }, (_, at) => {
    const { txid, index } = transaction.getInput(at)
    return `${txid === undefined ? '' : hex.encode(txid)}:${index ?? ''}`
  })
}

/**
 * Without segwit anyone who relays a signature can change it and so the id: the spender may be our own payment in other
 * bytes (D7). A signature of ours covers every output, so a payment that pays otherwise is no copy.
 */
async function isAnother(
  network: Network,
  nodes: readonly BitcoinNode[],
  { raw }: WatchedTransaction,
  { txHash }: Spender,
): Promise<boolean> {
  if (hasSegwit(parametersOf(network))) return true
  if (raw === undefined) return false
  const own = read(raw)
  const paid = Array.from({ length: own.outputsLength }, (_, at) => {
    const { amount, script } = own.getOutput(at)
    return `${amount ?? ''} ${script === undefined ? '' : hex.encode(script)}`
  }).join()
  const rivals = await Promise.all(nodes.map((node) => node.transaction(txHash)))
  return rivals.every(
    (rival) =>
      rival !== null &&
      [...rival.outputs]
        .sort((a, b) => a.vout - b.vout)
        .map(({ units, script }) => `${units} ${script}`)
        .join() !== paid,
  )
}

/** A parent that only one node told of: every node must say that it is nowhere. */
async function isGone(nodes: readonly BitcoinNode[], txid: string): Promise<boolean> {
  const alive = await Promise.all(nodes.map(async (node) => isAlive(node, await node.transaction(txid))))
  return !alive.includes(true)
}

/** Another transaction that spends the output, in a block that every node has. A spender in a mempool proves nothing. */
async function findSpender(
  nodes: readonly BitcoinNode[],
  search: Search,
  { outpoint, spentBy }: RequiredSpend,
  { lowest, rival }: { lowest: number; rival: string | null },
): Promise<Spender | null> {
  const unspent = await Promise.all(nodes.map((node) => node.unspent(outpoint)))
  if (unspent.includes(true)) return null
  const named = rival === null || rival === spentBy ? null : await namedSpender(nodes, outpoint, rival)
  const spender = named ?? (await search(outpoint, lowest))
  return spender === null || spender.txHash === spentBy ? null : spender
}

/** What a person named, however deep it lies: every node must have it in the same block, and it must spend the output. */
async function namedSpender(nodes: readonly BitcoinNode[], outpoint: string, rival: string): Promise<Spender | null> {
  if (!/^[0-9a-f]{64}$/.test(rival)) return null
  const found = await Promise.all(nodes.map((node) => node.transaction(rival)))
  const hash = found[0]?.blockHash ?? null
  if (hash === null || !found.every((one) => one?.blockHash === hash && one.spends.includes(outpoint))) return null
  const block = await included(nodes, hash)
  return block?.kind === 'included' ? { txHash: rival, ...block.block } : null
}
