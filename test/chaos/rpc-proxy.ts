import type { IncomingMessage, ServerResponse } from 'node:http'
import { Transaction } from '@scure/btc-signer'
import { keccak256 } from 'viem'
import type { Json } from '../support/until.ts'
import { type LocalServer, readBody, sendJson, startLocalServer } from './local-server.ts'
import { type NodeEndpoint, nodeEndpoint } from './node-endpoint.ts'

/**
 * Faults of a node that receives a transaction. `silent`: accepts it without an answer and answers nothing else for a
 * while. `known`: accepts it and reports it as already known. `drop`: reports it as accepted and drops it.
 */
export type BroadcastFault = 'silent' | 'known' | 'drop'

/** Forwards JSON-RPC to a node unchanged, except for the faults that a test configures. */
export type RpcProxy = LocalServer &
  Readonly<{
    /** Each of the next broadcasts gets one of these faults. */
    queueFaults(faults: readonly BroadcastFault[]): void
    /** Whether all queued faults are used. */
    hasUsedAllFaults(): boolean
    /** Multiplies the fee rates that the node estimates. */
    multiplyFees(factor: number): void
    /** States the same fee rates from now on, whatever the node estimates. */
    fixFees(): void
    /** All raw transactions that the node received, in order, repeated ones included. */
    broadcasts(): readonly { hash: string; raw: string }[]
  }>

const SEND = new Set(['eth_sendRawTransaction', 'sendrawtransaction'])
/** How long a node with the fault `silent` answers nothing. */
const SILENCE_MS = 2_000
/** EIP-1474 "transaction rejected" with geth's text; Bitcoin Core's RPC_VERIFY_ALREADY_IN_CHAIN. */
const KNOWN = {
  evm: { code: -32000, message: 'already known' },
  bitcoin: { code: -27, message: 'Transaction already in block chain' },
}

/** The base fee of the sandbox's eth in every block that it mines, and the tip of its customers. */
const FIXED_BASE_FEE = '0x77359400'
const FIXED_TIP = '0x3b9aca00'
/** Litecoins per 1000 virtual bytes, more than the node relays: `ESTIMATED_RATE` of test/support/network-costs.ts. */
const FIXED_ESTIMATE = 0.00012

type State = {
  faults: BroadcastFault[]
  areFeesFixed: boolean
  feeFactor: number
  silentUntil: number
  broadcasts: { hash: string; raw: string }[]
}
type Call = { id: unknown; method: string; params?: readonly unknown[] }

export async function startRpcProxy(upstream: string, family: 'evm' | 'bitcoin'): Promise<RpcProxy> {
  const state: State = { faults: [], areFeesFixed: false, feeFactor: 1, silentUntil: 0, broadcasts: [] }
  const node = { upstream: nodeEndpoint(upstream), family }
  const server = await startLocalServer((request, response) => handle(state, node, request, response))
  return {
    close: server.close,
    url: `${server.url}/`,
    queueFaults: (faults) => {
      state.faults = [...faults]
    },
    hasUsedAllFaults: () => state.faults.length === 0,
    multiplyFees: (factor) => {
      state.feeFactor = factor
    },
    fixFees: () => {
      state.areFeesFixed = true
    },
    broadcasts: () => state.broadcasts,
  }
}

type Node = Readonly<{ upstream: NodeEndpoint; family: 'evm' | 'bitcoin' }>

async function handle(state: State, node: Node, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await readBody(request)).toString('utf8')
  if (Date.now() < state.silentUntil) return void response.destroy()
  const calls = JSON.parse(body) as Call | readonly Call[]
  const call = Array.isArray(calls) ? null : (calls as Call)
  if (call && SEND.has(call.method)) return broadcast(state, node, call, body, response)
  const estimated = await forward(node, body)
  const answer = state.areFeesFixed && call ? fixFees(call.method, estimated) : estimated
  sendJson(response, state.feeFactor === 1 || !call ? answer : multiplyFees(state.feeFactor, call.method, answer))
}

async function broadcast(state: State, node: Node, call: Call, body: string, response: ServerResponse): Promise<void> {
  const raw = String(call.params?.[0])
  const hash =
    node.family === 'evm'
      ? keccak256(raw as `0x${string}`)
      : Transaction.fromRaw(Buffer.from(raw, 'hex'), { allowUnknownOutputs: true }).id
  state.broadcasts.push({ hash, raw })
  const fault = state.faults.shift()
  if (fault === 'drop') return sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: call.id, result: hash }))
  const answer = await forward(node, body)
  if (fault === 'silent') {
    state.silentUntil = Date.now() + SILENCE_MS
    response.destroy()
  } else if (fault === 'known') {
    sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: call.id, error: KNOWN[node.family] }))
  } else sendJson(response, answer)
}

async function forward({ upstream: { url, headers } }: Node, body: string): Promise<string> {
  const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(30_000) })
  return answer.text()
}

const FEE_METHODS = new Set(['eth_maxPriorityFeePerGas', 'eth_feeHistory', 'estimatesmartfee'])

/** Puts the fixed fee rates into an answer. */
function fixFees(method: string, answer: string): string {
  if (!FEE_METHODS.has(method)) return answer
  const parsed = JSON.parse(answer) as { result?: Json }
  const { result } = parsed
  if (result === undefined) return answer
  if (method === 'eth_maxPriorityFeePerGas') parsed.result = FIXED_TIP
  else if (method === 'estimatesmartfee') parsed.result = { feerate: FIXED_ESTIMATE, blocks: 2 }
  else {
    result.baseFeePerGas = result.baseFeePerGas.map(() => FIXED_BASE_FEE)
    result.reward = result.reward?.map((block: readonly string[]) => block.map(() => FIXED_TIP))
  }
  return JSON.stringify(parsed)
}

/** Multiplies mempool fees and fee estimates in an answer of either family. */
function multiplyFees(factor: number, method: string, answer: string): string {
  const parsed = JSON.parse(answer) as { result?: Json }
  const { result } = parsed
  if (method === 'getmempoolinfo') result.mempoolminfee = Number((result.mempoolminfee * factor).toFixed(8))
  else if (method === 'estimatesmartfee' && result.feerate > 0)
    result.feerate = Number((result.feerate * factor).toFixed(8))
  else if (method === 'eth_maxPriorityFeePerGas' || method === 'eth_gasPrice')
    parsed.result = `0x${(BigInt(result) * BigInt(factor)).toString(16)}`
  else if (method === 'eth_feeHistory')
    result.baseFeePerGas = result.baseFeePerGas.map((fee: string) => `0x${(BigInt(fee) * BigInt(factor)).toString(16)}`)
  else return answer
  return JSON.stringify(parsed)
}
