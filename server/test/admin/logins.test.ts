import { afterAll, beforeAll, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import { makeInvitation } from '../../src/admin/identity/invitations.ts'
import { createOperatorSecrets } from '../../src/admin/identity/operator-secrets.ts'
import { COST } from '../../src/admin/identity/passwords.ts'
import { listen } from '../core/http/app-for-tests.ts'
import { type AdminServer, type Answer, openAdminServer, PASSWORD } from './admin-server.ts'

/** The program's own cost: guesses wait for each other. */
const openAtFullCost = () => openAdminServer({ passwordCost: COST })

let server: AdminServer
beforeAll(async () => {
  server = await openAtFullCost()
})
afterAll(() => server.close())

const logIn = (login: string, password: string, code: string | undefined, ip: string) =>
  server.call({ method: 'POST', path: '/admin/v1/login', body: { login, password, ...(code ? { code } : {}) }, ip })

/** The delay doubles, so that it exceeds the time between two guesses on any machine. */
async function repeatUntilSlowed(guess: () => Promise<Answer>): Promise<readonly number[]> {
  const statuses: number[] = []
  while (statuses.length < 25 && !statuses.includes(429)) statuses.push((await guess()).status)
  return statuses
}

test('every wrong login has the same answer', async () => {
  const { login, code } = await server.addOperator('ada@example.com', 'viewer')
  const failures = [
    await logIn('unknown@example.com', PASSWORD, code(), '192.0.2.10'),
    await logIn(login, 'not the right phrase', code(), '192.0.2.10'),
    await logIn(login, PASSWORD, '000000', '192.0.2.10'),
    await logIn(login, PASSWORD, undefined, '192.0.2.10'),
  ]
  for (const { status, body } of failures) {
    expect(status).toBe(401)
    expect({ ...(body as object), requestId: '' }).toEqual({ ...(failures[0]?.body as object), requestId: '' })
  }
  expect((await logIn(login, PASSWORD, code(), '192.0.2.10')).status).toBe(201)
})

test('a code and a recovery code are accepted once', async () => {
  const { login, code, recoveryCodes } = await server.addOperator('bob@example.com', 'viewer')
  const once = code()
  expect((await logIn(login, PASSWORD, once, '192.0.2.11')).status).toBe(201)
  expect((await logIn(login, PASSWORD, once, '192.0.2.11')).status).toBe(401)
  const [recovery = ''] = recoveryCodes
  expect(new Set(recoveryCodes).size).toBe(10)
  expect((await logIn(login, PASSWORD, recovery.toLowerCase(), '192.0.2.11')).status).toBe(201)
  expect((await logIn(login, PASSWORD, recovery, '192.0.2.11')).status).toBe(401)
})

test('brute force: guesses are slowed down, and a stranger does not keep an operator out', async () => {
  const { login, code } = await server.addOperator('eve@example.com', 'viewer')
  // The operator has logged in from its own network.
  expect((await logIn(login, PASSWORD, code(), '192.0.2.20')).status).toBe(201)
  const guess = (ip: string) => logIn(login, 'a wrong password', '111111', ip)
  const guesses = await Promise.all(Array.from({ length: 12 }, () => guess('203.0.113.9')))
  const refused = guesses.filter(({ status }) => status === 429)
  expect(guesses.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(6)
  expect(refused.length).toBeGreaterThanOrEqual(6)
  for (const { body, headers } of refused) {
    expect(body).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }
  // While it is blocked, the right password is not tried either. The first delays are shorter than a slow request.
  await server.test.database.query(
    "update operator_login_failures set blocked_until = blocked_until + interval '1 hour' where failures > 5",
  )
  expect((await logIn(login, PASSWORD, code(), '203.0.113.9')).status).toBe(429)
  // From many networks: the login itself is slowed down, but not for the networks that the operator uses.
  const spread: number[] = []
  for (let n = 0; n < 50; n++) spread.push((await guess(`198.51.100.${n}`)).status)
  expect(spread).toContain(429)
  expect((await logIn(login, PASSWORD, code(), '192.0.2.20')).status).toBe(201)
})

test('guesses of strangers beyond 20 at a time are refused and not counted, and operators do not wait behind them', async () => {
  const { login, code } = await server.addOperator('gil@example.com', 'viewer')
  expect((await logIn(login, PASSWORD, code(), '192.0.2.30')).status).toBe(201)
  const networks = Array.from({ length: 40 }, (_, n) => `203.0.113.${100 + n}`)
  const guesses = Promise.all(networks.map((ip) => logIn(`guess-${ip}`, 'a wrong password', '111111', ip)))
  expect((await logIn(login, PASSWORD, code(), '192.0.2.30')).status).toBe(201)
  const answers = await guesses
  const isRefused = ({ status }: Answer) => status === 503
  const refused = answers.filter(isRefused)
  expect(refused.length).toBeGreaterThan(0)
  for (const { body, headers } of refused) {
    expect(body).toMatchObject({ code: 'OVERLOADED' })
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }
  const rows = await server.test.database.query<{ key: string }>(
    "select key from operator_login_failures where key like 'network:203.0.113.1__'",
  )
  const checked = networks.filter((_, n) => answers[n]?.status === 401)
  expect(rows.map(({ key }) => key).toSorted()).toEqual(checked.map((ip) => `network:${ip}`).toSorted())
  expect(checked.length + refused.length).toBe(networks.length)
})

test('a login whose client disconnects while it waits is not carried out', async () => {
  const own = await openAtFullCost()
  const { database } = own.test
  const url = `http://127.0.0.1:${await listen(own.app)}/admin/v1/login`
  const operators = [
    await own.addOperator('hal@example.com', 'viewer'),
    await own.addOperator('ida@example.com', 'viewer'),
  ]
  const connection = new AbortController()
  const requests = operators.flatMap(({ login, recoveryCodes }) =>
    recoveryCodes.slice(0, 5).map((code) =>
      fetch(url, {
        ...{ method: 'POST', signal: connection.signal, headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ login, password: PASSWORD, code, kind: 'bearer' }),
      }).catch(() => null),
    ),
  )
  const countBegun = async () => {
    const [row] = await database.query<{ begun: number }>(
      `select (select count(*)::int from operator_sessions) + coalesce((select failures from operator_login_failures
         where key = 'network:127.0.0.1'), 0) as begun`,
    )
    return row?.begun
  }
  await expect.poll(countBegun, PATIENCE).toBe(requests.length)
  connection.abort()
  await Promise.all(requests)
  // It waits behind all that were not dropped.
  const last = { login: operators[0]?.login, password: PASSWORD, code: operators[0]?.code() }
  const answer = await own.call({ method: 'POST', path: '/admin/v1/login', body: last, ip: '198.51.100.200' })
  expect(answer.status).toBe(201)
  const used = await database.query('select 1 from operator_recovery_codes where used_at is not null')
  expect(used.length).toBeLessThan(requests.length)
  await own.close()
})

test('a login that does not exist is slowed down like one that does', async () => {
  const guess = () => logIn('ghost@example.com', 'a wrong password', '111111', '203.0.113.77')
  const statuses = await repeatUntilSlowed(guess)
  expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401])
  expect(statuses.at(-1)).toBe(429)
})

