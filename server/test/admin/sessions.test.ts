import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createCountingThrottle } from '../core/http/counting-throttle.ts'
import { type AdminServer, type Operator, ORIGIN, openAdminServer, PASSWORD, rowsOf } from './admin-server.ts'

let server: AdminServer
let ada: Operator
beforeAll(async () => {
  server = await openAdminServer()
  ada = await server.addOperator('ada@example.com', 'admin')
})
afterAll(() => server.close())

const logIn = (body: object, headers: Record<string, string> = {}, ip = '192.0.2.1') =>
  server.call({ method: 'POST', path: '/admin/v1/login', body, headers, ip })
const read = (headers: Record<string, string>) => server.call({ method: 'GET', path: '/admin/v1/session', headers })

const tokenOf = (cookie: string): string => /^__Host-swapyard=([^;]*)/.exec(cookie)?.[1] ?? ''

async function openCookie(headers: Record<string, string> = {}) {
  const answer = await logIn({ login: ada.login, password: PASSWORD, code: ada.code() }, headers)
  expect(answer.status).toBe(201)
  return { answer, cookie: `__Host-swapyard=${tokenOf(answer.cookies[0] ?? '')}`, csrf: String(answer.body['csrf']) }
}

test('a login sets a cookie that scripts and other sites cannot use', async () => {
  const { answer, cookie } = await openCookie()
  const [attributes = ''] = answer.cookies
  for (const part of ['Path=/', 'HttpOnly', 'SameSite=Strict', 'Secure']) expect(attributes).toContain(part)
  expect(attributes).not.toContain('Domain')
  // A page cannot read the token.
  expect(answer.body['token']).toBeNull()
  expect(await read({ cookie })).toMatchObject({ status: 200, body: { login: 'ada@example.com', role: 'admin' } })
  expect((await read({})).body).toMatchObject({ code: 'SESSION_REQUIRED', statusCode: 401 })
})

test('session fixation: a token that was there before the login is never a session', async () => {
  const planted = 'A'.repeat(43)
  const { cookie } = await openCookie({ cookie: `__Host-swapyard=${planted}` })
  expect(cookie).not.toContain(planted)
  expect((await read({ cookie: `__Host-swapyard=${planted}` })).status).toBe(401)
  // Two cookies of the name: one may be planted.
  expect((await read({ cookie: `__Host-swapyard=${planted}; ${cookie}` })).status).toBe(401)
  // Each login has its own.
  expect((await openCookie()).cookie).not.toBe(cookie)
})

test('the database has no token, password, code or secret in the clear', async () => {
  const { cookie } = await openCookie()
  const rows = await server.test.database.query<{ row: string }>(
    'select s::text as row from operator_sessions s union all select o::text from operators o',
  )
  const text = rows.map(({ row }) => row).join('\n')
  expect(text).toContain('ada@example.com')
  for (const secret of [
    cookie.slice(16),
    Buffer.from(cookie.slice(16)).toString('hex'),
    PASSWORD,
    ...ada.recoveryCodes,
  ])
    expect(text).not.toContain(secret)
})

