import { hex } from '@scure/base'
import { Transaction } from '@scure/btc-signer'
import type { RpcAnswer } from '@swapyard/lib/json-rpc.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BroadcastResult, PureSender } from '../../../exchange/ports/chain.ts'
import type { CompressedKeys } from '../../../exchange/ports/signer.ts'
import { combineResults } from '../shared/agreement.ts'
import { createObserve, isPendingOrMined } from './observe.ts'
import { type BitcoinNode, RPC_ERROR } from './rpc.ts'
import { buildTransfer, depositFee, payoutFee } from './transfer.ts'

export function createSender(network: Network, nodes: readonly BitcoinNode[], publicKeys: CompressedKeys): PureSender {
  return {
    gasLimit: async () => null,
    payoutFee: (_asset, fee) => payoutFee(network, fee),
    depositFee: (_asset, fee) => depositFee(network, fee),
    build: (request) => buildTransfer(network, publicKeys, request),
    broadcast: (raw) => broadcastAll(nodes, raw),
    findScriptFailure: (raw) => findScriptFailure(nodes, raw),
    observe: createObserve(network, nodes),
  }
}

async function broadcastAll(nodes: readonly BitcoinNode[], raw: string): Promise<BroadcastResult> {
  const txid = txidOf(raw)
  if (txid === null) return { kind: 'rejected', reason: 'not a transaction' }
  return combineResults(await Promise.all(nodes.map((node) => broadcastTo(node, raw, txid))))
}

/**
 * Begins the reason of a failed consensus rule of scripts; failed relay rules begin with `non-mandatory`, and pass at other
 * nodes (Bitcoin Core, src/validation.cpp). Bitcoin Cash Node puts a code before it.
 */
const SCRIPT_FAILED = /^(?:\d+: )?mandatory-script-verify-flag-failed/

/**
 * The reason, if two or more nodes are configured and every one of them reports it. A single node could lie, and pay with the
 * bytes later (I-13).
 */
async function findScriptFailure(nodes: readonly BitcoinNode[], raw: string): Promise<string | null> {
  if (nodes.length < 2) return null
  // A node that does not answer, or cannot check, proves nothing.
  const reasons = await Promise.all(nodes.map((node) => node.checkAcceptance(raw).catch(() => null)))
  return reasons.every((reason) => reason !== null && SCRIPT_FAILED.test(reason)) ? (reasons[0] ?? null) : null
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
