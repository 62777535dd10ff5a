import { afterAll, beforeAll, expect, test } from 'vitest'
import { callerNetwork } from '../../src/lib/ip-address.ts'
import { type AdminServer, type Answer, type Operator, ORIGIN, openAdminServer, PASSWORD } from './admin-server.ts'
import { createAuthenticator } from './authenticator.ts'

const DEVICE = '__Secure-swapyard-device'

let server: AdminServer
beforeAll(async () => {
  server = await openAdminServer()
})
afterAll(() => server.close())

type Given = Readonly<{ ip?: string; cookie?: string; password?: string; code?: string; kind?: 'bearer' }>
const logIn = ({ login, code: next }: Operator, { ip = '192.0.2.1', cookie, code, ...given }: Given = {}) =>
  server.call({
    ...{ method: 'POST', path: '/admin/v1/login', ip },
    body: { login, password: PASSWORD, code: code ?? next(), ...given },
    ...(cookie === undefined ? {} : { headers: { cookie } }),
  })

const setCookies = ({ cookies }: Answer) => cookies.filter((cookie) => cookie.startsWith(`${DEVICE}=`))
/** The cookie of the browser, as it is sent. */
const deviceOf = (answer: Answer) => setCookies(answer)[0]?.split(';')[0] ?? 'none'

/** What guesses of strangers lead to: the login is delayed, also from this network, and so is all that comes from the network. */
const block = ({ login }: Pick<Operator, 'login'>, ip: string) =>
  server.test.database.query(
    `insert into operator_login_failures (key, failures, blocked_until)
     select unnest($1::text[]), 40, clock_timestamp() + interval '1 hour'
     on conflict (key) do update set failures = excluded.failures, blocked_until = excluded.blocked_until`,
    [[`login:${login}`, `network:${callerNetwork(ip)}`, `passkey:${callerNetwork(ip)}`, `pair:${login}|${ip}`]],
  )

test('a login in a browser sets a cookie by which the browser is known; a logout keeps it', async () => {
  const ada = await server.addOperator('ada@example.com', 'viewer')
  const answer = await logIn(ada)
  const [cookie = '', ...others] = setCookies(answer)
  expect(others).toEqual([])
  for (const part of ['Path=/admin/v1', 'Max-Age=31536000', 'HttpOnly', 'SameSite=Strict', 'Secure'])
    expect(cookie.split('; ')).toContain(part)
  // It does not show whose it is, and it is no session.
  expect(Buffer.from(deviceOf(answer).slice(DEVICE.length + 1), 'base64url').toString('latin1')).not.toContain('device')
  const visit = (sent: string) => server.call({ method: 'GET', path: '/admin/v1/session', headers: { cookie: sent } })
  expect((await visit(deviceOf(answer))).status).toBe(401)
  const session = answer.cookies[0]?.split(';')[0] ?? ''
  expect((await visit(`${deviceOf(answer)}; ${session}`)).status).toBe(200)
  const left = await server.call({
    ...{ method: 'POST', path: '/admin/v1/session/end', body: {} },
    headers: { cookie: session, origin: ORIGIN, 'x-swapyard-csrf': String(answer.body['csrf']) },
  })
  expect([left.status, setCookies(left)]).toEqual([201, []])
  // Programs keep no cookies, and a failed login sets none.
  expect(setCookies(await logIn(ada, { kind: 'bearer' }))).toEqual([])
  expect(setCookies(await logIn(ada, { code: '000000' }))).toEqual([])
})

test('strangers do not keep an operator out of a known browser on a new network', async () => {
  const bob = await server.addOperator('bob@example.com', 'viewer')
  const cookie = deviceOf(await logIn(bob))
  const ip = '203.0.113.5'
  await block(bob, ip)
  expect((await logIn(bob, { ip })).body).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  expect((await logIn(bob, { ip, cookie })).status).toBe(201)
  // By a passkey, too: this answer of an authenticator is checked, and wrong.
  const byPasskey = (headers: Record<string, string>) =>
    server.call({
      ...{ method: 'POST', path: '/admin/v1/login/passkey', ip, headers },
      body: { challengeId: 'none', response: { id: 'none' } },
    })
  expect([(await byPasskey({})).status, (await byPasskey({ cookie })).status]).toEqual([429, 401])
  // Of the networks that the operator used, the one of the login is known now.
  await server.test.database.query("delete from operator_login_failures where key not like 'login:%'")
  expect((await logIn(bob, { ip, kind: 'bearer' })).status).toBe(201)
})

test('strangers do not delay the confirmation of a session, by failures or by a chosen login', async () => {
  const operator = await server.addOperator('cy@example.com', 'viewer')
  const session = await server.logIn(operator)
  await block(operator, '192.0.2.1')
  const { id } = (await server.store.operators.find(operator.login)) ?? { id: '' }
  for (const login of [`confirm ${id}`, `session:${id}`, id]) await block({ login }, '192.0.2.1')
  expect((await session.post('session/confirm', { code: operator.code() })).status).toBe(201)
  await server.test.database.query('delete from operator_login_failures')
})

