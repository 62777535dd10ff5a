import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Transaction } from '@scure/btc-signer'
import { keccak256 } from 'viem'
import type { Json } from '../support/until.ts'
import { type NodeEndpoint, nodeEndpoint } from './node-endpoint.ts'

/**
 * What a node may do with a transaction that it is offered. `silent`: takes it and never answers, nor anything else for a
 * while. `known`: takes it and says that it had it before. `lie`: says that it took it, and forgets it.
 */
export type BroadcastFault = 'silent' | 'known' | 'lie'

/** Forwards JSON-RPC to a node unchanged, except for the faults that a test configures. */
export type RpcProxy = Readonly<{
  url: string
  /** The next broadcasts meet these, one each. */
  misbehave(faults: readonly BroadcastFault[]): void
  /** All of them are over. */
  isGood(): boolean
  /** Multiplies the fee rates that the node estimates. */
  feeTimes(times: number): void
  /** Raw transactions that were offered, in order, by hash: the same may come again. */
  offered(): readonly { hash: string; raw: string }[]
  close(): Promise<void>
}>

const SEND = new Set(['eth_sendRawTransaction', 'sendrawtransaction'])
/** How long a node that took a transaction silently gives no answer to anything. */
const SILENCE_MS = 2_000
/** EIP-1474 "transaction rejected"; geth's text. Bitcoin Core's RPC_VERIFY_ALREADY_IN_CHAIN. */
const KNOWN = {
  evm: { code: -32000, message: 'already known' },
  bitcoin: { code: -27, message: 'Transaction already in block chain' },
}

type State = { faults: BroadcastFault[]; times: number; darkUntil: number; offered: { hash: string; raw: string }[] }
type Call = { id: unknown; method: string; params?: readonly unknown[] }

export async function startRpcProxy(upstream: string, family: 'evm' | 'bitcoin'): Promise<RpcProxy> {
  const state: State = { faults: [], times: 1, darkUntil: 0, offered: [] }
  const server = createServer((request, response) => {
    serve(state, { upstream: nodeEndpoint(upstream), family }, request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/`,
    misbehave: (faults) => {
      state.faults = [...faults]
    },
    isGood: () => state.faults.length === 0,
    feeTimes: (times) => {
      state.times = times
    },
    offered: () => state.offered,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Node = Readonly<{ upstream: NodeEndpoint; family: 'evm' | 'bitcoin' }>

async function serve(state: State, node: Node, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (Date.now() < state.darkUntil) return void response.destroy()
  const body = Buffer.concat(chunks).toString('utf8')
  const calls = JSON.parse(body) as Call | readonly Call[]
  const call = Array.isArray(calls) ? null : (calls as Call)
  if (call && SEND.has(call.method)) return send(state, node, call, body, response)
  const answer = await forward(node, body)
  reply(response, state.times === 1 || !call ? answer : dearer(state.times, call.method, answer))
}

async function send(state: State, node: Node, call: Call, body: string, response: ServerResponse): Promise<void> {
  const raw = String(call.params?.[0])
  const hash =
    node.family === 'evm'
      ? keccak256(raw as `0x${string}`)
      : Transaction.fromRaw(Buffer.from(raw, 'hex'), { allowUnknownOutputs: true }).id
  state.offered.push({ hash, raw })
  const fault = state.faults.shift()
  if (fault === 'lie') return reply(response, JSON.stringify({ jsonrpc: '2.0', id: call.id, result: hash }))
  const answer = await forward(node, body)
  if (fault === 'silent') {
    state.darkUntil = Date.now() + SILENCE_MS
    response.destroy()
  } else if (fault === 'known') {
    reply(response, JSON.stringify({ jsonrpc: '2.0', id: call.id, error: KNOWN[node.family] }))
  } else reply(response, answer)
}

async function forward({ upstream: { url, headers } }: Node, body: string): Promise<string> {
  const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(30_000) })
  return answer.text()
}

function reply(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** Fees of mempools and estimates, in the forms of both families. */
function dearer(times: number, method: string, answer: string): string {
  const parsed = JSON.parse(answer) as { result?: Json }
  const { result } = parsed
  if (method === 'getmempoolinfo') result.mempoolminfee = Number((result.mempoolminfee * times).toFixed(8))
  else if (method === 'eth_maxPriorityFeePerGas' || method === 'eth_gasPrice')
    parsed.result = `0x${(BigInt(result) * BigInt(times)).toString(16)}`
  else if (method === 'eth_feeHistory')
    result.baseFeePerGas = result.baseFeePerGas.map((fee: string) => `0x${(BigInt(fee) * BigInt(times)).toString(16)}`)
  else return answer
  return JSON.stringify(parsed)
}
