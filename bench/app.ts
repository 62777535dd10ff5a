import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { CreatedExchange, routes } from '@swapyard/schema'
import Fastify, { type FastifyInstance } from 'fastify'
import { until } from '../lib/src/until.ts'
import { createEmbeddedPrices } from '../server/src/adapters/prices/embedded.ts'
import { openPublicKeys } from '../server/src/adapters/signers/keystore.ts'
import { mountAdminApi, seedSandboxOperator } from '../server/src/app/admin.ts'
import { type App, createApp } from '../server/src/app/app.ts'
import type { NetworkNodes } from '../server/src/app/chains.ts'
import { createMetrics } from '../server/src/app/metrics.ts'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { seedSandboxPartners } from '../server/src/app/sandbox-partners.ts'
import { sandboxSwaps } from '../server/src/app/swaps.ts'
import { loadConfig } from '../server/src/config/load.ts'
import { defaultSpreads } from '../server/src/core/domain/book.ts'
import { fundingEntry } from '../server/src/core/domain/ledger/entries.ts'
import { timeOrderedId } from '../server/src/lib/id.ts'
import { createLog } from '../server/src/lib/log.ts'
import { appSettings } from '../test/support/app-settings.ts'
import { readSettings, serve } from './processes.ts'
import { PEPPER, RATE_LIMIT_PER_MINUTE, rateLimitStatements } from './seed-database.ts'

/*
 * The API alone in its process, as `swapyard start --role api` composes it: the production HTTP layer behind one proxy, keys, throttle,
 * log, metrics, services and store. The nodes are stubs that answer fee queries. A second HTTP server in the same process and on the
 * same database pool has the bare routes that creates and status polls are compared with.
 */
export type AppSettings = Readonly<{
  databaseUrl: string
  keystore: string
  nodes: readonly NetworkNodes[]
  /** The `chains.json` of sandbox chains to quote swaps on; null: no swaps. */
  chainsFile: string | null
  /** Serves the admin API too, which is off in production by default. */
  hasAdmin: boolean
}>

const PUBLIC_URL = 'http://127.0.0.1'
const pepper = Buffer.from(PEPPER)
const settings = readSettings<AppSettings>()
const swaps = sandboxSwaps(settings.chainsFile === null ? [] : readChains(settings.chainsFile))

const app = await createApp({
  environment: 'sandbox',
  databaseUrl: settings.databaseUrl,
  poolMax: 10,
  nodes: settings.nodes,
  publicKeys: openPublicKeys(settings.keystore),
  signer: null,
  pepper,
  prices: createEmbeddedPrices({ now: Date.now, still: false }),
  spreads: defaultSpreads,
  settings: appSettings,
  denied: [],
  swaps,
  rateLimit: true,
  api: { publicUrl: PUBLIC_URL, trustedProxies: 1, publicLimitPerMinute: RATE_LIMIT_PER_MINUTE },
  log: createLog({ level: 'info', pretty: false }),
  metrics: createMetrics(),
})
if (settings.hasAdmin) {
  const config = loadConfig({ SWAPYARD_PEPPER: PEPPER, SWAPYARD_KEYSTORE: settings.keystore })
  mountAdminApi(config, app, { nodes: settings.nodes, swaps, publicUrl: PUBLIC_URL })
  await seedSandboxOperator(app.database, config)
}
await seedSandboxPartners(app.database, pepper)
for (const statement of rateLimitStatements) await app.database.query(statement)
await creditWallets(app)
const bareServer = createBareServer(app)
const ports = { port: await listen(app.http), barePort: await listen(bareServer) }
await until('the app is ready', () => app.services.readiness().length === 0, {
  timeoutMs: 30_000,
  intervalMs: 20,
  explain: () => app.services.readiness().join(', '),
})
serve(ports, async () => {
  await bareServer.close()
  await app.http.close()
  await app.stop()
})

function readChains(file: string): ChainsFile['networks'] {
  return (JSON.parse(readFileSync(file, 'utf8')) as ChainsFile).networks
}

/** Gives every wallet a balance in the ledger, so that all currencies are available. */
async function creditWallets({ store, catalogue }: App): Promise<void> {
  for (const { asset } of catalogue.list())
    await store.ledger.post(fundingEntry(asset.id, 1, asset.id, 10n ** BigInt(asset.decimals + 6)))
}

async function listen(server: FastifyInstance): Promise<number> {
  await server.listen({ host: '127.0.0.1', port: 0 })
  return (server.server.address() as AddressInfo).port
}

/** Routes that do one query through the same database pool and nothing else. */
function createBareServer({ database }: App): FastifyInstance {
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
  return server
}

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
    depositAddress: 'bcrt1qq2yshcmzdlznnpxx258xswqlmqcxjs4dssfxt2',
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
