import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export type Received = Readonly<{
  headers: IncomingMessage['headers']
  body: string
  event: Readonly<{ id: string; type: string; created: string; data: Record<string, unknown> }>
  at: number
}>
type Respond = (received: Received, response: ServerResponse, nth: number) => void

export type Receiver = Readonly<{
  url: string
  received: Received[]
  /** Replaces how requests are answered. */
  respond(next: Respond): void
  close(): Promise<void>
}>

const accept: Respond = (_received, response) => response.writeHead(204).end()

/** A receiver of webhooks on a socket of loopback, which records what it gets. With a certificate it speaks TLS. */
export async function startReceiver(
  options: Readonly<{ respond?: Respond; tls?: Readonly<{ key: string; cert: string }>; port?: number }> = {},
): Promise<Receiver> {
  const received: Received[] = []
  let respond = options.respond ?? accept
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const one = { headers: request.headers, body, event: JSON.parse(body), at: Date.now() }
      received.push(one)
      respond(one, response, received.length)
    })
  }
  const server = options.tls ? createSecureServer(options.tls, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    received,
    respond: (next) => {
      respond = next
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
