import { afterAll, beforeAll, expect, test } from 'vitest'
import { unownedFundingEntry } from '../../src/core/domain/ledger/entries.ts'
import { verifyAuditLog } from '../../src/core/services/verify-audit-log.ts'
import { type AdminServer, type Caller, type Operator, openAdminServer, PASSWORD, rowsOf } from './admin-server.ts'

let server: AdminServer
let ada: Operator
let bob: Operator
let eve: Operator
let asker: Caller
let approver: Caller
let support: Caller
beforeAll(async () => {
  server = await openAdminServer()
  ada = await server.addOperator('ada@example.com', 'admin')
  bob = await server.addOperator('bob@example.com', 'admin')
  eve = await server.addOperator('eve@example.com', 'support')
  asker = await server.logIn(ada)
  approver = await server.logIn(bob)
  support = await server.logIn(eve)
})
afterAll(() => server.close())

const partners = async () =>
  await server.test.database.query<{ name: string; fee_bps: number }>(
    'select name, fee_bps from partners order by name',
  )
const acts = () =>
  server.test.database.query<{ actor: string; act: string; subject: string; reason: string; detail: object }>(
    'select actor, act, subject, reason, detail from operator_acts order by id',
  )
const ask = async (name: string, caller: Caller = asker) => {
  const answer = await caller.post('partners/add', { name, feeBps: 25, reason: 'signed the contract' })
  expect(answer).toMatchObject({ status: 201, body: { state: 'asked' } })
  return String(answer.body['requestId'])
}

test('a preview shows what an action would do, and changes nothing', async () => {
  const preview = await asker.post('partners/add', { name: 'preview', feeBps: 25, reason: 'a look', preview: true })
  expect(preview.body).toMatchObject({
    state: 'preview',
    result: { name: 'preview' },
    acts: [{ act: 'partner add', subject: 'preview', before: null, after: { name: 'preview', fee_bps: 25 } }],
  })
  expect(await partners()).toEqual([])
  expect(await acts()).not.toContainEqual(expect.objectContaining({ act: 'partner add' }))
})

test('an action that changes limits waits for another operator, and is carried out once', async () => {
  const id = await ask('acme')
  expect(await partners()).toEqual([])
  expect((await asker.post('requests/approve', { id })).body).toMatchObject({ code: 'SECOND_PERSON_REQUIRED' })
  expect((await support.post('requests/approve', { id })).body).toMatchObject({ code: 'ROLE_REQUIRED' })
  expect((await approver.post('requests/approve', { id, preview: true })).body).toMatchObject({ state: 'preview' })
  expect(await partners()).toEqual([])
  // Five approvals at once: one carries it out.
  const answers = await Promise.all(Array.from({ length: 5 }, () => approver.post('requests/approve', { id })))
  expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, 409, 409, 409, 409])
  expect(await partners()).toEqual([{ name: 'acme', fee_bps: 25 }])
  expect(await acts()).toContainEqual({
    ...{ actor: 'operator:ada@example.com', act: 'partner add', subject: 'acme', reason: 'signed the contract' },
    detail: expect.objectContaining({ request: id, approvedBy: 'bob@example.com' }),
  })
  const listed = await asker.get('requests')
  expect(rowsOf(listed)[0]).toMatchObject({
    ...{ id, state: 'done', askedBy: ada.login, decidedBy: bob.login, action: 'partners-add' },
  })
})

test('an action whose result has an amount in base units is shown, approved and kept', async () => {
  const { test, store } = server
  const [deposit] = await test.database.query<{ id: string }>(
    `insert into deposits (network, identity, tx_hash, address, asset_id, units, block_height, block_hash, required_confirmations, status,
       credited_units, credits, unclaimed) values ('btc', 'tx:0', 'tx', 'hot', 'btc@btc', 9, 1, 'h', 2, 'credited', 9, 1, true) returning id`,
  )
  const depositId = deposit?.id ?? ''
  await store.store.ledger.post(unownedFundingEntry(depositId, 1, 'btc@btc', 9n))
  const act = { depositId, reason: 'our own transfer' }
  expect((await asker.post('fundings/claim', { ...act, preview: true })).body).toMatchObject({
    ...{ state: 'preview', result: { id: depositId, units: '9' } },
  })
  const asked = await asker.post('fundings/claim', act)
  const done = await approver.post('requests/approve', { id: asked.body['requestId'] })
  expect(done.body).toMatchObject({ state: 'done', result: { units: '9' } })
  expect(rowsOf(await asker.get('requests'))[0]).toMatchObject({ state: 'done', result: { units: '9' } })
  expect(await store.store.ledger.balance('equity:capital', 'btc@btc')).toBe(-9n)
})

