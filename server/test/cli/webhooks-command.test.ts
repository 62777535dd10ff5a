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
