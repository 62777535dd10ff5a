import { setTimeout as delay } from 'node:timers/promises'
import { type Database, openDatabase } from '../server/src/adapters/postgres/core/database.ts'
import { listen } from '../server/src/adapters/postgres/core/listen.ts'
import { createStore } from '../server/src/adapters/postgres/exchange/store.ts'
import { openEvents } from '../server/src/app/events.ts'
import { createMetrics } from '../server/src/app/metrics.ts'
import type { Partner } from '../server/src/core/domain/partner.ts'
import { presentStatus } from '../server/src/exchange/api/present.ts'
import { createLog } from '../server/src/lib/log.ts'
import { readSettings, serve } from './processes.ts'
import { PARTNER, PEPPER } from './seed-database.ts'

/** The events of one worker: it renders and publishes them, and delivers them to webhooks. */
export type EventWorkerSettings = Readonly<{ databaseUrl: string; url: string; webhooks: number; events: number }>

const settings = readSettings<EventWorkerSettings>()
const database = openDatabase(settings.databaseUrl, { max: 10 })
const log = createLog({ level: 'warn', pretty: false })
const pepper = Buffer.from(PEPPER)
const events = openEvents({ environment: 'sandbox', pepper, log, metrics: createMetrics() }, database)
const changes = await listen(
  settings.databaseUrl,
  events.onNotice(() => undefined),
  (err) => log.warn({ err }, 'not listening'),
)
const [partner] = await database.query<{ id: string }>('select id from partners where name = $1', [PARTNER])
for (let n = 0; n < settings.webhooks; n++)
  await events.services.webhooks.create(partner as Partner, { url: `${settings.url}/${n}`, events: [] })
const store = createStore(database)
const listing = {
  requiresMemo: () => false,
  chainIdOf: () => null,
  assetOf: () => null,
  trackingUrlOf: () => 'https://exchange.example/track/0123456789012345678901234567890123456789012',
  expectations: { confirmationsOf: () => 2, secondsOf: () => 60, secondsOfLeg: () => 60, payerSecondsOf: () => 60 },
}
const workers = events.startWorkers({
  exchange: async (partnerId, id) => {
    const view = await store.exchanges.find(partnerId, id)
    return view && presentStatus(view, listing)
  },
  swap: async () => null,
  partner: async () => null,
})
const seconds = await measure(database)
serve({ perSecond: (settings.events * settings.webhooks) / seconds }, async () => {
  await workers.stop()
  await changes.stop()
  await events.stop()
  await database.close()
})

/** From the commit of the changes to the last delivery that was accepted, as the database counts. */
async function measure(sql: Database): Promise<number> {
  const startedAt = performance.now()
  await sql.query(
    `insert into partner_events (partner_id, kind, subject_id, type)
     select e.partner_id, 'exchange', e.id, 'exchange.finished' from
       (select * from exchanges where partner_id = $1 limit 500) e, generate_series(1, $2::int / 500)`,
    [partner?.id, settings.events],
  )
  const expected = settings.events * settings.webhooks
  for (;;) {
    const [row] = await sql.query<{ n: number }>(
      "select count(*)::int as n from webhook_deliveries where state = 'delivered'",
    )
    if (row?.n === expected) return (performance.now() - startedAt) / 1000
    await delay(50)
  }
}
