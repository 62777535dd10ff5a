import { Agent, createServer, request as requestUpstream } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readSettings, serve } from './processes.ts'

/**
 * A reverse proxy as in production: it forwards requests of all clients over a few keep-alive connections, so that each connection to
 * the server carries quotes, polls and creates, and it names the client in `X-Forwarded-For`.
 */
export type ProxySettings = Readonly<{ upstreamPort: number }>

const UPSTREAM_CONNECTIONS = 16
/** Headers of one connection, which a proxy does not forward (RFC 9110 §7.6.1). */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding'])

const { upstreamPort } = readSettings<ProxySettings>()
const agent = new Agent({ keepAlive: true, maxSockets: UPSTREAM_CONNECTIONS })

const server = createServer({ noDelay: true }, (request, response) => {
  const headers = { ...request.headers, connection: 'keep-alive', 'x-forwarded-for': request.socket.remoteAddress }
  const options = { agent, host: '127.0.0.1', port: upstreamPort, path: request.url, method: request.method, headers }
  const upstream = requestUpstream(options, (answer) => {
    const rawHeaders = answer.rawHeaders.filter((_, at, all) => {
      const name = at % 2 === 0 ? all[at] : all[at - 1]
      return !CONNECTION_HEADERS.has(name?.toLowerCase() ?? '')
    })
    response.writeHead(answer.statusCode ?? 502, rawHeaders)
    answer.pipe(response)
  })
  upstream.on('error', () => response.writeHead(502, { 'content-length': 0 }).end())
  if (request.headers['content-length'] === undefined) upstream.end()
  else request.pipe(upstream)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
serve({ port: (server.address() as AddressInfo).port }, async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  agent.destroy()
})
