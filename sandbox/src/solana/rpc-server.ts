import { createServer, type Server, type ServerResponse } from 'node:http'
import { accountMethods } from './account-methods.ts'
import type { Bank } from './bank.ts'
import { chainMethods, type RpcMethod } from './chain-methods.ts'
import { toJson } from './json.ts'
import { SolanaRpcError } from './rpc-error.ts'
import { transactionMethods } from './transaction-methods.ts'

const methods: ReadonlyMap<string, RpcMethod> = new Map(
  Object.entries({ ...chainMethods, ...accountMethods, ...transactionMethods }),
)

/** MAX_REQUEST_BODY_SIZE of the validator. */
const bodyBytesMax = 50 * 1024
const batchMax = 100

type Request = { jsonrpc?: unknown; id?: unknown; method?: unknown; params?: unknown }

/** The HTTP half of the JSON-RPC. Every call reads one state, because it runs without a pause. */
export function createRpcServer(bank: Bank): Server {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return send(response, 405, 'Used HTTP Method is not allowed. POST is required')
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bodyBytesMax) chunks.push(chunk)
    })
    request.on('end', () => {
      if (bytes > bodyBytesMax) return send(response, 413, `request body is larger than ${bodyBytesMax} bytes`)
      const reply = answerBody(bank, Buffer.concat(chunks).toString('utf8'))
      send(response, 200, reply === undefined ? '' : toJson(reply))
    })
  })
  // Clients keep connections open; the default of 5 s could close one while a request is in flight.
  server.keepAliveTimeout = 120_000
  return server
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': status === 200 ? 'application/json; charset=utf-8' : 'text/plain' })
  response.end(text)
}

function answerBody(bank: Bank, body: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return errorReply(null, new SolanaRpcError(-32700, 'Parse error'))
  }
  if (!Array.isArray(parsed)) return answer(bank, parsed)
  if (parsed.length === 0) return errorReply(null, new SolanaRpcError(-32600, 'Invalid request'))
  if (parsed.length > batchMax)
    return errorReply(null, new SolanaRpcError(-32600, `Batch of ${parsed.length} requests; at most ${batchMax}`))
  return parsed.map((one) => answer(bank, one)).filter((reply) => reply !== undefined)
}

function answer(bank: Bank, given: unknown): unknown {
  const request = (typeof given === 'object' && given !== null ? given : {}) as Request
  const id = request.id ?? null
  try {
    if (request.jsonrpc !== '2.0' || typeof request.method !== 'string')
      throw new SolanaRpcError(-32600, 'Invalid request')
    const method = methods.get(request.method)
    if (!method) throw new SolanaRpcError(-32601, 'Method not found')
    const params = request.params ?? []
    if (!Array.isArray(params)) throw new SolanaRpcError(-32602, '`params` should be an array')
    const reply = { jsonrpc: '2.0', result: method(bank, params), id }
    // A request without an id is a notification.
    return request.id === undefined ? undefined : reply
  } catch (error) {
    return errorReply(id, error)
  }
}

export function errorReply(id: unknown, error: unknown): unknown {
  const code = error instanceof SolanaRpcError ? error.code : -32603
  const message = error instanceof Error ? error.message : String(error)
  const data = error instanceof SolanaRpcError && error.data !== undefined ? { data: error.data } : {}
  return { jsonrpc: '2.0', error: { code, message, ...data }, id }
}
