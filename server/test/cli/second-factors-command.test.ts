import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, type Operator, openAdminServer } from '../admin/admin-server.ts'
import { listen } from '../core/http/app-for-tests.ts'
import { logInFrom } from './log-in.ts'
import { openShell, type Shell } from './shell.ts'

let shell: Shell
let server: AdminServer
let url: string
let ada: Operator

beforeAll(async () => {
  shell = await openShell()
  server = await openAdminServer()
  ada = await server.addOperator('ada@example.com', 'viewer')
  const bob = await server.addOperator('bob@example.com', 'viewer')
  url = `http://127.0.0.1:${await listen(server.app)}`
  for (const [login, id] of [
    [ada.login, '-laptop-of-ada'],
    [bob.login, 'laptop-of-bob'],
  ])
    await server.test.database.query(
      `insert into operator_passkeys (id, operator_id, public_key, counter, name)
       select $2, id, '\\x00', 0, 'laptop' from operators where login = $1`,
      [login, id],
    )
  await logInFrom(shell, environment(), ada)
})
afterAll(async () => {
  await server?.close()
  await shell?.close()
})

const environment = () => ({ HOME: shell.folder, SWAPYARD_ADMIN_URL: url })
const run = (...args: readonly string[]) => shell.swapyard(args, environment())
const unconfirm = () =>
  server.test.database.query("update operator_sessions set confirmed_at = clock_timestamp() - interval '6 minutes'")
const actsOf = (act: string) =>
  server.test.database.query('select actor, subject from operator_acts where act = $1', [act])
const byAda = { actor: 'operator:ada@example.com', subject: 'ada@example.com' }

test('lists and removes the own passkeys, after a confirmation', async () => {
  expect((await run('passkeys', 'list')).lines).toMatchObject([
    { id: '-laptop-of-ada', name: 'laptop', lastUsedAt: null },
  ])
  expect(await run('passkeys', 'remove', 'laptop-of-bob')).toMatchObject({
    code: 1,
    error: expect.stringContaining('PASSKEY_NOT_FOUND'),
  })
  await unconfirm()
  expect((await run('passkeys', 'remove', '--', '-laptop-of-ada')).error).toContain('CONFIRMATION_REQUIRED')
  expect((await run('confirm', '--code', ada.code())).code).toBe(0)
  expect(await run('passkeys', 'remove', '--', '-laptop-of-ada')).toMatchObject({
    code: 0,
    lines: [{ id: '-laptop-of-ada', removed: true }],
  })
  expect(await run('passkeys', 'list')).toMatchObject({ code: 0, lines: [] })
  expect(await actsOf('passkey remove')).toEqual([byAda])
})

test('prints new recovery codes, in place of those of before', async () => {
  const [before = ''] = ada.recoveryCodes
  const [renewed] = (await run('recovery-codes', 'renew')).lines
  const codes = renewed?.['recoveryCodes'] as readonly string[]
  expect(renewed?.['login']).toBe(ada.login)
  expect(new Set(codes).size).toBe(10)
  expect((await run('confirm', '--code', before)).error).toContain('LOGIN_FAILED')
  expect((await run('confirm', '--code', codes[0] ?? '')).code).toBe(0)
  expect(await actsOf('recovery codes renew')).toEqual([byAda])
})

test('second factors belong to who is logged in at a server', async () => {
  for (const args of [
    ['passkeys', 'list'],
    ['passkeys', 'remove', 'x'],
    ['recovery-codes', 'renew'],
  ])
    expect(await shell.swapyard(args, { HOME: shell.folder })).toMatchObject({
      code: 1,
      error: expect.stringContaining('name the server: --url'),
    })
})
