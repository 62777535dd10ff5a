import { readFileSync } from 'node:fs'
import {
  adminActionRoutes,
  adminActions,
  adminReadRoutes,
  adminSessionRoutes,
  type OperatorRole,
  operatorRoles,
} from '@swapyard/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addRows, deps, live, XSS } from '../../../test/pages/console/rows.ts'
import { seededWebhook } from '../adapters/postgres/seed-admin-rows.ts'
import { type AdminServer, type Caller, openAdminServer } from './admin-server.ts'

let server: AdminServer
/** A held exchange, and one with entries in the ledger. */
let [heldId, paidId] = ['', '']
const callers = new Map<OperatorRole, Caller>()
beforeAll(async () => {
  server = await openAdminServer({ deps, live })
  const { query } = server.test.database
  // Every list has rows, so that their form is compared with the schema.
  heldId = await addRows(server)
  const [paid] = await query<{ id: string }>(
    'select exchange_id as id from journal where exchange_id is not null limit 1',
  )
  paidId = paid?.id ?? ''
  for (const role of operatorRoles)
    callers.set(role, await server.logIn(await server.addOperator(`${role}@example.com`, role)))
  await query(`insert into operator_passkeys (id, operator_id, public_key, counter, name)
    select id, id, '\\x00', 0, 'a passkey' from operators`)
  const asked = await callers
    .get('admin')
    ?.post('operators/invite', { ...exampleBody('operators-invite'), preview: false })
  expect(asked?.body).toMatchObject({ state: 'asked' })
})
afterAll(() => server.close())

/** The least role of each action, as decided: who may stop money, move money, and change who may. */
const decided: Readonly<Record<OperatorRole, string>> = {
  viewer: '',
  support:
    'exchanges-set-refund* partners-suspend keys-revoke pauses-begin alarms-acknowledge webhooks-disable webhooks-enable webhooks-redeliver',
  treasurer:
    'exchanges-release* exchanges-refund* exchanges-convert* exchanges-fail payouts-release* payouts-drop* payouts-conflict payouts-add-funding payouts-release-input fundings-claim* unclaimed-pay-out* treasury-withdraw* treasury-ceiling* treasury-split* treasury-consolidate* partners-pay-out* partners-fees-paid* partners-fees-search pauses-end* alarms-resolve rescans-begin signer-import* signer-release*',
  admin:
    'partners-add* partners-set* partners-resume* partners-recipient* partners-monthly-payout* partners-fee-address* keys-add* keys-set* keys-rotate* operators-invite* operators-reset* operators-set-role* operators-disable operators-enable*',
}

const rows = Object.entries(decided).flatMap(([role, names]) =>
  names
    .split(' ')
    .filter(Boolean)
    .map((name) => ({ role: role as OperatorRole, name: name.replace('*', ''), isMoney: name.endsWith('*') })),
)

test('the table of actions is the decided one', () => {
  const table = Object.entries(adminActions).map(([name, { role, twoPersons }]) => `${name} ${role} ${twoPersons}`)
  expect(table.toSorted()).toEqual(rows.map(({ name, role, isMoney }) => `${name} ${role} ${isMoney}`).toSorted())
})