test('a stolen session cannot guess a second factor', async () => {
  const operator = await server.addOperator('dan@example.com', 'viewer')
  const session = await server.logIn(operator)
  const statuses = await repeatUntilSlowed(() => session.post('session/confirm', { code: '123123' }))
  expect(statuses.at(0)).toBe(401)
  expect(statuses.at(-1)).toBe(429)
})

test('an invitation is used once, and its password must be strong', async () => {
  const id = (await server.store.operators.add({ login: 'fay@example.com', role: 'support', createdBy: 'test' })) ?? ''
  const { token, ...invitation } = makeInvitation(createOperatorSecrets([Buffer.from('a pepper for tests')]))
  await server.store.operators.invite(id, { ...invitation, createdBy: 'test', lifetimeMs: 60_000 })
  const post = (path: string, body: object) => server.call({ method: 'POST', path: `/admin/v1/${path}`, body })
  const shown = await post('invitation', { token })
  expect(shown.body).toMatchObject({ login: 'fay@example.com', role: 'support' })
  expect(String(shown.body['totpUri'])).toMatch(/^otpauth:\/\/totp\/Swapyard/)
  const { TOTP, URI } = await import('otpauth')
  const totp = URI.parse(String(shown.body['totpUri']))
  expect(totp).toBeInstanceOf(TOTP)
  const accept = (password: string, code: string) => post('invitation/accept', { token, password, code })
  const code = () => (totp as InstanceType<typeof TOTP>).generate({ timestamp: server.clock.now })
  for (const weak of ['elevenchars', 'aaaaaaaaaaaaaaaa', 'my name is fay at all'])
    expect([weak, (await accept(weak, code())).status]).toEqual([weak, 400])
  expect((await accept(PASSWORD, '000000')).status).toBe(401)
  expect((await accept(PASSWORD, code())).status).toBe(201)
  expect((await accept(PASSWORD, code())).status).toBe(401)
  expect((await post('invitation', { token })).status).toBe(401)
})
