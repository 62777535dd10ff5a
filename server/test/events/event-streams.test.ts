import type { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import { createEventStore } from '../../src/adapters/postgres/events/events.ts'
import type { Events } from '../../src/app/events.ts'
import { type Caller, type Partner, scopes } from '../../src/core/domain/partner.ts'
import { addExchange, type EventStage, openEventStage, setStatuses } from './event-stage.ts'

const statuses = ['confirming', 'exchanging', 'sending', 'finished']
const types = statuses.map((status) => `exchange.${status}`)

let stage: EventStage
let partner: Partner
beforeEach(async () => {
  stage = await openEventStage()
  partner = await stage.addPartner()
})
afterEach(() => stage.close())

const callerOf = (one: Partner): Caller => ({ partner: one, keyId: 'key', scopes: new Set(scopes) })

type Read = Readonly<{ ids: string[]; types: string[]; isEnded(): boolean; readable: Readable }>

/** Opens a stream and reads it. */
async function open(
  events: Events,
  one = partner,
  lastEventId: string | null = null,
  isAllowed = async () => true,
): Promise<Read> {
  const readable = await events.services.streams.open(callerOf(one), lastEventId, isAllowed)
  return read(readable)
}

function read(readable: Readable): Read {
  const [ids, found]: [string[], string[]] = [[], []]
  const state = { rest: '', isEnded: false }
  readable.on('data', (chunk: string) => {
    const blocks = (state.rest + chunk).split('\n\n')
    state.rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, id = '', type = ''] = /^id: (.+)\nevent: (.+)\ndata: /.exec(block) ?? []
      if (id === '') continue
      ids.push(id)
      found.push(type)
    }
  })
  const ended = () => {
    state.isEnded = true
  }
  readable.on('end', ended).on('close', ended)
  return { ids, types: found, isEnded: () => state.isEnded, readable }
}

/** The id after which a stream that is opened now begins. */
async function startOf(): Promise<string> {
  const readable = await stage.events.services.streams.open(callerOf(partner), null, async () => true)
  const [text] = (await readable.take(1).toArray()) as [string]
  readable.destroy()
  return /^id: (.+)$/m.exec(text)?.[1] ?? ''
}

test('a process without workers streams what a worker of another process publishes', async () => {
  const api = stage.openAnother()
  const stream = await open(api)
  stage.startWorkers()
  await setStatuses(stage.database, await addExchange(stage.database, partner), statuses)
  await expect.poll(() => stream.types, PATIENCE).toEqual(types)
})

