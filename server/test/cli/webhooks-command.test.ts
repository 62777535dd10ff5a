import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { openShell, type Shell } from './shell.ts'

let shell: Shell
beforeAll(async () => {
  shell = await openShell()
})
afterAll(() => shell.close())

test('lists, disables and enables a webhook with the reason in the audit log, and stores the e-mail address of a partner', async () => {
  const { swapyard, url } = shell
  expect((await swapyard(['partners', 'add', 'acme', '--email', 'ops@acme.example'])).code).toBe(0)
  expect((await swapyard(['partners', 'list'])).lines).toMatchObject([{ name: 'acme', email: 'ops@acme.example' }])
  expect(await swapyard(['partners', 'set', 'acme', '--email', 'not an address'])).toMatchObject({ code: 1 })
  await swapyard(['partners', 'set', 'acme', '--email', 'none'])
  expect((await swapyard(['partners', 'list'])).lines).toMatchObject([{ email: null }])

  const id = randomUUID()
  const database = openDatabase(url, { max: 1 })
  await database.query(
    `insert into webhooks (id, partner_id, url, events, secret) select $1, id, 'https://acme.example/', '{}', '\\x00' from partners`,
    [id],
  )
  await database.query("insert into alarms (subject, alarm) values ($1, 'a webhook failed')", [`webhook:${id}`])
  const listed = { id, partner: 'acme', url: 'https://acme.example/', disabledBy: null, waiting: 0, lastError: null }
  expect((await swapyard(['webhooks', 'list'])).lines).toMatchObject([listed])
  expect((await swapyard(['webhooks', 'list', '--partner', 'others'])).lines).toEqual([])

  expect(await swapyard(['webhooks', 'disable', id, '--reason', 'an attack'])).toMatchObject({
    code: 0,
    lines: [{ id, enabled: false }],
  })
  expect((await swapyard(['webhooks', 'list'])).lines).toMatchObject([{ ...listed, disabledBy: 'operator' }])
  expect(await swapyard(['webhooks', 'enable', id])).toMatchObject({ code: 0, lines: [{ id, enabled: true }] })
  expect((await swapyard(['webhooks', 'list'])).lines).toMatchObject([listed])
  expect(await database.query('select 1 from alarms')).toEqual([])
  const acts = await database.query('select act, subject, reason from operator_acts where subject = $1 order by id', [
    id,
  ])
  expect(acts).toEqual([
    { act: 'webhook disable', subject: id, reason: 'an attack' },
    { act: 'webhook enable', subject: id, reason: '-' },
  ])
  await database.close()
  for (const unknown of [randomUUID(), 'x'])
    expect(await swapyard(['webhooks', 'disable', unknown])).toMatchObject({
      code: 1,
      error: expect.stringContaining(unknown),
    })
})

test('lists the deliveries of a webhook and sends one again', async () => {
  const { swapyard, url } = shell
  const [id, eventId] = [randomUUID(), randomUUID()]
  const database = openDatabase(url, { max: 1 })
  await database.query(
    `insert into webhooks (id, partner_id, url, events, secret) select $1, id, 'https://acme.example/', '{}', '\\x00' from partners`,
    [id],
  )
  const [row] = await database.query<{ id: string }>(
    `with e as (insert into partner_events (id, partner_id, kind, subject_id, type, position, body)
       select $2, id, 'exchange', $2, 'exchange.finished', 1, '{}' from partners returning id)
     insert into webhook_deliveries (webhook_id, event_id, subject_id) select $1, id, id from e returning id::text`,
    [id, eventId],
  )
  await database.query(
    "update webhook_deliveries set state = 'delivered', delivered_at = now(), next_attempt_at = null where webhook_id = $1",
    [id],
  )
  const first = { id: row?.id, eventId, type: 'exchange.finished', state: 'delivered', attempts: 0 }
  expect((await swapyard(['webhooks', 'deliveries', id])).lines).toMatchObject([first])
  const sent = await swapyard(['webhooks', 'redeliver', id, row?.id ?? '', '--reason', 'the partner lost it'])
  expect(sent).toMatchObject({ code: 0, lines: [{ eventId, type: 'exchange.finished', state: 'pending' }] })
  expect((await swapyard(['webhooks', 'deliveries', id])).lines).toMatchObject([{ eventId, state: 'pending' }, first])
  expect((await swapyard(['webhooks', 'deliveries', id, '--limit', '1'])).lines).toHaveLength(1)
  const acts = await database.query('select act, reason from operator_acts where subject = $1', [id])
  expect(acts).toEqual([{ act: 'webhook redeliver', reason: 'the partner lost it' }])
  for (const unknown of ['999999', '0', 'x', '1; drop table webhooks'])
    expect(await swapyard(['webhooks', 'redeliver', id, unknown])).toMatchObject({ code: 1 })
  await swapyard(['webhooks', 'disable', id])
  expect(await swapyard(['webhooks', 'redeliver', id, row?.id ?? ''])).toMatchObject({
    code: 1,
    error: expect.stringContaining('disabled'),
  })
  expect(await swapyard(['webhooks', 'deliveries', 'x'])).toMatchObject({ code: 1 })
  await database.close()
})
