import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import type { RpcAnswer } from '@swapyard/lib/json-rpc.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BroadcastResult, PureSender } from '../../../exchange/ports/chain.ts'
import type { CompressedKeys } from '../../../exchange/ports/signer.ts'
import { createObserve, isAlive } from './observe.ts'
import { type BitcoinNode, RPC_ERROR } from './rpc.ts'
import { buildTransfer, payoutFee } from './transfer.ts'

export function createSender(network: Network, nodes: readonly BitcoinNode[], publicKeys: CompressedKeys): PureSender {
  return {
    gasLimit: async () => null,
    payoutFee: (_asset, fee) => payoutFee(network, fee),
    build: (request) => buildTransfer(network, publicKeys, request),
    broadcast: (raw) => broadcastAll(nodes, raw),
    observe: createObserve(network, nodes),
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
    if (await isAlive(node, await node.transaction(txid))) return { kind: 'known' }
    const answer = await node.send(raw)
    if (answer.kind === 'unknown') return { kind: 'unknown', reason: `${node.host}: ${answer.reason}` }
    if (answer.kind === 'error' && answer.code === RPC_ERROR.alreadyInChain) return { kind: 'known' }
    // bcoin answers with an id whether its mempool took the transaction or not: what counts is that the node has it.
    if (await isAlive(node, await node.transaction(txid)))
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
