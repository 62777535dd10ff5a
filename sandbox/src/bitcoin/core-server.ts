import { createServer, type ServerResponse } from 'node:http'
import type { BcoinNode } from './bcoin-node.ts'
import { CoreError, coreCode, readArguments } from './core-arguments.ts'
import { chainMethods, mempoolMethods, miningMethods, type RpcMethod } from './core-methods.ts'

const methods: ReadonlyMap<string, RpcMethod> = new Map(
  Object.entries({ ...chainMethods, ...mempoolMethods, ...miningMethods }),
)

/** Methods that take the node's lock themselves. All others run under it, so that no reorg happens within one reply. */
const lockingMethods: ReadonlySet<string> = new Set([
  ...Object.keys(miningMethods),
  'sendrawtransaction',
  'testmempoolaccept',
])

const bodyBytesMax = 32 * 1024 * 1024

type Request = { id?: unknown; method?: unknown; params?: unknown }
type Reply = { result: unknown; error: { code: number; message: string } | null; id: unknown }

/**
 * Serves Bitcoin Core's JSON-RPC. Errors have HTTP status 404 (unknown method), 400 (bad request) or 500; batches 200.
 */
export async function startCoreRpcServer(node: BcoinNode, port: number): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return sendResponse(response, 405, 'JSONRPC server handles only POST requests')
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bodyBytesMax) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => void respondToBody(node, Buffer.concat(chunks).toString('utf8'), response))
  })
  // Clients keep connections open; the default of 5 s could close one while a request is in flight.
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function respondToBody(node: BcoinNode, body: string, response: ServerResponse): Promise<void> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return sendResponse(response, 500, toErrorReply(null, new CoreError(coreCode.parse, 'Parse error')))
  }
  if (Array.isArray(parsed)) {
    const replies: Reply[] = []
    for (const one of parsed) replies.push(await runRequest(node, one as Request))
    return sendResponse(response, 200, replies)
  }
  const reply = await runRequest(node, parsed as Request)
  sendResponse(response, statusOf(reply), reply)
}

async function runRequest(node: BcoinNode, request: Request): Promise<Reply> {
  const id = request?.id ?? null
  try {
    if (typeof request?.method !== 'string') throw new CoreError(coreCode.invalidRequest, 'Method must be a string')
    const params = request.params ?? []
    if (!Array.isArray(params)) throw new CoreError(coreCode.invalidRequest, 'Params must be an array')
    const method = methods.get(request.method)
    if (!method) throw new CoreError(coreCode.methodNotFound, 'Method not found')
    const args = readArguments(request.method, params)
    const run = () => method(node, args)
    return { result: await (lockingMethods.has(request.method) ? run() : node.readLocked(run)), error: null, id }
  } catch (error) {
    return toErrorReply(id, error)
  }
}

function toErrorReply(id: unknown, error: unknown): Reply {
  const code = error instanceof CoreError ? error.code : coreCode.internal
  const message = error instanceof Error ? error.message : String(error)
  return { result: null, error: { code, message }, id }
}

function statusOf({ error }: Reply): number {
  if (error === null) return 200
  if (error.code === coreCode.methodNotFound) return 404
  return error.code === coreCode.invalidRequest ? 400 : 500
}

function sendResponse(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(body)}\n`)
}
