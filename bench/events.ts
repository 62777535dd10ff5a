import pg from 'pg'
import type { EventClientsSettings } from './event-clients.ts'
import type { EventReceiverSettings } from './event-receiver.ts'
import type { EventWorkerSettings } from './event-worker.ts'
import type { App, Infrastructure } from './infrastructure.ts'
import { median, quantile, runAtRate } from './load.ts'
import { cycle, quoteRequests } from './requests.ts'
import type { Result } from './results.ts'
import { isUndecided } from './rounds.ts'
import { runStatements, type SeededPartner, seedPartner, seedStatements } from './seed-database.ts'

const STREAMS = 1_000
const PARTNERS = 10
const EVENTS_PER_SECOND = 10
const QUOTES_PER_SECOND = 500
/** Of two rounds each, with streams and without. A p99 varies more than a throughput. */
const ROUNDS = 10
const ROUND_MS = 4_000
const RATIO_GOAL = 2

const WEBHOOKS = 4
const EVENTS = 2_500
const EXCHANGES = 500
const DELIVERIES_GOAL = 500

/** Quotes of a process with a thousand open event streams, beside the same process without, in alternating order. */
export async function benchStreams(infrastructure: Infrastructure, app: App): Promise<Result[]> {
  const client = new pg.Client({ connectionString: app.urls.worker })
  await client.connect()
  try {
    const partners: SeededPartner[] = []
    for (let n = 1; n <= PARTNERS; n++) partners.push(await seedPartner(app.urls.owner, n))
    const measureWith = () => measureBeside(infrastructure, app, { client, partners })
    const [without, beside]: [number[], number[]] = [[], []]
    await measureP99(app)
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 2 === 0) without.push(await measureP99(app))
      beside.push(await measureWith())
      if (round % 2 === 1) without.push(await measureP99(app))
    }
    return [toStreamsResult(without, beside)]
  } finally {
    await client.end()
  }
}

type Publishing = Readonly<{ client: pg.Client; partners: readonly SeededPartner[] }>

async function measureBeside(infrastructure: Infrastructure, app: App, { client, partners }: Publishing) {
  const clients = await infrastructure.startProcess('event-clients.ts', {
    port: app.process.report('port'),
    keys: partners.map(({ key }) => key),
    streamsPerKey: STREAMS / PARTNERS,
  } satisfies EventClientsSettings)
  const publishing = publishEvents(client, partners)
  const p99 = await measureP99(app)
  await publishing.stop()
  await clients.stop()
  return p99
}

function toStreamsResult(without: readonly number[], beside: readonly number[]): Result {
  const ratios = beside.map((value, n) => value / (without[n] ?? Number.NaN))
  const note = `p99 ${median(beside).toFixed(1)} and ${median(without).toFixed(1)} ms at ${QUOTES_PER_SECOND} quotes a second, medians of ${ROUNDS} rounds; ratios of the rounds ${ratios.map((one) => one.toFixed(2)).join(', ')}; ${STREAMS} streams of ${PARTNERS} partners in one process, ${EVENTS_PER_SECOND} events a second, each to ${STREAMS / PARTNERS} streams`
  return {
    name: 'p99 of quotes beside 1,000 event streams ÷ without',
    figures: [{ value: median(ratios), goal: { below: RATIO_GOAL } }],
    note,
    ...(isUndecided(ratios, RATIO_GOAL)
      ? { notJudged: 'a quarter of the rounds or more lies on either side of the goal' }
      : {}),
  }
}

async function measureP99({ process }: App): Promise<number> {
  const load = { ports: [process.report('port')], connections: 32, next: cycle(quoteRequests) }
  return quantile((await runAtRate(load, QUOTES_PER_SECOND, ROUND_MS)).latencies, 0.99)
}

/** Events as a worker publishes them, in turn for each partner. */
function publishEvents(client: pg.Client, partners: readonly SeededPartner[]): { stop(): Promise<void> } {
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
  const urls = await infrastructure.createDatabase('deliveries')
  await seedPartner(urls.owner)
  await runStatements(urls.owner, seedStatements(EXCHANGES))
  const receiver = await infrastructure.startProcess('event-receiver.ts', {
    status: 204,
  } satisfies EventReceiverSettings)
  const url = `http://127.0.0.1:${receiver.report('port')}`
  const settings: EventWorkerSettings = {
    databaseUrl: urls.worker,
    url,
    webhooks: WEBHOOKS,
    events: EVENTS,
  }
  const worker = await infrastructure.startProcess('event-worker.ts', settings)
  const note = `${EVENTS} events of ${EXCHANGES} exchanges to ${WEBHOOKS} webhooks, from the commit of the changes to the last answer: rendered, published, signed and sent by one worker, in order for each exchange`
  await Promise.all([worker.stop(), receiver.stop()])
  return [
    {
      name: 'webhook deliveries of one worker',
      figures: [{ value: worker.report('perSecond'), unit: 'a second', goal: { atLeast: DELIVERIES_GOAL } }],
      note,
    },
  ]
}
