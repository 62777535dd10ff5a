import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { CreatedExchange, RateQuote, routes } from '@swapyard/schema'
import Fastify from 'fastify'
import { readSettings, serve } from './processes.ts'

const schemas = {
  '/v1/cross-chain/rate': RateQuote,
  '/v1/cross-chain/exchange/status/standard': routes.getStandardExchangeStatus.success[200]?.schema,
  '/v1/cross-chain/exchange': CreatedExchange,
}
export type BareRoute = Readonly<{ method: 'GET' | 'POST'; path: keyof typeof schemas; answer: object }>

/** The reference of HTTP benchmarks: routes with one fixed answer each, by the schemas of ours, and the rates feed from memory. */
export type BareServerSettings = Readonly<{ routes: readonly BareRoute[]; feedFile: string | null }>

const settings = readSettings<BareServerSettings>()
const server = Fastify()
for (const { method, path, answer } of settings.routes) {
  const status = method === 'POST' ? 201 : 200
  server.route({
    method,
    url: path,
    schema: { response: { [status]: schemas[path] } },
    handler: (_request, reply) => {
      reply.code(status)
      return answer
    },
  })
}
if (settings.feedFile !== null) {
  const feed = readFileSync(settings.feedFile)
  server.get('/v1/rates', (_request, reply) => reply.type('application/xml').send(feed))
}
await server.listen({ host: '127.0.0.1', port: 0 })
serve({ port: (server.server.address() as AddressInfo).port }, () => server.close())
