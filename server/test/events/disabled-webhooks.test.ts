import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import { createAlarmStore } from '../../src/adapters/postgres/core/alarms.ts'
import type { AppError } from '../../src/core/domain/errors.ts'
import type { Partner } from '../../src/core/domain/partner.ts'
import { retryDelaysMs } from '../../src/events/domain/retry-delays.ts'
import { openTransaction } from '../adapters/postgres/open-transaction.ts'
import { addExchange, type EventStage, openEventStage, passTime, setStatuses } from './event-stage.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const statuses = ['confirming', 'exchanging', 'sending', 'finished']
const types = statuses.map((status) => `exchange.${status}`)
/** One attempt, and one after each delay. */
const ATTEMPTS = retryDelaysMs.length + 1

type Mail = Readonly<{ from: string; to: readonly string[]; text: string }>

let stage: EventStage
let partner: Partner
let receiver: Receiver
let smtp: SMTPServer
let mails: Mail[]
let refusals: number
beforeEach(async () => {
  mails = []
  refusals = 0
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, { envelope }, done) => {
      let text = ''
      stream.setEncoding('utf8')
      stream.on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('end', () => {
        if (refusals-- > 0) return done(new Error('try again later'))
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        // Long lines are folded (RFC 2045 §6.7).
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text: text.replaceAll('=\r\n', '') })
        return done()
      })
    },
  })
  smtp.listen(0, '127.0.0.1')
  await once(smtp.server, 'listening')
  const { port } = smtp.server.address() as AddressInfo
  const mail = { url: `smtp://127.0.0.1:${port}`, from: 'Swapyard <alerts@swapyard.example>' }
  stage = await openEventStage({ mail })
  partner = await stage.addPartner('ops@partner.example')
  receiver = await startReceiver({ respond: (_received, response) => response.writeHead(503).end() })
})
afterEach(async () => {
  await receiver.close()
  await stage.close()
  await new Promise<void>((resolve) => smtp.close(resolve))
})

const { webhooks } = new Proxy({} as { webhooks: EventStage['events']['services']['webhooks'] }, {
  get: () => new Proxy({}, { get: (_, name) => Reflect.get(stage.events.services.webhooks, name) }),
})

async function failForThreeDays(webhookId: string): Promise<void> {
  await expect
    .poll(async () => {
      await passTime(stage.database)
      return (await webhooks.find(partner, webhookId)).disabledBy
    }, PATIENCE)
    .toBe('failures')
}

test('three days of failures disable a webhook with an alarm and an e-mail, and enabling it delivers everything in order', async () => {
  const { webhook } = await webhooks.create(partner, { url: receiver.url, events: [] })
  stage.startWorkers()
  const exchange = await addExchange(stage.database, partner)
  await setStatuses(stage.database, exchange, statuses.slice(0, 2))
  // The first attempt to send the e-mail fails, too.
  refusals = 1
  await failForThreeDays(webhook.id)
  expect(receiver.received.length).toBe(ATTEMPTS)
  expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(1)
  expect(await createAlarmStore(stage.database).find(`webhook:${webhook.id}`)).toMatchObject({
    severity: 'warning',
    detail: { partner: partner.name, url: receiver.url, reason: 'status 503', mailed: true },
  })

  await expect
    .poll(async () => {
      await stage.database.query('update mails set next_attempt_at = clock_timestamp() where last_error is not null')
      return mails.length
    }, PATIENCE)
    .toBe(1)
  expect(mails[0]).toMatchObject({ from: 'alerts@swapyard.example', to: ['ops@partner.example'] })
  expect(mails[0]?.text).toContain('Subject: A webhook was disabled')
  expect(mails[0]?.text).toContain(`POST /v1/webhooks/${webhook.id}/enable`)
  const readMail = async () =>
    (await stage.database.query<{ id: string; sent: boolean }>('select id, sent_at is not null as sent from mails'))[0]
  // The worker notes it after the mail server has it.
  await expect.poll(async () => (await readMail())?.sent, PATIENCE).toBe(true)
  expect(mails[0]?.text).toContain(`Message-ID: <${(await readMail())?.id}@swapyard.example>`)

  // What happens meanwhile waits as well.
  await setStatuses(stage.database, exchange, statuses.slice(2))
  receiver.respond((_received, response) => response.writeHead(204).end())
  await expect.poll(async () => (await webhooks.deliveries(partner, webhook.id, null, 9)).length, PATIENCE).toBe(4)
  expect(receiver.received.length).toBe(ATTEMPTS)
  expect(await webhooks.setEnabled(partner, webhook.id, true)).toMatchObject({ disabledBy: null })
  await expect.poll(() => receiver.received.length, PATIENCE).toBe(ATTEMPTS + 4)
  expect(receiver.received.slice(ATTEMPTS).map(({ event }) => event.type)).toEqual(types)
  expect(await createAlarmStore(stage.database).find(`webhook:${webhook.id}`)).toBeNull()
})