test('an attempt that has to wait is not counted', async () => {
  const dan = await server.addOperator('dan@example.com', 'viewer')
  const ip = '203.0.113.6'
  const { database } = server.test
  await database.query(
    "insert into operator_login_failures (key, failures, blocked_until) values ($1, 40, clock_timestamp() + interval '1 hour')",
    [`login:${dan.login}`],
  )
  for (let n = 0; n < 8; n++) expect((await logIn(dan, { ip })).status).toBe(429)
  const counts = () =>
    database.query<{ key: string; failures: number }>(
      'select key, failures from operator_login_failures where key like $1 or key = $2 order by key',
      [`%${ip}`, `login:${dan.login}`],
    )
  const uncounted = (await counts()).filter(({ key }) => !key.startsWith('login:'))
  expect(uncounted.map(({ failures }) => failures)).toEqual(uncounted.map(() => 0))
  await database.query('update operator_login_failures set blocked_until = clock_timestamp()')
  expect((await logIn(dan, { ip, code: '000000' })).status).toBe(401)
  expect(await counts()).toEqual([
    { key: `login:${dan.login}`, failures: 41 },
    { key: `network:${ip}`, failures: 1 },
    { key: `pair:${dan.login}|${ip}`, failures: 1 },
  ])
})

test('guesses in a known browser are slowed down, on all networks, and delay no other browser', async () => {
  const eve = await server.addOperator('eve@example.com', 'viewer')
  const [one, other] = [deviceOf(await logIn(eve)), deviceOf(await logIn(eve))]
  const statuses: number[] = []
  while (statuses.length < 25 && !statuses.includes(429)) {
    const ip = `203.0.113.${10 + statuses.length}`
    statuses.push((await logIn(eve, { ip, cookie: one, password: 'a wrong password' })).status)
  }
  expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401])
  expect(statuses.at(-1)).toBe(429)
  expect((await logIn(eve, { ip: '203.0.113.40', cookie: other })).status).toBe(201)
})

test('a cookie of another operator, a changed or an expired one makes no browser known', async () => {
  const [fay, gus] = [
    await server.addOperator('fay@example.com', 'viewer'),
    await server.addOperator('gus@example.com', 'viewer'),
  ]
  const [own, foreign] = [deviceOf(await logIn(fay)), deviceOf(await logIn(gus))]
  const ip = '203.0.113.50'
  const changed = own.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))
  for (const cookie of [foreign, changed, `${DEVICE}=`, `${DEVICE}=${'A'.repeat(200)}`, `${DEVICE}=%00{}`]) {
    await block(fay, ip)
    expect([cookie, (await logIn(fay, { ip, cookie })).status]).toEqual([cookie, 429])
  }
  // Another host of the domain may have set one of the name.
  expect((await logIn(fay, { ip, cookie: `${DEVICE}=planted; ${foreign}; ${own}` })).status).toBe(201)
  server.clock.now += 366 * 86_400_000
  await server.test.database.query('delete from operator_sessions where ip = $1', [ip])
  await block(fay, ip)
  expect((await logIn(fay, { ip, cookie: own })).status).toBe(429)
})

test('a change of the credentials ends the cookies of other browsers', async () => {
  const hal = await server.addOperator('hal@example.com', 'viewer')
  const there = await logIn(hal)
  const headers = {
    cookie: there.cookies[0]?.split(';')[0] ?? '',
    ...{ origin: ORIGIN, 'x-swapyard-csrf': String(there.body['csrf']) },
  }
  const post = (path: string, body: object) => server.call({ method: 'POST', path: `/admin/v1/${path}`, body, headers })
  const authenticator = createAuthenticator('admin.example')
  const password = 'another long phrase'
  const changes: readonly (() => Promise<Answer>)[] = [
    () => post('session/recovery-codes', {}),
    async () => {
      const { challengeId, options } = (await post('passkeys/options', {})).body as {
        challengeId: string
        options: { challenge: string }
      }
      const response = authenticator.register(options.challenge, ORIGIN)
      return post('passkeys/add', { challengeId, response, name: 'laptop' })
    },
    () => post('passkeys/remove', { id: authenticator.id }),
    () => post('session/password', { password: PASSWORD, newPassword: password }),
  ]
  let known = deviceOf(there)
  for (const [n, change] of changes.entries()) {
    const answer = await change()
    expect([n, answer.status]).toEqual([n, 201])
    const ip = `203.0.113.${60 + n}`
    await block(hal, ip)
    const given = { ip, ...(n === changes.length - 1 ? { password } : {}) }
    expect([n, (await logIn(hal, { ...given, cookie: known })).status]).toEqual([n, 429])
    known = deviceOf(answer)
    expect([n, (await logIn(hal, { ...given, cookie: known })).status]).toEqual([n, 201])
  }
  const before = await server.store.operators.find(hal.login)
  await server.store.operators.reset(before?.id ?? '')
  expect((await server.store.operators.find(hal.login))?.credentials).not.toBe(before?.credentials)
})