test('B167, CSRF: a POST with a cookie needs the token of the session and a page of this site', async () => {
  const { cookie, csrf } = await openCookie()
  const suspend = (headers: Record<string, string>) =>
    server.call({
      method: 'POST',
      path: '/admin/v1/partners/suspend',
      body: { name: 'stranger', reason: 'a test of forged requests', preview: true },
      headers: { cookie, ...headers },
    })
  const right = { origin: ORIGIN, 'x-swapyard-csrf': csrf }
  // It reaches the action, which finds no partner.
  expect((await suspend(right)).body).toMatchObject({
    code: 'VALIDATION_ERROR',
    message: 'there is no partner stranger',
  })
  const other = await openCookie()
  const forged: Record<string, string>[] = [
    {},
    { origin: ORIGIN },
    { 'x-swapyard-csrf': 'x'.repeat(43), origin: ORIGIN },
    { ...right, 'x-swapyard-csrf': other.csrf },
    { ...right, origin: 'https://evil.example' },
    { ...right, origin: 'null' },
    { ...right, origin: 'http://admin.example' },
    { 'x-swapyard-csrf': csrf, 'sec-fetch-site': 'cross-site' },
    { 'x-swapyard-csrf': csrf, 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of forged)
    expect([headers, (await suspend(headers)).body]).toMatchObject([
      headers,
      { code: 'CSRF_TOKEN_INVALID', statusCode: 403 },
    ])
})

test('a cookie is no bearer token, and a bearer token is no cookie', async () => {
  const { cookie } = await openCookie()
  const { token } = await server.logIn(ada)
  expect((await read({ authorization: `Bearer ${token}` })).status).toBe(200)
  expect((await read({ authorization: `Bearer ${cookie.slice(16)}` })).status).toBe(401)
  expect((await read({ cookie: `__Host-swapyard=${token}` })).status).toBe(401)
})

test('a login from a page of another site is refused', async () => {
  const body = { login: ada.login, password: PASSWORD, code: ada.code() }
  expect((await logIn(body, { origin: 'https://evil.example' })).body).toMatchObject({ code: 'CSRF_TOKEN_INVALID' })
})

test('sessions end: by logout, when they are idle, at their end, and with their operator', async () => {
  const { database } = server.test
  const bob = await server.addOperator('bob@example.com', 'viewer')
  const status = async (caller: Awaited<ReturnType<AdminServer['logIn']>>) => (await caller.get('session')).status
  const change = (set: string) =>
    database.query(
      `update operator_sessions set ${set} where operator_id = (select id from operators where login = $1)`,
      [bob.login],
    )
  const left = await server.logIn(bob)
  expect((await left.post('session/end')).status).toBe(201)
  expect(await status(left)).toBe(401)
  const idle = await server.logIn(bob)
  expect(await status(idle)).toBe(200)
  await change("last_used_at = clock_timestamp() - interval '31 minutes'")
  expect(await status(idle)).toBe(401)
  const old = await server.logIn(bob)
  await change('expires_at = clock_timestamp()')
  expect(await status(old)).toBe(401)
  const disabled = await server.logIn(bob)
  const admin = await server.logIn(ada)
  expect((await admin.post('operators/disable', { login: bob.login, reason: 'he has left us' })).status).toBe(201)
  expect(await status(disabled)).toBe(401)
  expect((await logIn({ login: bob.login, password: PASSWORD, code: bob.code() })).body).toMatchObject({
    code: 'LOGIN_FAILED',
  })
})

test('an operator sees and ends its own sessions only; an admin those of all', async () => {
  const eve = await server.addOperator('eve@example.com', 'support')
  const [own, admin] = [await server.logIn(eve), await server.logIn(ada)]
  const logins = rowsOf<{ login: string; current: boolean; id: string }>(await own.get('sessions'))
  expect(new Set(logins.map(({ login }) => login))).toEqual(new Set([eve.login]))
  expect(logins.filter(({ current }) => current)).toHaveLength(1)
  const all = rowsOf<{ login: string; id: string }>(await admin.get('sessions'))
  expect(new Set(all.map(({ login }) => login)).size).toBeGreaterThan(1)
  const foreign = all.find(({ login }) => login === ada.login)
  expect((await own.post('sessions/end', { id: foreign?.id })).status).toBe(400)
  const ended = { id: logins[0]?.id }
  for (const reason of [undefined, '-'])
    expect((await admin.post('sessions/end', { ...ended, reason })).body).toMatchObject({
      message: expect.stringContaining('a reason'),
    })
  expect((await own.get('session')).status).toBe(200)
  expect((await admin.post('sessions/end', { ...ended, reason: 'her laptop was stolen' })).status).toBe(201)
  expect((await own.get('session')).status).toBe(401)
  const other = await server.logIn(ada)
  const mine = rowsOf<{ current: boolean; id: string }>(await other.get('sessions')).find(({ current }) => current)
  expect((await admin.post('sessions/end', { id: mine?.id })).status).toBe(201)
  expect(rowsOf(await admin.get('audit?limit=2'))).toMatchObject([
    { actor: 'operator:ada@example.com', act: 'session end', subject: ada.login, detail: { session: mine?.id } },
    { act: 'session end', subject: eve.login, reason: 'her laptop was stolen', detail: { session: ended.id } },
  ])
})

test('tokens that are no session are limited by network address, before the database is asked', async () => {
  const limited = await openAdminServer({ throttle: createCountingThrottle().throttle })
  const { token } = await limited.logIn(await limited.addOperator('ada@example.com', 'admin'))
  const find = vi.spyOn(limited.store.sessions, 'find')
  const call = async (ip: string, headers: Record<string, string>) =>
    (await limited.call({ method: 'GET', path: '/admin/v1/session', headers, ip })).body['code'] ?? 'OK'
  const guess = (ip: string) => call(ip, { authorization: `Bearer ${randomBytes(32).toString('base64url')}` })
  const [guesser, operator] = ['192.0.2.7', '192.0.2.8']
  // These need no look-up.
  for (let n = 0; n < 130; n++) expect(await call(guesser, {})).toBe('SESSION_REQUIRED')
  expect(find).not.toHaveBeenCalled()
  for (let n = 0; n < 120; n++) expect(await guess(guesser)).toBe('SESSION_REQUIRED')
  expect(find).toHaveBeenCalledTimes(120)
  for (let n = 0; n < 3; n++) expect(await guess(guesser)).toBe('RATE_LIMIT_EXCEEDED')
  expect(find).toHaveBeenCalledTimes(120)
  expect(await guess(operator)).toBe('SESSION_REQUIRED')
  // What is found is not charged, and strangers in its network do not lock its operator out.
  expect(await call(guesser, { authorization: `Bearer ${token}` })).toBe('OK')
  for (let n = 0; n < 130; n++) expect(await call(operator, { authorization: `Bearer ${token}` })).toBe('OK')
  expect(await guess(operator)).toBe('SESSION_REQUIRED')
  await limited.close()
})

test('only the configured networks reach the admin API', async () => {
  const closed = await openAdminServer({ settings: { allowedNetworks: ['198.51.100.0/24'] } })
  const from = (ip: string) => closed.call({ method: 'GET', path: '/admin/v1/session', ip })
  expect((await from('192.0.2.1')).body).toMatchObject({ code: 'IP_NOT_ALLOWED', statusCode: 403 })
  expect((await from('198.51.100.7')).body).toMatchObject({ code: 'SESSION_REQUIRED' })
  await closed.close()
})
