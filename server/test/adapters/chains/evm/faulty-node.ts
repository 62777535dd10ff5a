import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = { result: unknown } | { error: { code: number; message: string } } | { status: number } | 'silence'
type Call = { id: unknown; method: string; params: unknown[] }
/** The node's answer to a call; undefined = the real node's answer. `forward` calls the real node. */
export type Fault = (call: Call, forward: () => Promise<unknown>) => Promise<Answer | undefined> | Answer | undefined

export type FaultyNode = Readonly<{
  url: string
  /** Replaces the previous fault. */
  set(fault: Fault): void
  /** The number of calls of a method. */
  callCount(method: string): number
  stop(): Promise<void>
}>

/** A proxy in front of a real node that fails as configured. */
export async function startFaultyNode(upstream: string): Promise<FaultyNode> {
  let fault: Fault = () => undefined
  let isStopped = false
  const counts = new Map<string, number>()

  async function answer(call: Call): Promise<unknown> {
    counts.set(call.method, (counts.get(call.method) ?? 0) + 1)
    const forward = async () => (await forwardTo(upstream, call)) as { result?: unknown; error?: unknown }
    const reply = await fault(call, async () => (await forward()).result)
    if (reply === undefined) return forward()
    if (reply === 'silence') return new Promise(() => undefined)
    return 'status' in reply ? reply : { jsonrpc: '2.0', id: call.id, ...reply }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call | Call[]
    const answers = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body)
    const status = (answers as { status?: number }).status ?? 200
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answers))
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // The real node may end before it has answered.
      if (!isStopped) throw error
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (next) => {
      fault = next
    },
    callCount: (method) => counts.get(method) ?? 0,
    async stop() {
      isStopped = true
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function forwardTo(url: string, call: Call): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
    signal: AbortSignal.timeout(20_000),
  })
  return response.json()
}
