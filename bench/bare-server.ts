import type { AddressInfo } from 'node:net'
import fastifyStatic from '@fastify/static'
import { RateQuote } from '@swapyard/schema'
import Fastify from 'fastify'
import { readSettings, serve } from './processes.ts'

/** Reference for quotes and the rates feed: a route with one fixed quote, and the feed as a static file. */
export type BareServerSettings = Readonly<{ quote: object; folder: string }>

const settings = readSettings<BareServerSettings>()
const server = Fastify()
server.get('/v1/cross-chain/rate', { schema: { response: { 200: RateQuote } } }, () => settings.quote)
server.register(fastifyStatic, { root: settings.folder })
await server.listen({ host: '127.0.0.1', port: 0 })
serve({ barePort: (server.server.address() as AddressInfo).port }, () => server.close())
