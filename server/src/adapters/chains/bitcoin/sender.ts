import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import type { RpcAnswer } from '@swapyard/lib/json-rpc.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BroadcastResult, PureSender } from '../../../exchange/ports/chain.ts'
import type { CompressedKeys } from '../../../exchange/ports/signer.ts'
import { createObserve, isPendingOrMined } from './observe.ts'
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
    if (await isPendingOrMined(node, await node.transaction(txid))) return { kind: 'known' }
    const answer = await node.send(raw)
    if (answer.kind === 'unknown') return { kind: 'unknown', reason: `${node.host}: ${answer.reason}` }
    if (answer.kind === 'error' && answer.code === RPC_ERROR.alreadyInChain) return { kind: 'known' }
    // bcoin returns an id even if its mempool rejects the transaction, so check that the node has it.
    if (await isPendingOrMined(node, await node.transaction(txid)))
      return answer.kind === 'result' ? { kind: 'accepted' } : { kind: 'known' }
    return classifyRefusal(node.host, answer)
  } catch (error) {
    return { kind: 'unknown', reason: `${node.host}: ${error instanceof Error ? error.message : 'no answer'}` }
  }
}

/** Rejected only for error codes of transaction validation; any other error leaves the outcome unknown. */
function classifyRefusal(host: string, answer: Exclude<RpcAnswer, { kind: 'unknown' }>): BroadcastResult {
  if (answer.kind === 'result') return { kind: 'unknown', reason: `${host}: accepted, but not in its mempool` }
  const reason = `${host}: ${answer.code} ${answer.message}`
  const validationErrors: readonly number[] = [RPC_ERROR.deserialization, RPC_ERROR.verify, RPC_ERROR.rejected]
  return validationErrors.includes(answer.code) ? { kind: 'rejected', reason } : { kind: 'unknown', reason }
}

function txidOf(raw: string): string | null {
  try {
    return Transaction.fromRaw(hex.decode(raw), { allowUnknownOutputs: true }).id
  } catch {
    return null
  }
}