test('a partner without an address gets no e-mail, and the alarm says so', async () => {
  partner = await stage.addPartner()
  const { webhook } = await webhooks.create(partner, { url: receiver.url, events: [] })
  stage.startWorkers()
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await failForThreeDays(webhook.id)
  expect(await createAlarmStore(stage.database).find(`webhook:${webhook.id}`)).toMatchObject({
    detail: { mailed: false },
  })
  expect(await stage.database.query('select 1 from mails')).toEqual([])
})

test('without a mail server the alarm says that the partner got no e-mail, and none is queued', async () => {
  const { webhook } = await webhooks.create(partner, { url: receiver.url, events: [] })
  stage.startWorkers(stage.openAnother({ mail: null }))
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await failForThreeDays(webhook.id)
  expect(await createAlarmStore(stage.database).find(`webhook:${webhook.id}`)).toMatchObject({
    detail: { mailed: false },
  })
  expect(await stage.database.query('select 1 from mails')).toEqual([])
})

test('a mail server that refuses for hours is given up, with an alarm', async () => {
  refusals = Number.POSITIVE_INFINITY
  await stage.database.query("insert into mails (recipient, subject, body) values ('a@partner.example', 's', 'b')")
  stage.startWorkers()
  const read = async () =>
    (
      await stage.database.query<{ attempts: number; open: boolean; error: string }>(
        'select attempts, next_attempt_at is not null as open, last_error as error from mails',
      )
    )[0]
  await expect
    .poll(async () => {
      await stage.database.query(
        'update mails set next_attempt_at = clock_timestamp() where next_attempt_at is not null and last_error is not null',
      )
      return (await read())?.open
    }, PATIENCE)
    .toBe(false)
  expect(await read()).toMatchObject({ attempts: 9, error: expect.stringContaining('try again later') })
  expect(await listMailAlarms()).toEqual([
    { recipient: 'a@partner.example', subject: 's', reason: expect.stringContaining('try again later') },
  ])
})

test('an e-mail that waited for more than three days is not sent, with an alarm', async () => {
  await stage.database.query(
    `insert into mails (recipient, subject, body, created_at)
     values ('a@partner.example', 's', 'b', clock_timestamp() - interval '73 hours')`,
  )
  stage.startWorkers()
  await expect
    .poll(listMailAlarms, PATIENCE)
    .toEqual([{ recipient: 'a@partner.example', subject: 's', reason: 'it waited for more than three days' }])
  expect(mails).toEqual([])
})

const listMailAlarms = async () =>
  (await createAlarmStore(stage.database).list(10))
    .filter(({ subject }) => subject.startsWith('mail:'))
    .map(({ detail }) => detail)

test('what a partner disabled waits, and the operator alone enables what the operator disabled', async () => {
  receiver.respond((_received, response) => response.writeHead(204).end())
  const { webhook } = await webhooks.create(partner, { url: receiver.url, events: [] })
  await webhooks.setEnabled(partner, webhook.id, false)
  stage.startWorkers()
  await setStatuses(stage.database, await addExchange(stage.database, partner), ['confirming'])
  await expect.poll(async () => (await webhooks.deliveries(partner, webhook.id, null, 9)).length, PATIENCE).toBe(1)
  await expect(webhooks.test(partner, webhook.id)).rejects.toMatchObject({ code: 'WEBHOOK_DISABLED' })
  expect(receiver.received).toEqual([])
  await webhooks.setEnabled(partner, webhook.id, true)
  await expect.poll(() => receiver.received.length, PATIENCE).toBe(1)
  await stage.database.query("update webhooks set disabled_by = 'operator'")
  await expect(webhooks.setEnabled(partner, webhook.id, true)).rejects.toMatchObject({ code: 'WEBHOOK_DISABLED' })
})

const untilBlocked = () =>
  expect
    .poll(
      () =>
        stage.database.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      PATIENCE,
    )
    .toHaveLength(1)

test.each([true, false])(
  'a partner who sets enabled to %s at the same time undoes no act of the operator',
  async (isEnabled) => {
    const { webhook } = await webhooks.create(partner, { url: receiver.url, events: [] })
    const operator = await openTransaction(stage.database)
    await operator.sql.query("update webhooks set disabled_by = 'operator' where id = $1", [webhook.id])
    const outcome = webhooks.setEnabled(partner, webhook.id, isEnabled).catch((error: AppError) => error.code)
    // It has read the row as it was.
    await untilBlocked()
    await operator.end(true)
    expect(await outcome).toBe('WEBHOOK_DISABLED')
    expect((await webhooks.find(partner, webhook.id)).disabledBy).toBe('operator')
  },
)

test('a webhook that is deleted at the same time is not found', async () => {
  const { webhook } = await webhooks.create(partner, { url: receiver.url, events: [] })
  const other = await openTransaction(stage.database)
  await other.sql.query('delete from webhooks where id = $1', [webhook.id])
  const outcome = webhooks.setEnabled(partner, webhook.id, true).catch((error: AppError) => error.code)
  await untilBlocked()
  await other.end(true)
  expect(await outcome).toBe('WEBHOOK_NOT_FOUND')
})
