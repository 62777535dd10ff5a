import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, openAdminServer } from '../admin/admin-server.ts'
import { balancerId, createPools, parsePoolName, solPool } from '../admin/pools.fixture.ts'
import { listen } from '../core/http/app-for-tests.ts'
import { logInFrom } from './log-in.ts'
import { openShell, type Shell } from './shell.ts'

let shell: Shell
let server: AdminServer
let url: string

beforeAll(async () => {
  shell = await openShell()
  server = await openAdminServer({ twoPersons: false, live: { pools: createPools() }, deps: { parsePoolName } })
  const ada = await server.addOperator('ada@example.com', 'treasurer')
  url = `http://127.0.0.1:${await listen(server.app)}`
  await logInFrom(shell, environment(), ada)
})
afterAll(async () => {
  await server?.close()
  await shell?.close()
})

const environment = () => ({ HOME: shell.folder, SWAPYARD_ADMIN_URL: url })
const run = (...args: readonly string[]) => shell.swapyard(args, environment())

test('lists all pools of a network, the deepest first, and finds some of them', async () => {
  const { lines } = await run('pools', 'list', 'eth')
  expect(new Set(lines.map(({ id }) => id)).size).toBe(60)
  expect(lines[0]).toMatchObject({ network: 'eth', id: balancerId, dex: 'balancer-weighted', depthUsd: 1_000_000 })
  expect((await run('pools', 'list', 'eth', '--limit', '2')).lines).toEqual(lines.slice(0, 2))
  expect((await run('pools', 'list', 'eth', '--find', 'balancer')).lines).toEqual(lines.slice(0, 1))
  expect(await run('pools', 'list', 'nowhere')).toMatchObject({ code: 1, error: expect.stringContaining('nowhere') })
})

test('pauses and resumes a pool by the scope that its list prints', async () => {
  const list = () => run('pools', 'list', 'sol')
  const [pool] = (await list()).lines
  const scope = String(pool?.['scope'])
  expect(pool).toMatchObject({ id: solPool, scope: `pool:${solPool}@sol`, pausedBy: [] })
  expect((await run('pause', scope, '--reason', 'a fake token')).code).toBe(0)
  expect((await list()).lines).toMatchObject([{ id: solPool, pausedBy: [scope] }])
  expect((await run('pools', 'status')).lines).toMatchObject([
    { network: 'eth', pools: 60, pauses: [] },
    { network: 'sol', pools: 1, pauses: [scope] },
  ])
  expect((await run('resume', scope, '--reason', 'it is real')).code).toBe(0)
  expect((await list()).lines).toMatchObject([{ id: solPool, pausedBy: [] }])
})

test('the pools of a router are read from a running server, and stored states from the database, too', async () => {
  expect(await shell.swapyard(['pools', 'list', 'eth'])).toMatchObject({
    code: 1,
    error: expect.stringContaining('only a running API process knows this'),
  })
  expect(await shell.swapyard(['pools', 'status'])).toMatchObject({ code: 0, lines: [] })
})
