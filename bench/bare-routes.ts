import type { AddressInfo } from 'node:net'
import { CreatedExchange, routes } from '@swapyard/schema'
import Fastify from 'fastify'
import { openDatabase } from '../server/src/adapters/postgres/core/database.ts'
import { timeOrderedId } from '../server/src/lib/id.ts'
import { readSettings, serve } from './processes.ts'

/**
 * Routes that do one query and nothing else, through a database pool as that of an API process, with its login: what creates and status
 * polls are compared with.
 */
export type BareRoutesSettings = Readonly<{ databaseUrl: string }>

/** The default of `SWAPYARD_POOL_MAX`. */
const POOL_MAX = 10

const { databaseUrl } = readSettings<BareRoutesSettings>()
const database = openDatabase(databaseUrl, { max: POOL_MAX })

type Row = {
  id: string
  status: string
  type: string
  flow: string
  from_currency: string
  from_network: string
  to_currency: string
  to_network: string
  from_units: string
  to_units: string
  recipient_address: string
  refund_address: string | null
  created_at: Date
  expires_at: Date
}

const legs = JSON.stringify([
  {
    from: { id: 'btc@btc', ticker: 'btc', network: 'btc', decimals: 8, contract: null },
    to: { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null },
  },
])

/** Inserts one row like that of an exchange: the same columns, checks and indexes. */
const INSERT = `insert into bare_exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units,
    recipient_address, refund_address, partner_fee_bps, expires_at)
  values ($1, '00000000-0000-4000-8000-000000000000', 'standard', 'standard', $2, $3, $4, $5, $6, 1000000, 280000000000000000, $7, $8, 0,
    clock_timestamp() + interval '1 day')
  returning *`

const toResponse = (row: Row) => ({
  id: row.id,
  created: row.created_at.toISOString(),
  exchangeType: row.type,
  status: row.status,
  statusReason: null,
  request: {
    fromCurrency: row.from_currency,
    fromNetwork: row.from_network,
    toCurrency: row.to_currency,
    toNetwork: row.to_network,
    amountFromRequested: row.from_units,
    amountToRequested: row.to_units,
    depositAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    depositMemo: null,
    recipientAddress: row.recipient_address,
    recipientMemo: null,
    refundAddress: row.refund_address,
    refundMemo: null,
    flow: row.flow,
  },
  exchanges: [],
  expiresAt: row.expires_at.toISOString(),
  fixedUntil: null,
  confirmationsRequired: 12,
  confirmationsSeen: 0,
  expectedSeconds: 0,
  externalId: null,
  trackingUrl: `https://swapyard.example/track/${row.id}`,
})

const server = Fastify()
server.get(
  '/exchange',
  { schema: { response: { 200: routes.getStandardExchangeStatus.success[200]?.schema } } },
  async (request) => {
    const { id } = request.query as { id: string }
    const [row] = await database.query<Row>('select * from exchanges where id = $1', [id], 'bare-find')
    if (!row) throw new Error(`no row with id ${id}`)
    return toResponse(row)
  },
)
server.post('/exchange', { schema: { response: { 201: CreatedExchange } } }, async (request, reply) => {
  const body = request.body as Record<string, string>
  const values = [
    timeOrderedId(),
    body['fromCurrency'],
    body['fromNetwork'],
    body['toCurrency'],
    body['toNetwork'],
    legs,
    body['address'],
    body['refundAddress'],
  ]
  const [row] = await database.query<Row>(INSERT, values, 'bare-insert')
  if (!row) throw new Error('the insert returned no row')
  reply.code(201)
  return toResponse(row)
})
await server.listen({ host: '127.0.0.1', port: 0 })
serve({ port: (server.server.address() as AddressInfo).port }, async () => {
  await server.close()
  await database.close()
})