test('a stream begins now, resumes after any event without a gap, and shows nothing of another partner', async () => {
  const other = await stage.addPartner()
  const [mine, theirs] = [await open(stage.events), await open(stage.events, other)]
  stage.startWorkers()
  for (let n = 0; n < 3; n++) {
    await setStatuses(stage.database, await addExchange(stage.database, partner), statuses)
    await setStatuses(stage.database, await addExchange(stage.database, other), statuses)
  }
  await expect.poll(() => [mine.ids.length, theirs.ids.length], PATIENCE).toEqual([12, 12])
  expect(mine.ids.filter((id) => theirs.ids.includes(id))).toEqual([])
  for (const from of [0, 5, 11]) {
    const resumed = await open(stage.events, partner, mine.ids[from] ?? '')
    await expect.poll(() => resumed.ids, PATIENCE).toEqual(mine.ids.slice(from + 1))
    resumed.readable.destroy()
  }
  const late = await open(stage.events)
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await expect.poll(() => late.types, PATIENCE).toEqual(['exchange.confirming'])
  // An id of another partner is unknown, as one that never was.
  for (const id of [theirs.ids[0] ?? '', '00000000-0000-4000-8000-000000000000', 'x', "'"])
    await expect(open(stage.events, partner, id)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' })
})

test('a stream that breaks before its first event is resumed where it began, by the id that it states first', async () => {
  stage.startWorkers()
  const exchange = await addExchange(stage.database, partner)
  const begun = await startOf()
  await setStatuses(stage.database, exchange, ['confirming'])
  const resumed = await open(stage.events, partner, begun)
  await expect.poll(() => resumed.types, PATIENCE).toEqual(['exchange.confirming'])
  const second = await startOf()
  expect(second).toBe(resumed.ids[0])
  await setStatuses(stage.database, exchange, ['exchanging'])
  const continued = await open(stage.events, partner, second)
  await expect.poll(() => continued.types, PATIENCE).toEqual(['exchange.exchanging'])
})

test('streams that open and resume while events are published miss none and repeat none', async () => {
  stage.startWorkers()
  const first = await open(stage.events)
  const readers: Promise<void>[] = []
  const collected: string[][] = []
  const exchanges = await Promise.all(Array.from({ length: 40 }, () => addExchange(stage.database, partner)))
  const writing = Promise.all(exchanges.map((id) => setStatuses(stage.database, id, statuses)))
  await expect.poll(() => first.ids.length, PATIENCE).toBeGreaterThan(0)
  // Each reader reads a few events, disconnects, and resumes.
  for (let n = 0; n < 8; n++) {
    const ids: string[] = [first.ids[0] ?? '']
    collected.push(ids)
    readers.push(
      (async () => {
        const api = stage.openAnother()
        while (ids.length < 160) {
          const stream = await open(api, partner, ids.at(-1))
          const most = Math.min(7 + n, 160 - ids.length)
          await expect.poll(() => stream.ids.length >= most, PATIENCE).toBe(true)
          ids.push(...stream.ids)
          stream.readable.destroy()
        }
      })(),
    )
  }
  await Promise.all([writing, ...readers])
  await expect.poll(() => first.ids.length, PATIENCE).toBe(160)
  for (const ids of collected) expect(ids).toEqual(first.ids)
})

test('a client that does not read holds a bounded buffer, and later gets everything', async () => {
  stage.startWorkers()
  const readable = await stage.events.services.streams.open(callerOf(partner), null, async () => true)
  await stage.database.query(
    `insert into partner_events (partner_id, kind, subject_id, type)
     select $1, 'exchange', $2, 'exchange.confirming' from generate_series(1, 1500)`,
    [partner.id, await addExchange(stage.database, partner)],
  )
  const live = await open(stage.events, partner, null)
  await expect
    .poll(
      async () => (await stage.database.query('select 1 from partner_events where position is null')).length,
      PATIENCE,
    )
    .toBe(0)
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await expect.poll(() => live.ids.length, PATIENCE).toBeGreaterThan(0)
  // One page of events more than its limit, at most.
  expect(readable.readableLength).toBeLessThan(64 * 1024 + 200 * 400)
  expect(readable.readableLength).toBeGreaterThan(10_000)
  const slow = read(readable)
  await expect.poll(() => slow.ids.length, PATIENCE).toBe(1501)
  expect(new Set(slow.ids).size).toBe(1501)
})

test('a stream ends when its key is not allowed any more, and when the process closes; then no other opens', async () => {
  let isAllowed = true
  const first = await open(stage.events, partner, null, async () => isAllowed)
  const second = await open(stage.events)
  isAllowed = false
  stage.events.services.streams.recheck()
  await expect.poll(() => [first.isEnded(), second.isEnded()], PATIENCE).toEqual([true, false])
  stage.events.services.streams.close()
  await expect.poll(() => second.isEnded(), PATIENCE).toBe(true)
  await expect(open(stage.events)).rejects.toMatchObject({ code: 'OVERLOADED' })
})

test('one partner has at most 200 streams of a process, and a closed one is replaced', async () => {
  const streams = await Promise.all(Array.from({ length: 200 }, () => open(stage.events)))
  await expect(open(stage.events)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 60 })
  await open(stage.events, await stage.addPartner())
  streams[0]?.readable.destroy()
  await expect.poll(() => open(stage.events).then(({ types: found }) => found), PATIENCE).toEqual([])
})

test('an event that cannot be rendered holds back those of its exchange alone, and is published later', async () => {
  const stream = await open(stage.events)
  const [broken, good] = [await addExchange(stage.database, partner), await addExchange(stage.database, partner)]
  let isBroken = true
  const render = async (_partnerId: string, id: string) => {
    if (isBroken && id === broken) throw new Error('cannot be shown')
    return { id }
  }
  const workers = stage.events.startWorkers({ exchange: render, swap: render, partner: render })
  try {
    await setStatuses(stage.database, broken, statuses)
    await setStatuses(stage.database, good, statuses)
    await expect.poll(() => stream.types, PATIENCE).toEqual(types)
    isBroken = false
    await stage.database.query('update partner_events set publish_at = clock_timestamp() where position is null')
    await expect.poll(() => stream.types, PATIENCE).toEqual([...types, ...types])
  } finally {
    await workers.stop()
  }
})

/** Deletes these events as those that are older than 30 days, in several batches. */
async function removeByAge(ids: readonly (string | undefined)[]): Promise<void> {
  await stage.database.query(
    "update partner_events set created_at = clock_timestamp() - interval '31 days' where id = any($1::uuid[])",
    [ids],
  )
  while (await createEventStore(stage.database).removeOld(30, 2));
}
const refusal = { code: 'EVENT_NOT_FOUND' }

