import type { AddressInfo } from 'node:net'
import { SwapQuote } from '@swapyard/schema'
import Fastify from 'fastify'
import { serve, settingsOf } from './processes.ts'

/** What quotes of swaps are measured against: a bare route with one fixed answer, by the same response schema. */
export type BareSwapSettings = Readonly<{ quote: object }>

const settings = settingsOf<BareSwapSettings>()
const app = Fastify()
app.get('/v1/defi/quote', { schema: { response: { 200: SwapQuote } } }, () => settings.quote)
await app.listen({ host: '127.0.0.1', port: 0 })
serve({ bare: (app.server.address() as AddressInfo).port }, () => app.close())