test('docs/admin.md has the table of actions', () => {
  const page = readFileSync(new URL('../../../docs/admin.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `([a-z-]+)` \| `(\/admin\/v1\/[a-z/-]+)` \| (\w+) \| (yes|no) \|$/gm)]
  expect(documented.map(([, ...cells]) => cells.join(' ')).toSorted()).toEqual(
    Object.entries(adminActions)
      .map(([name, { path, role, twoPersons }]) => `${name} ${path} ${role} ${twoPersons ? 'yes' : 'no'}`)
      .toSorted(),
  )
})

describe.each(operatorRoles)('%s', (role) => {
  const isBelow = (least: OperatorRole | 'open') =>
    least !== 'open' && operatorRoles.indexOf(role) < operatorRoles.indexOf(least)
  const caller = () => callers.get(role) as Caller

  test.each(rows)('$name needs the role $role', async ({ name, role: least }) => {
    const route = adminActionRoutes[name]
    const { status, body } = await caller().post(route?.path.replace('/admin/v1/', '') ?? '', exampleBody(name))
    if (isBelow(least)) expect(body).toMatchObject({ statusCode: 403, code: 'ROLE_REQUIRED' })
    // A preview of the example: it is carried out and rolled back, or refused for what it names.
    else
      expect([
        status === 201 || (body['code'] !== 'ROLE_REQUIRED' && [400, 409, 422].includes(status)),
        body,
      ]).toMatchObject([true, {}])
  })

  test.each(Object.entries(adminReadRoutes))('reads %s according to its role', async (name, route) => {
    const { path, role: least } = route
    const query = new URLSearchParams({ ...exampleQuery(route.query), ...namedRows(name) })
    const { status, body } = await caller().get(`${path.replace('/admin/v1/', '')}?${query}`)
    if (isBelow(least)) expect(body).toMatchObject({ statusCode: 403, code: 'ROLE_REQUIRED' })
    else expect([status, body]).toMatchObject([200, {}])
    if (status === 200 && 'data' in body) expect([name, body['data']]).not.toEqual([name, []])
  })

  test.each(['approveRequest', 'rejectRequest'] as const)('%s', async (name) => {
    const { path, role: least } = adminSessionRoutes[name]
    const body = {
      id: '0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11',
      ...(name === 'rejectRequest' ? { reason: 'a test' } : {}),
    }
    const answer = await caller().post(path.replace('/admin/v1/', ''), body)
    expect(answer.body).toMatchObject(isBelow(least) ? { code: 'ROLE_REQUIRED' } : { code: 'REQUEST_CLOSED' })
  })
})

test('every operation but the logins and invitations needs a session', async () => {
  const all = { ...adminActionRoutes, ...adminReadRoutes, ...adminSessionRoutes }
  const open: string[] = []
  for (const { method, path, role } of Object.values(all)) {
    if (role === 'open') open.push(path)
    else
      expect((await server.call({ method, path, ...(method === 'POST' ? { body: {} } : {}) })).body).toMatchObject({
        code: 'SESSION_REQUIRED',
      })
  }
  expect(open.toSorted()).toEqual([
    '/admin/v1/invitation',
    '/admin/v1/invitation/accept',
    '/admin/v1/login',
    '/admin/v1/login/passkey',
    '/admin/v1/login/passkey-options',
  ])
})

test('unknown members, missing reasons and wrong types are refused', async () => {
  const admin = callers.get('admin') as Caller
  const suspend = (body: object) => admin.post('partners/suspend', body)
  expect((await suspend({ name: 'acme', reason: 'a test', other: 1 })).body).toMatchObject({ code: 'VALIDATION_ERROR' })
  expect((await suspend({ name: 'acme' })).body).toMatchObject({ errors: [{ field: 'reason' }] })
  expect((await suspend({ name: 7, reason: 'a test' })).body).toMatchObject({ errors: [{ field: 'name' }] })
  expect((await suspend({ name: 'acme', reason: '--' })).body).toMatchObject({ code: 'VALIDATION_ERROR' })
})

const DAY_MS = 86_400_000
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** What the examples name is not in the database. */
function namedRows(name: string): Readonly<Record<string, string>> {
  const period = { from: dayOf(Date.now() - 30 * DAY_MS), to: dayOf(Date.now()) }
  const named: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    exchange: { id: heldId },
    decisions: { exchangeId: heldId },
    ledgerEntries: { exchangeId: paidId },
    ...{ trialBalance: period, revenue: period, costs: period },
    networkPools: { network: 'eth' },
    balances: { name: XSS },
    webhookDeliveries: { webhook: seededWebhook },
  }
  return named[name] ?? {}
}

type Member = { examples?: readonly unknown[] }
const membersOf = (schema: unknown) =>
  Object.entries((schema as { properties?: Record<string, Member> } | undefined)?.properties ?? {})

function exampleBody(name: string): object {
  const { arguments: schema } = adminActions[name as keyof typeof adminActions]
  const given = Object.fromEntries(membersOf(schema).map(([member, { examples }]) => [member, examples?.[0]]))
  return { ...given, reason: 'a test of roles', preview: true }
}

function exampleQuery(schema: unknown): Readonly<Record<string, string>> {
  const required = (schema as { required?: readonly string[] } | undefined)?.required ?? []
  return Object.fromEntries(
    membersOf(schema)
      .filter(([name]) => required.includes(name))
      .map(([name, { examples }]) => [name, String(examples?.[0])]),
  )
}