test('a stream resumes after the last event of its partner though that was deleted, and after no earlier one', async () => {
  stage.startWorkers()
  const first = await open(stage.events)
  await setStatuses(stage.database, await addExchange(stage.database, partner), statuses)
  await expect.poll(() => first.types, PATIENCE).toEqual(types)
  const [a = '', b = '', c = '', d = ''] = first.ids
  await removeByAge([b])
  await expect(open(stage.events, partner, a)).rejects.toMatchObject(refusal)
  for (const [last, missed] of [
    [b, [c, d]],
    [c, [d]],
  ] as const) {
    const resumed = await open(stage.events, partner, last)
    await expect.poll(() => resumed.ids, PATIENCE).toEqual(missed)
  }
  await removeByAge([a, c, d])
  expect(await stage.database.query('select 1 from partner_events')).toEqual([])
  for (const last of [a, b, c]) await expect(open(stage.events, partner, last)).rejects.toMatchObject(refusal)
  // A stream that begins now has the same beginning as one that resumes.
  const [resumed, begun] = [await open(stage.events, partner, d), await startOf()]
  expect(begun).toBe(d)
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await expect.poll(() => resumed.types, PATIENCE).toEqual(['exchange.confirming'])
  const another = await stage.addPartner()
  await expect(open(stage.events, another, d)).rejects.toMatchObject(refusal)
})

test('a stream resumes before the first event of its partner until events were deleted', async () => {
  stage.startWorkers()
  const { webhooks } = stage.events.services
  const other = await stage.addPartner()
  const [mine, theirs, begun] = [await open(stage.events), await open(stage.events, other), await startOf()]
  // A test of a webhook is in no stream, so no stream misses it.
  const { webhook } = await webhooks.create(partner, { url: 'http://127.0.0.1:9/', events: [] })
  const tested = await webhooks.test(partner, webhook.id)
  await setStatuses(stage.database, await addExchange(stage.database, other), statuses)
  await expect.poll(() => theirs.types, PATIENCE).toEqual(types)
  await expect.poll(async () => (await webhooks.deliveries(partner, webhook.id, null, 9)).length, PATIENCE).toBe(1)
  expect(await startOf()).toBe(begun)
  await removeByAge([tested, ...theirs.ids])
  await setStatuses(stage.database, await addExchange(stage.database, partner), statuses)
  const resumed = await open(stage.events, partner, begun)
  await expect.poll(() => resumed.types, PATIENCE).toEqual(types)
  await removeByAge(mine.ids.slice(0, 1))
  await expect(open(stage.events, partner, begun)).rejects.toMatchObject(refusal)
})

test('the refusal of an unknown event names where a stream with everything that is kept begins', async () => {
  stage.startWorkers()
  const first = await open(stage.events)
  await setStatuses(stage.database, await addExchange(stage.database, partner), statuses)
  await expect.poll(() => first.types, PATIENCE).toEqual(types)
  const findStart = (): Promise<string> =>
    open(stage.events, partner, 'unknown').then(
      () => expect.fail('the stream was opened'),
      ({ problems: [problem] }: { problems: { resumeAfter: string }[] }) => problem?.resumeAfter ?? '',
    )
  const whole = await open(stage.events, partner, await findStart())
  await expect.poll(() => whole.ids, PATIENCE).toEqual(first.ids)
  await removeByAge(first.ids.slice(0, 2))
  const rest = await open(stage.events, partner, await findStart())
  await expect.poll(() => rest.ids, PATIENCE).toEqual(first.ids.slice(2))
})

test('events and their deliveries are deleted after 30 days, and later ones are delivered', async () => {
  const { webhooks } = stage.events.services
  // Nothing listens at the discard port.
  const { webhook } = await webhooks.create(partner, { url: 'http://127.0.0.1:9/', events: [] })
  const exchange = await addExchange(stage.database, partner)
  stage.startWorkers()
  await setStatuses(stage.database, exchange, statuses)
  await expect.poll(async () => (await webhooks.deliveries(partner, webhook.id, null, 9)).length, PATIENCE).toBe(4)
  await stage.database.query(
    "update partner_events set created_at = clock_timestamp() - interval '31 days' where type = 'exchange.confirming'",
  )
  await stage
    .openAnother()
    .startWorkers({ exchange: async () => null, swap: async () => null, partner: async () => null })
    .stop()
  await expect
    .poll(async () => (await webhooks.deliveries(partner, webhook.id, null, 9)).map(({ type }) => type), PATIENCE)
    .toEqual(types.slice(1).toReversed())
  // The next one is first in its queue now.
  await expect
    .poll(async () => (await webhooks.deliveries(partner, webhook.id, null, 9)).at(-1)?.attempts, PATIENCE)
    .toBe(1)
})