test('a crash between the action and the answer leaves all or nothing', async () => {
  const id = await ask('crashed')
  // The last statement of the transaction fails.
  const { database } = server.test
  await database.query(`create function fail_decision() returns trigger language plpgsql as $$
    begin raise exception 'the connection is lost' using errcode = '57P01'; end $$`)
  await database.query(
    "create trigger fail_decision before update on operator_requests for each row when (new.state = 'done') execute function fail_decision()",
  )
  expect((await approver.post('requests/approve', { id })).status).toBe(503)
  expect(await partners()).not.toContainEqual({ name: 'crashed', fee_bps: 25 })
  await database.query('drop trigger fail_decision on operator_requests')
  expect((await approver.post('requests/approve', { id })).status).toBe(201)
  expect(await partners()).toContainEqual({ name: 'crashed', fee_bps: 25 })
})

test('an action that has become impossible ends its request and changes nothing', async () => {
  const id = await ask('twice')
  const other = await ask('twice')
  expect((await approver.post('requests/approve', { id })).status).toBe(201)
  expect((await approver.post('requests/approve', { id: other })).body).toMatchObject({
    message: 'partner twice already exists',
  })
  expect((await approver.post('requests/approve', { id: other })).body).toMatchObject({ code: 'REQUEST_CLOSED' })
})

test('a request is rejected by another, withdrawn by its own operator, and expires', async () => {
  const rejected = await ask('rejected')
  expect((await approver.post('requests/reject', { id: rejected, reason: 'no contract' })).status).toBe(201)
  const withdrawn = await ask('withdrawn')
  expect((await asker.post('requests/reject', { id: withdrawn, reason: 'a mistake' })).status).toBe(201)
  const late = await ask('late')
  await server.test.database.query('alter table operator_requests disable trigger operator_request_update')
  await server.test.database.query('update operator_requests set expires_at = clock_timestamp() where id = $1', [late])
  await server.test.database.query('alter table operator_requests enable trigger operator_request_update')
  for (const id of [rejected, withdrawn, late])
    expect((await approver.post('requests/approve', { id })).body).toMatchObject({ code: 'REQUEST_CLOSED' })
  expect((await partners()).map(({ name }) => name)).not.toContain('late')
  const states = rowsOf<{ state: string }>(await asker.get('requests')).slice(0, 3)
  expect(states.map(({ state }) => state)).toEqual(['expired', 'withdrawn', 'rejected'])
})

test('an operator who lost the role after asking gets nothing approved', async () => {
  const dan = await server.addOperator('dan@example.com', 'admin')
  const id = await ask('dismissed', await server.logIn(dan))
  await server.store.operators.setRole(dan.login, 'viewer')
  expect((await approver.post('requests/approve', { id })).body).toMatchObject({ statusCode: 400 })
  expect((await partners()).map(({ name }) => name)).not.toContain('dismissed')
})

test('actions that move money need a second factor of the last five minutes', async () => {
  const id = await ask('confirmed')
  await server.test.database.query(
    "update operator_sessions set confirmed_at = clock_timestamp() - interval '6 minutes'",
  )
  const add = { name: 'unconfirmed', reason: 'signed the contract' }
  expect((await asker.post('partners/add', add)).body).toMatchObject({
    statusCode: 403,
    code: 'CONFIRMATION_REQUIRED',
  })
  expect((await approver.post('requests/approve', { id })).body).toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
  expect((await approver.post('session/confirm', { code: '000000' })).status).toBe(401)
  expect((await approver.post('session/confirm', { code: bob.code() })).status).toBe(201)
  expect((await approver.post('requests/approve', { id })).status).toBe(201)
  await asker.post('session/confirm', { code: ada.code() })
})

test('a new key is shown to the operator who asks, once, and is valid once it is approved', async () => {
  const asked = await asker.post('partners/keys/add', {
    name: 'acme',
    scopes: ['rates:read'],
    reason: 'their first key',
  })
  const id = String(asked.body['requestId'])
  const { key } = asked.body['shown'] as { key: string }
  expect(key).toMatch(/^sy_test_/)
  const rows = () => server.test.database.query('select 1 from key_secrets')
  expect(await rows()).toEqual([])
  const approved = await approver.post('requests/approve', { id })
  expect(approved.status).toBe(201)
  expect(await rows()).toHaveLength(1)
  const everything = JSON.stringify([
    approved.body,
    (await asker.get('requests')).body,
    (await asker.get('audit')).body,
  ])
  expect(everything).not.toContain(key)
  expect(everything).not.toContain('hmac')
})

type Halves = Readonly<{ firstHalf: string; secondHalf: string }>

/** Asks for an invitation or a reset, and approves it. Each person is shown a half. */
async function inviteByTwo(path: string, given: object): Promise<Halves> {
  const asked = await asker.post(path, { ...given, reason: 'a new colleague' })
  expect(asked.body).toMatchObject({ state: 'asked', shown: { firstHalf: expect.any(String) } })
  const preview = await approver.post('requests/approve', { id: asked.body['requestId'], preview: true })
  expect(preview.body['shown']).toEqual({})
  const approved = await approver.post('requests/approve', { id: asked.body['requestId'] })
  const [first, second] = [asked, approved].map(({ body }) => body['shown'] as Record<string, string>)
  expect(Object.keys(first ?? {})).toEqual(['firstHalf', 'note'])
  expect(Object.keys(second ?? {})).toEqual(['secondHalf', 'note'])
  return { firstHalf: first?.['firstHalf'] ?? '', secondHalf: second?.['secondHalf'] ?? '' }
}

