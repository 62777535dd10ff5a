import type { AddressInfo } from 'node:net'
import { SwapQuote } from '@swapyard/schema'
import Fastify from 'fastify'
import { readSettings, serve } from './processes.ts'

/** Reference for swap quotes: a route with one fixed quote and the same response schema. */
export type BareSwapServerSettings = Readonly<{ quote: object }>

const settings = readSettings<BareSwapServerSettings>()
const server = Fastify()
server.get('/v1/defi/quote', { schema: { response: { 200: SwapQuote } } }, () => settings.quote)
await server.listen({ host: '127.0.0.1', port: 0 })
serve({ barePort: (server.server.address() as AddressInfo).port }, () => server.close())
