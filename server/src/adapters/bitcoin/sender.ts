import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import type { Network } from '../../domain/network.ts'
import type { RpcAnswer } from '../../lib/json-rpc.ts'
import type { BroadcastResult, ChainSender, Observation } from '../../ports/chain.ts'
import type { CompressedKeys } from '../../ports/signer.ts'
import { hasSegwit, parametersOf } from './address.ts'
import { agreedHash } from './reader.ts'
import { type BitcoinNode, RPC_ERROR } from './rpc.ts'
import { buildTransfer, payoutFee } from './transfer.ts'

/** How far below the head, beyond finality, the spender of a lost input is looked for; deeper ones are left to people. */
const SEARCH_BLOCKS = 144
/** Spenders that were found and are not yet deep enough. */
const SPENDERS_MAX = 1000

export function createSender(network: Network, nodes: readonly BitcoinNode[], publicKeys: CompressedKeys): ChainSender {
  const observe = createObserve(network, nodes)
  return {
    gasLimit: async () => null,
    payoutFee: (_asset, fee) => payoutFee(network, fee),
    build: (request) => buildTransfer(network, publicKeys, request),
    broadcast: (raw) => broadcastAll(nodes, raw),
    observe,
  }
}

async function broadcastAll(nodes: readonly BitcoinNode[], raw: string): Promise<BroadcastResult> {
  const txid = txidOf(raw)
  if (txid === null) return { kind: 'rejected', reason: 'not a transaction' }
  const results = await Promise.all(nodes.map((node) => broadcastTo(node, raw, txid)))
  const of = (kind: BroadcastResult['kind']) => results.find((result) => result.kind === kind)
  return of('accepted') ?? of('known') ?? of('unknown') ?? of('rejected') ?? { kind: 'unknown', reason: 'no node' }
}

async function broadcastTo(node: BitcoinNode, raw: string, txid: string): Promise<BroadcastResult> {
  try {
    if ((await node.transaction(txid)) !== null) return { kind: 'known' }
    const answer = await node.send(raw)
    if (answer.kind === 'unknown') return { kind: 'unknown', reason: `${node.host}: ${answer.reason}` }
    if (answer.kind === 'error' && answer.code === RPC_ERROR.alreadyInChain) return { kind: 'known' }
    // bcoin answers with an id whether its mempool took the transaction or not: what counts is that the node has it.
    if ((await node.transaction(txid)) !== null)
      return answer.kind === 'result' ? { kind: 'accepted' } : { kind: 'known' }
    return refusal(node.host, answer)
  } catch (error) {
    return { kind: 'unknown', reason: `${node.host}: ${error instanceof Error ? error.message : 'no answer'}` }
  }
}

/** By code alone: the node looked at the bytes and does not have them. Any other error says nothing of them. */
function refusal(host: string, answer: Exclude<RpcAnswer, { kind: 'unknown' }>): BroadcastResult {
  if (answer.kind === 'result') return { kind: 'unknown', reason: `${host}: taken, but not in its mempool` }
  const reason = `${host}: ${answer.code} ${answer.message}`
  const refused: readonly number[] = [RPC_ERROR.deserialization, RPC_ERROR.verify, RPC_ERROR.rejected]
  return refused.includes(answer.code) ? { kind: 'rejected', reason } : { kind: 'unknown', reason }
}

function txidOf(raw: string): string | null {
  try {
    return Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true }).id
  } catch {
    return null
  }
}

type Spender = Readonly<{ txid: string; height: number; hash: string }>

function createObserve(network: Network, nodes: readonly BitcoinNode[]): ChainSender['observe'] {
  const spenders = new Map<string, Spender>()
  return async ({ txHash, conflictKey }): Promise<Observation> => {
    const seen = await Promise.all(nodes.map((node) => node.transaction(txHash)))
    const blockHash = seen[0]?.blockHash ?? null
    if (blockHash !== null && seen.every((transaction) => transaction?.blockHash === blockHash)) {
      return included(nodes, blockHash)
    }
    if (seen.some((transaction) => transaction !== null)) return { kind: 'pending' }
    // Without segwit anyone who relays a signature can change it and so the id: the spender may be our own payment in
    // other bytes. Such a payout is never declared dead by a machine.
    if (conflictKey === null || !hasSegwit(parametersOf(network))) return { kind: 'unseen' }
    const spender = await findSpender(network, nodes, spenders, { txHash, conflictKey })
    return spender === null ? { kind: 'unseen' } : dead(spender)
  }
}

async function included(nodes: readonly BitcoinNode[], hash: string): Promise<Observation> {
  const headers = await Promise.all(nodes.map((node) => node.header(hash)))
  const height = headers[0]?.height
  const onBestChain = headers.every((header) => header !== null && header.confirmations > 0 && header.height === height)
  if (height === undefined || !onBestChain) return { kind: 'pending' }
  return { kind: 'included', block: { height, hash }, ok: true, feeUnits: null }
}

function dead(spender: Spender): Observation {
  const { txid, height, hash } = spender
  return { kind: 'dead', proof: { spentBy: txid, blockHash: hash, blockHeight: height } }
}

/**
 * The proof of death: another transaction took the designated input, and every node holds its block at finality. A
 * spender in a mempool, or one that only some nodes have so deep, proves nothing.
 */
async function findSpender(
  network: Network,
  nodes: readonly BitcoinNode[],
  spenders: Map<string, Spender>,
  { txHash, conflictKey }: { txHash: string; conflictKey: string },
): Promise<Spender | null> {
  const unspent = await Promise.all(nodes.map((node) => node.unspent(conflictKey)))
  if (unspent.includes(true)) return null
  const heads = await Promise.all(nodes.map((node) => node.head()))
  const lowest = Math.min(...heads.map(({ height }) => height))
  let spender = spenders.get(conflictKey) ?? null
  if (spender === null || (await agreedHash(nodes, spender.height)) !== spender.hash) {
    spenders.delete(conflictKey)
    spender = await searchSpender(nodes, conflictKey, lowest, lowest - network.finalityBlocks - SEARCH_BLOCKS)
    if (spender === null || spender.txid === txHash) return null
    if (spenders.size >= SPENDERS_MAX) spenders.clear()
    spenders.set(conflictKey, spender)
  }
  const depth = lowest - spender.height + 1
  return spender.txid !== txHash && depth >= network.finalityBlocks ? spender : null
}

/** Read by the hash that every node has at the height: the block's contents are then the same on all of them. */
async function searchSpender(
  nodes: readonly BitcoinNode[],
  outpoint: string,
  from: number,
  to: number,
): Promise<Spender | null> {
  for (let height = from; height >= Math.max(0, to); height--) {
    const hash = await agreedHash(nodes, height)
    const block = hash === null ? null : await nodes[0]?.block(hash)
    const spending = block?.transactions.find(({ spends }) => spends.includes(outpoint))
    if (hash !== null && spending !== undefined) return { txid: spending.txid, height, hash }
  }
  return null
}