const readInvitation = (token: string, at = server) =>
  at.call({ method: 'POST', path: '/admin/v1/invitation', body: { token } })
const accept = (token: string) => {
  const body = { token, password: PASSWORD, code: '123456' }
  return server.call({ method: 'POST', path: '/admin/v1/invitation/accept', body })
}

test.each([
  ['operators/invite', { login: 'carol@example.com', role: 'admin' }],
  ['operators/reset', { login: 'lea@example.com' }],
] as const)(
  '%s: one person cannot become the second one, because each is shown half of the token',
  async (path, given) => {
    if (path === 'operators/reset') await server.addOperator(given.login, 'admin')
    const { firstHalf, secondHalf } = await inviteByTwo(path, given)
    for (const half of [firstHalf, secondHalf, `${firstHalf}.${firstHalf}`, `${secondHalf} ${secondHalf}`]) {
      expect((await readInvitation(half)).body).toMatchObject({ statusCode: 401, code: 'LOGIN_FAILED' })
      expect((await accept(half)).body).toMatchObject({ statusCode: 401, code: 'LOGIN_FAILED' })
    }
    for (const token of [`${firstHalf}.${secondHalf}`, ` ${secondHalf}\n${firstHalf} `])
      expect(await readInvitation(token)).toMatchObject({ status: 201, body: { login: given.login, role: 'admin' } })
    const stored = await server.test.database.query<{ row: string }>(
      'select r::text as row from operator_requests r union all select i::text from operator_invitations i',
    )
    const listed = JSON.stringify([stored, (await asker.get('requests')).body, (await asker.get('audit')).body])
    for (const half of [firstHalf, secondHalf]) expect(listed).not.toContain(half)
  },
)

test('an invitation that was not approved is not valid', async () => {
  const asked = await asker.post('operators/invite', {
    ...{ login: 'ghost@example.com', role: 'admin', reason: 'a new colleague' },
  })
  const { firstHalf } = asked.body['shown'] as Halves
  expect((await readInvitation(`${firstHalf}.${'0'.repeat(32)}`)).status).toBe(401)
})

test('actions of one person are carried out at once, with their reason in the log', async () => {
  const answer = await support.post('pauses/begin', { scope: 'network:btc', reason: 'the node is behind' })
  expect(answer.body).toMatchObject({ state: 'done', result: { scope: 'network:btc', paused: true } })
  expect(rowsOf(await support.get('pauses'))).toMatchObject([
    { scope: 'network:btc', reason: 'the node is behind', actor: 'operator:eve@example.com' },
  ])
})

test('the log has every action in its chain, by pages', async () => {
  expect(await verifyAuditLog(server.store.store.auditLog)).toMatchObject({ kind: 'whole' })
  const seen: string[] = []
  let cursor = ''
  do {
    const page = await asker.get(`audit?limit=3${cursor}`)
    seen.push(...rowsOf<{ id: string }>(page).map(({ id }) => id))
    const next = page.body['next'] ?? null
    cursor = next === null ? '' : `&cursor=${next}`
  } while (cursor !== '')
  expect(seen).toEqual((await acts()).map((_, n) => String(n + 1)).reverse())
  expect((await asker.get('audit/verification')).body).toMatchObject({ kind: 'whole', acts: seen.length })
  expect((await asker.get('audit?cursor=nonsense')).status).toBe(400)
})

test('a request cannot be changed or decided twice, also by the database', async () => {
  const id = await ask('tampered')
  const change = (set: string) => server.test.database.query(`update operator_requests set ${set} where id = $1`, [id])
  await expect(change("arguments = '{}'")).rejects.toThrow('terms never change')
  await expect(change("state = 'done', decided_by = asked_by, decided_at = now()")).rejects.toThrow('two_persons')
})

test('without the rule of two persons an action is carried out at once', async () => {
  const alone = await openAdminServer({ twoPersons: false })
  const only = await alone.logIn(await alone.addOperator('solo@example.com', 'admin'))
  const added = await only.post('partners/add', { name: 'acme', reason: 'signed the contract' })
  expect(added.body).toMatchObject({ state: 'done', result: { name: 'acme' } })
  const invite = { login: 'second@example.com', role: 'admin', reason: 'a new colleague' }
  const { shown } = (await only.post('operators/invite', invite)).body as { shown: { token: string } }
  expect((await readInvitation(shown.token, alone)).body).toMatchObject({ login: 'second@example.com' })
  await alone.close()
})
