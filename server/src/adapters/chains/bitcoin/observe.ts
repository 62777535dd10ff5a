import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import type { Network } from '../../../core/domain/network.ts'
import type { ChainSender, Observation, RequiredSpend, WatchedTransaction } from '../../../exchange/ports/chain.ts'
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
    const transactions = await Promise.all(nodes.map((node) => node.transaction(watched.txHash)))
    const blockHash = transactions[0]?.blockHash ?? null
    if (blockHash !== null && transactions.every((transaction) => transaction?.blockHash === blockHash)) {
      const inclusion = await findInclusion(nodes, blockHash)
      if (inclusion !== null) return inclusion
    }
    const arePresent = await Promise.all(nodes.map((node, n) => isPendingOrMined(node, transactions[n] ?? null)))
    if (arePresent.includes(true)) return { kind: 'pending' }
    return (await proveConflict(network, nodes, search, watched)) ?? { kind: 'unseen' }
  }
}

/** The inclusion in this block if it is on the best chain of every node, else null. */
async function findInclusion(nodes: readonly BitcoinNode[], hash: string): Promise<Observation | null> {
  const headers = await Promise.all(nodes.map((node) => node.header(hash)))
  const height = headers[0]?.height
  const onBestChain = headers.every((header) => header !== null && header.confirmations > 0 && header.height === height)
  if (height === undefined || !onBestChain) return null
  return { kind: 'included', block: { height, hash }, ok: true, feeUnits: null }
}

/**
 * Whether the transaction is in the node's mempool or on its best chain. The transaction index also returns transactions
 * of orphaned blocks that are in no mempool; those are invalidated or need a rebroadcast.
 */
export async function isPendingOrMined(node: BitcoinNode, transaction: NodeTransaction | null): Promise<boolean> {
  if (transaction === null) return false
  if (transaction.blockHash === null) return true
  return ((await node.header(transaction.blockHash))?.confirmations ?? 0) > 0
}

/**
 * The conflict proof: every node has, at finality, another transaction that spends a required output. Required outputs are
 * the inputs of the transaction and the inputs of its orphaned ancestors, because without a parent it cannot confirm.
 */
async function proveConflict(
  network: Network,
  nodes: readonly BitcoinNode[],
  search: Search,
  watched: WatchedTransaction,
): Promise<Observation | null> {
  if (watched.conflictKey === null) return null
  const heads = await Promise.all(nodes.map((node) => node.head()))
  const lowest = Math.min(...heads.map(({ height }) => height))
  const namedTxHash = watched.conflictingTxHash ?? null
  for (const spend of requiredSpendsOf(watched)) {
    const spender = await findSpender(nodes, search, spend, { lowest, namedTxHash })
    if (spender === null || lowest - spender.height + 1 < network.finalityBlocks) continue
    const isProof =
      spend.spentBy === watched.txHash
        ? await isNoMalleatedCopy(network, nodes, watched, spender)
        : await isAbsent(nodes, spend.spentBy)
    if (!isProof) continue
    const { txHash, height, hash } = spender
    const parent = spend.spentBy === watched.txHash ? {} : { output: spend.outpoint, parent: spend.spentBy }
    return { kind: 'invalidated', proof: { spentBy: txHash, blockHash: hash, blockHeight: height, ...parent } }
  }
  return null
}

function requiredSpendsOf({
  txHash,
  conflictKey,
  raw,
  ancestorSpends = [],
}: WatchedTransaction): readonly RequiredSpend[] {
  const outpoints = raw === undefined ? [conflictKey ?? ''] : inputsOf(raw)
  return [...outpoints.map((outpoint) => ({ outpoint, spentBy: txHash })), ...ancestorSpends]
}

const parse = (raw: string) => Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true })

function inputsOf(raw: string): readonly string[] {
  const transaction = parse(raw)
  return Array.from({ length: transaction.inputsLength }, (_, n) => {
    const { txid, index } = transaction.getInput(n)
    return `${txid === undefined ? '' : hex.encode(txid)}:${index ?? ''}`
  })
}

/**
 * Whether the spender differs from our transaction in more than its signatures. Without segwit a relay can malleate a
 * signature and so change the transaction id (D7). Our signatures cover all outputs, so a copy has the same outputs.
 */
async function isNoMalleatedCopy(
  network: Network,
  nodes: readonly BitcoinNode[],
  { raw }: WatchedTransaction,
  { txHash }: Spender,
): Promise<boolean> {
  if (hasSegwit(parametersOf(network))) return true
  if (raw === undefined) return false
  const own = parse(raw)
  const ownOutputs = Array.from({ length: own.outputsLength }, (_, vout) => {
    const { amount, script } = own.getOutput(vout)
    return `${amount ?? ''} ${script === undefined ? '' : hex.encode(script)}`
  }).join()
  const spenders = await Promise.all(nodes.map((node) => node.transaction(txHash)))
  return spenders.every(
    (spender) =>
      spender !== null &&
      [...spender.outputs]
        .sort((a, b) => a.vout - b.vout)
        .map(({ units, script }) => `${units} ${script}`)
        .join() !== ownOutputs,
  )
}

/** Whether no node has the transaction in its mempool or on its best chain. */
async function isAbsent(nodes: readonly BitcoinNode[], txid: string): Promise<boolean> {
  const arePresent = await Promise.all(nodes.map(async (node) => isPendingOrMined(node, await node.transaction(txid))))
  return !arePresent.includes(true)
}

/** Another transaction that spends the output, in a block that every node has. Mempool transactions prove nothing. */
async function findSpender(
  nodes: readonly BitcoinNode[],
  search: Search,
  { outpoint, spentBy }: RequiredSpend,
  { lowest, namedTxHash }: { lowest: number; namedTxHash: string | null },
): Promise<Spender | null> {
  const units = await Promise.all(nodes.map((node) => node.unspentUnits(outpoint)))
  if (units.some((value) => value !== null)) return null
  const named =
    namedTxHash === null || namedTxHash === spentBy ? null : await verifyNamedSpender(nodes, outpoint, namedTxHash)
  const spender = named ?? (await search(outpoint, lowest))
  return spender === null || spender.txHash === spentBy ? null : spender
}

/** Checks a spender that an operator named, at any depth: every node must have it in one block, spending the output. */
async function verifyNamedSpender(
  nodes: readonly BitcoinNode[],
  outpoint: string,
  txHash: string,
): Promise<Spender | null> {
  if (!/^[0-9a-f]{64}$/.test(txHash)) return null
  const transactions = await Promise.all(nodes.map((node) => node.transaction(txHash)))
  const hash = transactions[0]?.blockHash ?? null
  if (hash === null || !transactions.every((one) => one?.blockHash === hash && one.spends.includes(outpoint)))
    return null
  const inclusion = await findInclusion(nodes, hash)
  return inclusion?.kind === 'included' ? { txHash, ...inclusion.block } : null
}
