import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyAuditLog } from '../../src/core/services/verify-audit-log.ts'
import {
  type AdminServer,
  type Caller,
  type Operator,
  ORIGIN,
  openAdminServer,
  PASSWORD,
  rowsOf,
} from './admin-server.ts'
import { createAuthenticator } from './authenticator.ts'

let server: AdminServer
let ada: Operator
let bob: Operator
let own: Caller
let other: Caller
beforeAll(async () => {
  server = await openAdminServer()
  ada = await server.addOperator('ada@example.com', 'viewer')
  bob = await server.addOperator('bob@example.com', 'viewer')
  own = await server.logIn(ada)
  other = await server.logIn(bob)
})
afterAll(() => server.close())

type Listed = Readonly<{ id: string; name: string; lastUsedAt: string | null }>

const NEW_PASSWORD = 'another long phrase'
const logIn = (login: string, password: string, code: string) =>
  server.call({ method: 'POST', path: '/admin/v1/login', body: { login, password, code }, ip: '192.0.2.9' })
const listPasskeys = async (caller: Caller) => rowsOf<Listed>(await caller.get('passkeys'))
const lastAct = async () => rowsOf(await own.get('audit?limit=1'))[0]
const countActs = async () => (await server.test.database.query('select 1 from operator_acts')).length

async function addPasskey(caller: Caller, name: string): Promise<string> {
  const { challengeId, options } = (await caller.post('passkeys/options')).body as {
    challengeId: string
    options: { challenge: string }
  }
  const authenticator = createAuthenticator('admin.example')
  const response = authenticator.register(options.challenge, ORIGIN)
  expect((await caller.post('passkeys/add', { challengeId, response, name })).status).toBe(201)
  return authenticator.id
}

/** Runs the work without a second factor of the last five minutes. */
async function unconfirmed<T>(work: () => Promise<T>): Promise<T> {
  const set = (time: string) => server.test.database.query(`update operator_sessions set confirmed_at = ${time}`)
  await set("clock_timestamp() - interval '6 minutes'")
  const result = await work()
  await set('clock_timestamp()')
  return result
}

test('a password is changed with the old one, ends the other sessions, and is in the audit log', async () => {
  const elsewhere = await server.logIn(ada)
  const before = await countActs()
  const change = (password: string, newPassword: string) => own.post('session/password', { password, newPassword })
  expect((await change('not the right phrase', NEW_PASSWORD)).body).toMatchObject({
    code: 'LOGIN_FAILED',
    statusCode: 401,
  })
  expect((await change(PASSWORD, 'elevenchars')).status).toBe(400)
  expect((await unconfirmed(() => change(PASSWORD, NEW_PASSWORD))).body).toMatchObject({
    code: 'CONFIRMATION_REQUIRED',
  })
  expect(await countActs()).toBe(before)
  expect((await elsewhere.get('session')).status).toBe(200)
  expect((await change(PASSWORD, NEW_PASSWORD)).status).toBe(201)
  expect(await lastAct()).toMatchObject({
    actor: 'operator:ada@example.com',
    act: 'password change',
    subject: ada.login,
  })
  expect([(await elsewhere.get('session')).status, (await own.get('session')).status]).toEqual([401, 200])
  expect((await logIn(ada.login, PASSWORD, ada.code())).status).toBe(401)
  expect((await logIn(ada.login, NEW_PASSWORD, ada.code())).status).toBe(201)
})

test('passkeys are listed and removed by their operator alone, with a row in the audit log', async () => {
  const id = await addPasskey(own, 'laptop')
  expect(await lastAct()).toMatchObject({
    act: 'passkey add',
    subject: ada.login,
    detail: { passkey: id, name: 'laptop' },
  })
  expect(await listPasskeys(own)).toMatchObject([{ id, name: 'laptop', lastUsedAt: null }])
  expect(await listPasskeys(other)).toEqual([])
  const before = await countActs()
  const missing = { code: 'PASSKEY_NOT_FOUND', statusCode: 404 }
  expect((await other.post('passkeys/remove', { id })).body).toMatchObject(missing)
  expect((await own.post('passkeys/remove', { id: 'nothing' })).body).toMatchObject(missing)
  expect((await unconfirmed(() => own.post('passkeys/remove', { id }))).body).toMatchObject({
    code: 'CONFIRMATION_REQUIRED',
  })
  expect([await listPasskeys(own), await countActs()]).toMatchObject([[{ id }], before])
  expect((await own.post('passkeys/remove', { id })).status).toBe(201)
  expect(await lastAct()).toMatchObject({
    act: 'passkey remove',
    subject: ada.login,
    detail: { passkey: id, name: 'laptop' },
  })
  expect(await listPasskeys(own)).toEqual([])
})

test('the only second factor is not removed, also by two requests at once', async () => {
  const eve = await server.addOperator('eve@example.com', 'viewer')
  const caller = await server.logIn(eve)
  const ids = [await addPasskey(caller, 'laptop'), await addPasskey(caller, 'phone')]
  await server.test.database.query('update operators set totp_secret = null where login = $1', [eve.login])
  const answers = await Promise.all(ids.map((id) => caller.post('passkeys/remove', { id })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400])
  expect(await listPasskeys(caller)).toHaveLength(1)
})

test('new recovery codes replace those of before, with a second factor and a row in the audit log', async () => {
  const renew = () => other.post('session/recovery-codes')
  expect((await unconfirmed(renew)).body).toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
  const renewed = await renew()
  const { recoveryCodes } = renewed.body as { recoveryCodes: readonly string[] }
  expect(new Set(recoveryCodes).size).toBe(10)
  const act = await lastAct()
  expect(act).toMatchObject({ actor: 'operator:bob@example.com', act: 'recovery codes renew', subject: bob.login })
  for (const code of recoveryCodes) expect(JSON.stringify(act)).not.toContain(code)
  expect((await logIn(bob.login, PASSWORD, bob.recoveryCodes[0] ?? '')).status).toBe(401)
  expect((await logIn(bob.login, PASSWORD, recoveryCodes[0] ?? '')).status).toBe(201)
})

test('CSRF: what changes an identity needs the token of the session', async () => {
  const id = await addPasskey(own, 'tablet')
  const body = { login: ada.login, password: NEW_PASSWORD, code: ada.code() }
  const { cookies } = await server.call({ method: 'POST', path: '/admin/v1/login', body, ip: '192.0.2.9' })
  const cookie = cookies[0]?.split(';')[0] ?? ''
  const forge = (path: string, sent: object) =>
    server.call({ method: 'POST', path: `/admin/v1/${path}`, body: sent, headers: { cookie, origin: ORIGIN } })
  const before = await countActs()
  const forged = {
    'passkeys/remove': { id },
    'session/recovery-codes': {},
    'session/password': { password: NEW_PASSWORD, newPassword: PASSWORD },
    'sessions/end': { id: 'any', reason: 'a forged request' },
  }
  for (const [path, sent] of Object.entries(forged))
    expect([path, (await forge(path, sent)).body]).toMatchObject([
      path,
      { code: 'CSRF_TOKEN_INVALID', statusCode: 403 },
    ])
  expect([await countActs(), await listPasskeys(own)]).toMatchObject([before, [{ id }]])
})

test('the chain of the audit log is whole', async () => {
  expect(await verifyAuditLog(server.store.store.auditLog)).toMatchObject({ kind: 'whole' })
})
