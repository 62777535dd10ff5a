import { crc32 } from 'node:zlib'
import pg from 'pg'
import { formatApiKey } from '../server/src/core/domain/api-key.ts'
import { hashSecret } from '../server/src/core/services/partner-keys.ts'
import type { EventClientsSettings } from './event-clients.ts'
import type { EventReceiverSettings } from './event-receiver.ts'
import type { EventWorkerSettings } from './event-worker.ts'
import type { App, Infrastructure } from './infrastructure.ts'
import { median, quantile, runAtRate } from './load.ts'
import { cycle, quoteRequests } from './requests.ts'
import type { Result } from './results.ts'
import { PEPPER, RATE_LIMIT_PER_MINUTE } from './seed-database.ts'

const STREAMS = 1_000
const PARTNERS = 10
const EVENTS_PER_SECOND = 10
const QUOTES_PER_SECOND = 500
const ROUNDS = 5
const ROUND_MS = 4_000
const RATIO_GOAL = 2

const WEBHOOKS = 4
const EVENTS = 2_500
const EXCHANGES = 500
const DELIVERIES_GOAL = 500

/** Quotes of a process with a thousand open event streams, beside the same process without. */
export async function benchStreams(infrastructure: Infrastructure, app: App): Promise<Result[]> {
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  try {
    const partners = await addPartners(client)
    const settings: EventClientsSettings = {
      port: app.process.report('port'),
      keys: partners.map(({ key }) => key),
      streamsPerKey: STREAMS / PARTNERS,
    }
    const [before, during]: [number[], number[]] = [[], []]
    await measureP99(app)
    for (let round = 0; round < ROUNDS; round++) {
      before.push(await measureP99(app))
      const clients = await infrastructure.startProcess('event-clients.ts', settings)
      const publishing = publishEvents(client, partners)
      during.push(await measureP99(app))
      await publishing.stop()
      await clients.stop()
    }
    const ratios = during.map((value, n) => value / (before[n] ?? Number.NaN))
    const note = `p99 ${median(during).toFixed(1)} and ${median(before).toFixed(1)} ms at ${QUOTES_PER_SECOND} quotes a second, medians of ${ROUNDS} rounds; ratios of the rounds ${ratios.map((one) => one.toFixed(2)).join(', ')}; ${STREAMS} streams of ${PARTNERS} partners in one process, ${EVENTS_PER_SECOND} events a second, each to ${STREAMS / PARTNERS} streams`
    return [
      {
        name: 'p99 of quotes beside 1,000 event streams ÷ without',
        figures: [{ value: median(ratios), goal: { below: RATIO_GOAL } }],
        note,
      },
    ]
  } finally {
    await client.end()
  }
}

async function measureP99({ process }: App): Promise<number> {
  const load = { ports: [process.report('port')], connections: 32, next: cycle(quoteRequests) }
  return quantile((await runAtRate(load, QUOTES_PER_SECOND, ROUND_MS)).latencies, 0.99)
}

type StreamPartner = Readonly<{ id: string; key: string }>

async function addPartners(client: pg.Client): Promise<readonly StreamPartner[]> {
  const partners: StreamPartner[] = []
  for (let n = 0; n < PARTNERS; n++) {
    const { keyId, secret, text } = formatApiKey('test', Buffer.alloc(6, n + 1), Buffer.alloc(32, n + 1), crc32)
    const { rows } = await client.query<{ id: string }>(
      `with p as (insert into partners (id, name, rate_limit_per_minute) values (gen_random_uuid(), $1, $2) returning id),
         k as (insert into api_keys (id, partner_id, scopes, created_by) select $3, id, '{exchange:read}', 'bench' from p)
       select id from p`,
      [`streams ${n}`, RATE_LIMIT_PER_MINUTE, keyId],
    )
    const hmac = hashSecret(secret, Buffer.from(PEPPER))
    await client.query('insert into key_secrets (key_id, hmac) values ($1, $2)', [keyId, hmac])
    partners.push({ id: rows[0]?.id ?? '', key: text })
  }
  return partners
}

/** Events as a worker publishes them, in turn for each partner. */
function publishEvents(client: pg.Client, partners: readonly StreamPartner[]): { stop(): Promise<void> } {
  let running: Promise<unknown> = Promise.resolve()
  let n = 0
  const publish = () =>
    client.query(
      `with e as (insert into partner_events (partner_id, kind, subject_id, type, position, body)
         select $1, 'exchange', gen_random_uuid(), 'exchange.finished', nextval('partner_event_positions'), $2)
       select pg_notify('partner_events_published', '')`,
      [partners[n++ % partners.length]?.id, JSON.stringify({ data: 'x'.repeat(1_200) })],
    )
  const timer = setInterval(() => {
    running = running.then(publish)
  }, 1_000 / EVENTS_PER_SECOND)
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}

/** Deliveries of one worker to receivers that accept at once. */
export async function benchDeliveries(infrastructure: Infrastructure): Promise<Result[]> {
  const small = await infrastructure.startApp('deliveries', EXCHANGES)
  const receiver = await infrastructure.startProcess('event-receiver.ts', {
    status: 204,
  } satisfies EventReceiverSettings)
  const url = `http://127.0.0.1:${receiver.report('port')}`
  const settings: EventWorkerSettings = { databaseUrl: small.databaseUrl, url, webhooks: WEBHOOKS, events: EVENTS }
  const worker = await infrastructure.startProcess('event-worker.ts', settings)
  const note = `${EVENTS} events of ${EXCHANGES} exchanges to ${WEBHOOKS} webhooks, from the commit of the changes to the last answer: rendered, published, signed and sent by one worker, in order for each exchange`
  await worker.stop()
  return [
    {
      name: 'webhook deliveries of one worker',
      figures: [{ value: worker.report('perSecond'), unit: 'a second', goal: { atLeast: DELIVERIES_GOAL } }],
      note,
    },
  ]
}
