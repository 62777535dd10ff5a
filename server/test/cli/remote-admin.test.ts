import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMINED_MAX } from '../../src/adapters/postgres/admin/read-range.ts'
import { hashPassword } from '../../src/admin/identity/passwords.ts'
import { LARGE_PARTNER, OF_BOTH, seedCombinations } from '../adapters/postgres/seed-combinations.ts'
import { type AdminServer, type Operator, openAdminServer, PASSWORD } from '../admin/admin-server.ts'
import { listen } from '../core/http/app-for-tests.ts'
import { logInFrom } from './log-in.ts'
import { openShell, type Shell } from './shell.ts'

let shell: Shell
let server: AdminServer
let url: string
let [ada, bob]: Operator[] = []
beforeAll(async () => {
  shell = await openShell()
  server = await openAdminServer()
  ada = await server.addOperator('ada@example.com', 'admin')
  bob = await server.addOperator('bob@example.com', 'admin')
  url = `http://127.0.0.1:${await listen(server.app)}`
})
afterAll(async () => {
  await server.close()
  await shell.close()
})

/** Each operator has a home folder. The command has no setting of the server: neither its database nor its secrets. */
const environmentOf = (operator: Operator | undefined) => ({
  HOME: join(shell.folder, operator?.login ?? 'stranger'),
  SWAPYARD_ADMIN_URL: url,
  DATABASE_URL: 'postgres://127.0.0.1:9/nothing',
})
const run = (operator: Operator | undefined, ...args: readonly string[]) =>
  shell.swapyard(args, environmentOf(operator))
const logIn = (operator: Operator | undefined) =>
  logInFrom(shell, environmentOf(operator), operator ?? { login: '', code: () => '' })

