import { randomUUID } from 'node:crypto'
import type { Database } from '../../src/adapters/postgres/core/database.ts'
import { type EventOptions, type Events, openEvents } from '../../src/app/events.ts'
import { createMetrics, type Metrics } from '../../src/app/metrics.ts'
import type { Partner } from '../../src/core/domain/partner.ts'
import type { RenderSubject } from '../../src/events/publish-events.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Loop } from '../../src/lib/loop.ts'
import { openTestDatabase, type TestDatabase } from '../adapters/postgres/database.ts'

export const pepper = Buffer.from('a pepper of the tests')

/** Events as the program composes them, on a database of their own, with exchanges that only have a status. */
export type EventStage = Readonly<{
  url: string
  database: Database
  events: Events
  metrics: Metrics
  /** Like another process on the same database. */
  openAnother(options?: Partial<EventOptions>): Events
  startWorkers(events?: Events): Loop
  addPartner(email?: string): Promise<Partner>
  close(): Promise<void>
}>

export async function openEventStage(options: Partial<EventOptions> = {}): Promise<EventStage> {
  const testDatabase: TestDatabase = await openTestDatabase()
  const { database } = testDatabase
  // These exchanges have no executions, from which their status would follow.
  await database.query('alter table exchanges disable trigger exchange_status')
  const metrics = createMetrics({ defaults: false })
  const opened: Events[] = []
  const started: Loop[] = []
  const openAnother = (changes: Partial<EventOptions> = {}): Events => {
    const log = createLog({ level: 'silent', pretty: false })
    const events = openEvents({ environment: 'sandbox', pepper, log, metrics, ...options, ...changes }, database)
    opened.push(events)
    return events
  }
  const first = openAnother()
  return {
    url: testDatabase.url,
    database,
    events: first,
    metrics,
    openAnother,
    startWorkers: (events = first) => {
      const workers = events.startWorkers(renderersOf(database))
      started.push(workers)
      return workers
    },
    addPartner: (email) => addPartner(database, email ?? null),
    close: async () => {
      for (const workers of started) await workers.stop()
      for (const events of opened) await events.stop()
      await testDatabase.close()
    },
  }
}

/** Shows an exchange or a swap by its id and status. */
export function renderersOf(database: Database): Readonly<Record<'exchange' | 'swap' | 'partner', RenderSubject>> {
  const render = (table: 'exchanges' | 'swaps') => async (partnerId: string, id: string) => {
    const [row] = await database.query<{ id: string; status: string }>(
      `select id, status from ${table} where id = $1 and partner_id = $2`,
      [id, partnerId],
    )
    return row ?? null
  }
  return { exchange: render('exchanges'), swap: render('swaps'), partner: async () => ({ data: [] }) }
}

async function addPartner(database: Database, email: string | null): Promise<Partner> {
  const id = randomUUID()
  await database.query('insert into partners (id, name, email) values ($1, $2, $3)', [id, `partner ${id}`, email])
  return {
    ...{ id, name: `partner ${id}`, feeBps: 0, suspended: false, openExchangesMax: 10, rateLimitPerMinute: 100 },
    ...{ strict: false, refundToSender: false, defaultRecipients: new Map() },
  }
}

export async function addExchange(database: Database, { id: partnerId }: Pick<Partner, 'id'>): Promise<string> {
  const id = randomUUID()
  await database.query(
    `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units,
       to_units, partner_fee_bps, expires_at)
     values ($1, $2, 'standard', 'standard', 'btc', 'btc', 'eth', 'eth', '[]', 1, 1, 0, clock_timestamp() + interval '1 day')`,
    [id, partnerId],
  )
  return id
}

/** One transaction per status, as the program changes it. */
export async function setStatuses(database: Database, id: string, statuses: readonly string[]): Promise<void> {
  for (const status of statuses) await database.query('update exchanges set status = $2 where id = $1', [id, status])
}

/** Makes the time of the next attempt of failed deliveries come, as if it had passed. */
export async function passTime(database: Database): Promise<void> {
  await database.query(
    `update webhook_deliveries
     set failing_since = failing_since - (next_attempt_at - clock_timestamp()), next_attempt_at = clock_timestamp()
     where next_attempt_at > clock_timestamp() and last_error is not null`,
  )
}
