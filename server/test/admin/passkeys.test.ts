import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, type Caller, ORIGIN, openAdminServer } from './admin-server.ts'
import { createAuthenticator } from './authenticator.ts'

type Asked = { challengeId: string; options: { challenge: string } }

let server: AdminServer
let caller: Caller
const authenticator = createAuthenticator('admin.example')
beforeAll(async () => {
  server = await openAdminServer()
  caller = await server.logIn(await server.addOperator('ada@example.com', 'treasurer'))
})
afterAll(() => server.close())

const post = (path: string, body: object) => server.call({ method: 'POST', path: `/admin/v1/${path}`, body })
const askLogin = async () => (await post('login/passkey-options', {})).body as Asked
const logIn = (challengeId: string, response: object) =>
  post('login/passkey', { challengeId, response, kind: 'bearer' })

test('a passkey is added to a session with a fresh second factor, and logs its operator in', async () => {
  const { challengeId, options } = (await caller.post('passkeys/options')).body as Asked
  expect(options).toMatchObject({
    rp: { id: 'admin.example' },
    authenticatorSelection: { userVerification: 'required' },
  })
  const response = authenticator.register(options.challenge, ORIGIN)
  expect((await caller.post('passkeys/add', { challengeId, response, name: 'laptop' })).status).toBe(201)
  // A challenge is used once.
  expect((await caller.post('passkeys/add', { challengeId, response, name: 'laptop' })).status).toBe(400)
  const asked = await askLogin()
  const session = await logIn(asked.challengeId, authenticator.sign(asked.options.challenge, ORIGIN))
  expect(session).toMatchObject({ status: 201, body: { login: 'ada@example.com', role: 'treasurer' } })
})

test('phishing: a signature for another host, or of another challenge, is refused', async () => {
  const asked = await askLogin()
  const other = await askLogin()
  expect(
    (await logIn(asked.challengeId, authenticator.sign(asked.options.challenge, 'https://admin.example.evil'))).status,
  ).toBe(401)
  expect((await logIn(other.challengeId, authenticator.sign(asked.options.challenge, ORIGIN))).status).toBe(401)
})

test('an answer without the verification of the user, of a copy, or of a stranger is refused', async () => {
  const sign = async (how: (challenge: string) => object) => {
    const { challengeId, options } = await askLogin()
    return (await logIn(challengeId, how(options.challenge))).status
  }
  expect(await sign((challenge) => authenticator.sign(challenge, ORIGIN, { isVerified: false }))).toBe(401)
  expect(await sign((challenge) => createAuthenticator('admin.example').sign(challenge, ORIGIN))).toBe(401)
  expect(await sign((challenge) => authenticator.sign(challenge, ORIGIN))).toBe(201)
  // A copy of the key has an older counter.
  expect(await sign((challenge) => authenticator.sign(challenge, ORIGIN, { replay: true }))).toBe(401)
})

test('a passkey confirms the session of its own operator only', async () => {
  const bob = await server.logIn(await server.addOperator('bob@example.com', 'treasurer'))
  const key = createAuthenticator('admin.example')
  const registration = (await caller.post('passkeys/options')).body as Asked
  const response = key.register(registration.options.challenge, ORIGIN)
  await caller.post('passkeys/add', { challengeId: registration.challengeId, response, name: 'phone' })
  const confirm = async (session: Caller) => {
    const { challengeId, options } = (await session.post('session/passkey-options')).body as Asked
    return (await session.post('session/passkey', { challengeId, response: key.sign(options.challenge, ORIGIN) }))
      .status
  }
  expect(await confirm(bob)).toBe(401)
  await server.test.database.query("update operator_sessions set confirmed_at = clock_timestamp() - interval '1 hour'")
  expect((await caller.post('passkeys/options')).body).toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
  expect(await confirm(caller)).toBe(201)
  expect((await caller.post('passkeys/options')).status).toBe(201)
})
