import type { AddressInfo } from 'node:net'
import fastifyStatic from '@fastify/static'
import { RateQuote } from '@swapyard/schema'
import Fastify from 'fastify'
import { serve, settingsOf } from './processes.ts'

/** What quotes and the feed are measured against: a bare route with the same answer, and the same bytes as a static file. */
export type BareSettings = Readonly<{ quote: object; folder: string }>

const settings = settingsOf<BareSettings>()
const app = Fastify()
app.get('/v1/cross-chain/rate', { schema: { response: { 200: RateQuote } } }, () => settings.quote)
app.register(fastifyStatic, { root: settings.folder })
await app.listen({ host: '127.0.0.1', port: 0 })
serve({ bare: (app.server.address() as AddressInfo).port }, () => app.close())