test('commands act by the admin API, as the operator who is logged in', async () => {
  expect((await run(ada, 'alarms')).error).toContain('swapyard login')
  expect(await logIn(ada)).toMatchObject({ code: 0, lines: [{ login: 'ada@example.com', role: 'admin' }] })
  const file = join(shell.folder, 'ada@example.com', '.config', 'swapyard', 'sessions.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain(PASSWORD)
  const paused = await run(ada, 'pause', 'network:btc', '--reason', 'the node is behind')
  expect(paused).toMatchObject({ code: 0, lines: [{ scope: 'network:btc', paused: true }] })
  expect((await run(ada, 'pauses')).lines).toMatchObject([{ scope: 'network:btc', actor: 'operator:ada@example.com' }])
  expect((await run(ada, 'audit', 'list', '--limit', '1')).lines).toMatchObject([
    { actor: 'operator:ada@example.com', act: 'pause', reason: 'the node is behind' },
  ])
  const preview = await run(ada, 'partners', 'suspend', 'stranger', '--reason', 'a look', '--preview')
  expect(preview).toMatchObject({ code: 1, error: expect.stringContaining('there is no partner stranger') })
  expect((await run(ada, 'pause', 'network:eth', '--reason', '-')).error).toContain('a reason of at least 3 letters')
})

test('an action that changes limits is asked for by one operator and approved by another', async () => {
  const [asked] = (await run(ada, 'partners', 'add', 'acme', '--fee-bps', '25', '--reason', 'signed')).lines
  const id = String(asked?.['asked'])
  expect(asked).toMatchObject({ name: 'acme', next: expect.stringContaining(`requests approve ${id}`) })
  expect((await run(ada, 'partners', 'list')).lines).toEqual([])
  expect((await run(ada, 'requests', 'approve', id)).error).toContain('SECOND_PERSON_REQUIRED')
  await logIn(bob)
  expect((await run(bob, 'requests', 'list')).lines).toMatchObject([
    { id, action: 'partners-add', askedBy: ada?.login },
  ])
  expect(await run(bob, 'requests', 'approve', id)).toMatchObject({ code: 0, lines: [{ name: 'acme' }] })
  expect((await run(bob, 'partners', 'list')).lines).toMatchObject([{ name: 'acme', feeBps: 25 }])
})

test('a list without a limit has all rows, page by page', async () => {
  await server.test.database.query(
    "insert into partners (id, name) select gen_random_uuid(), 'wallet-' || lpad(n::text, 4, '0') from generate_series(1, 1100) n",
  )
  const rows = await server.test.database.query<{ name: string }>('select name from partners order by name')
  const { lines } = await run(ada, 'partners', 'list')
  expect(lines.map(({ name }) => name)).toEqual(rows.map(({ name }) => name))
})

test('an approval of what has changed since says what to do, and the end of no pause is refused', async () => {
  const askToResume = () => run(ada, 'resume', 'network:btc', '--reason', 'the node is back')
  const [first, second] = [(await askToResume()).lines[0], (await askToResume()).lines[0]]
  expect((await run(bob, 'requests', 'approve', String(first?.['asked']))).lines).toEqual([
    { scope: 'network:btc', paused: false },
  ])
  expect(await askToResume()).toMatchObject({ code: 1, error: expect.stringContaining('network:btc is not paused') })
  await run(ada, 'pause', 'network:btc', '--reason', 'an intrusion')
  expect(await run(bob, 'requests', 'approve', String(second?.['asked']))).toMatchObject({
    ...{
      code: 1,
      error: expect.stringMatching(/has changed since ada@example\.com .* ask again \(REQUEST_OUTDATED\)/),
    },
  })
  expect((await run(bob, 'pauses')).lines).toMatchObject([{ scope: 'network:btc', reason: 'an intrusion' }])
})

test('a list with a limit has that many rows, also behind pages without a row', async () => {
  const { database } = server.test
  await seedCombinations(database, { large: EXAMINED_MAX, others: 1 })
  const list = ['exchanges', 'list', '--partner', LARGE_PARTNER, '--currency', 'ltc@ltc']
  const oldest = await database.query<{ id: string }>(
    "select id from exchanges where from_currency = 'ltc' and partner_id = (select id from partners where name = $1) order by created_at desc",
    [LARGE_PARTNER],
  )
  expect(oldest).toHaveLength(OF_BOTH)
  expect((await run(ada, ...list, '--limit', '2')).lines.map(({ id }) => id)).toEqual(
    oldest.slice(0, 2).map(({ id }) => id),
  )
  const local = await shell.swapyard(list, { DATABASE_URL: server.test.url })
  expect(local.lines.map(({ id }) => id)).toEqual(oldest.map(({ id }) => id))
})

test('an invitation is accepted with the halves of both operators', async () => {
  const given = ['operators', 'add', 'carol@example.com', '--role', 'support', '--reason', 'a new colleague']
  const [asked] = (await run(ada, ...given)).lines
  const [approved] = (await run(bob, 'requests', 'approve', String(asked?.['asked']))).lines
  const [first, second] = [String(asked?.['firstHalf']), String(approved?.['secondHalf'])]
  for (const half of [first, second])
    expect(await run(undefined, 'operators', 'accept', half)).toMatchObject({
      code: 1,
      error: expect.stringContaining('has two halves'),
    })
  // Without a terminal it shows the invitation alone.
  for (const halves of [[second, first], [`${first}.${second}`]])
    expect(await run(undefined, 'operators', 'accept', ...halves)).toMatchObject({
      code: 0,
      lines: [{ login: 'carol@example.com', role: 'support' }],
    })
})

test('the first operator is invited on the server with a whole token', async () => {
  const given = ['operators', 'add', 'first@example.com', '--role', 'admin', '--reason', 'first operator']
  const [invited] = (await shell.swapyard(given)).lines
  expect(invited).toMatchObject({
    login: 'first@example.com',
    token: expect.stringMatching(/^[0-9a-f]{32}\.[0-9a-f]{32}$/),
  })
})

const unconfirm = ({ test }: AdminServer) =>
  test.database.query("update operator_sessions set confirmed_at = clock_timestamp() - interval '6 minutes'")

test('a confirmation needs a second factor, or the password of an operator without one', async () => {
  const ask = ['partners', 'add', 'later', '--fee-bps', '10', '--reason', 'signed']
  await unconfirm(server)
  expect((await run(ada, ...ask)).error).toContain('CONFIRMATION_REQUIRED')
  expect((await run(ada, 'confirm')).error).toContain('code: name it by an option')
  expect(await run(ada, 'confirm', '--code', ada?.code() ?? '')).toMatchObject({
    code: 0,
    lines: [{ confirmedUntil: expect.any(String) }],
  })
  expect((await run(ada, ...ask)).lines).toMatchObject([{ asked: expect.any(String) }])

  const sandbox = await openAdminServer({ requiresSecondFactor: false })
  const id = (await sandbox.store.operators.add({ login: 'eve', role: 'admin', createdBy: 'test' })) ?? ''
  await sandbox.store.operators.setPassword(id, await hashPassword(PASSWORD))
  const there = `http://127.0.0.1:${await listen(sandbox.app)}`
  const file = join(shell.folder, 'password-of-eve')
  writeFileSync(file, `${PASSWORD}\n`)
  const runThere = (...args: readonly string[]) =>
    shell.swapyard(args, { HOME: join(shell.folder, 'eve'), SWAPYARD_ADMIN_URL: there })
  expect((await runThere('login', 'eve', '--password-file', file, '--code', '')).code).toBe(0)
  await unconfirm(sandbox)
  expect((await runThere(...ask)).error).toContain('CONFIRMATION_REQUIRED')
  expect((await runThere('confirm')).error).toContain('password: name it by an option')
  expect(await runThere('confirm', '--password-file', file)).toMatchObject({
    code: 0,
    lines: [{ confirmedUntil: expect.any(String) }],
  })
  expect((await runThere(...ask)).lines).toMatchObject([{ asked: expect.any(String) }])
  await sandbox.close()
})

test('commands that need the server are refused, and a logout ends the session', async () => {
  expect((await run(ada, 'keystore', 'indexes')).error).toContain('on the server only')
  const file = join(shell.folder, 'ada@example.com', '.config', 'swapyard', 'sessions.json')
  const { token } = Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, { token: string }>)[0] ?? {
    token: '',
  }
  expect((await run(ada, 'logout')).code).toBe(0)
  expect((await run(ada, 'pauses')).error).toContain('swapyard login')
  const headers = { authorization: `Bearer ${token}` }
  expect((await server.call({ method: 'GET', path: '/admin/v1/session', headers })).status).toBe(401)
  // A session is never sent in the clear over a network.
  const plain = await shell.swapyard(['pauses', '--url', 'http://admin.example'], { HOME: shell.folder })
  expect(plain.error).toContain('is not https')
})
