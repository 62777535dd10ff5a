import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, type Caller, openAdminServer, rowsOf } from './admin-server.ts'
import { balancerId, createPools, parsePoolName, solPool, usdc, wrappedSol } from './pools.fixture.ts'

let server: AdminServer
let admin: Caller
beforeAll(async () => {
  server = await openAdminServer({ twoPersons: false, live: { pools: createPools() }, deps: { parsePoolName } })
  admin = await server.logIn(await server.addOperator('ada@example.com', 'admin'))
})
afterAll(() => server?.close())

const reason = 'a test of pauses'
/** What the action did, or why it was refused. */
const act = async (path: string, scope: string) => {
  const { body } = await admin.post(path, { scope, reason })
  return body['result'] ?? body
}
const pause = (scope: string) => act('pauses/begin', scope)
const resume = (scope: string) => act('pauses/end', scope)
const list = (query: string) => admin.get(`pools/list?${query}`)

test('lists the pools of a network in pages, the deepest first, each once', async () => {
  const ids: unknown[] = []
  const depths: unknown[] = []
  let cursor = ''
  do {
    const { status, body } = await list(`network=eth&limit=7${cursor}`)
    expect(status).toBe(200)
    const rows = body['data'] as readonly Record<string, unknown>[]
    expect(rows.length).toBeLessThanOrEqual(7)
    ids.push(...rows.map(({ id }) => id))
    depths.push(...rows.map(({ depthUsd }) => depthUsd))
    cursor = body['next'] === null ? '' : `&cursor=${String(body['next'])}`
  } while (cursor !== '')
  expect([ids[0], ids.length, new Set(ids).size]).toEqual([balancerId, 60, 60])
  expect(depths).toEqual(depths.toSorted((a, b) => Number(b) - Number(a)))
  expect((await list('network=eth&cursor=x')).body).toMatchObject({ code: 'VALIDATION_ERROR' })
})

test('finds pools by a part of their id, DEX, address or symbol', async () => {
  const count = async (find: string, network = 'eth') =>
    rowsOf(await list(new URLSearchParams({ network, find }).toString())).length
  expect(await count('weth')).toBe(60)
  expect(await count('junk')).toBe(59)
  expect(await count('BALANCER')).toBe(1)
  expect(await count(balancerId.slice(0, 12))).toBe(1)
  expect(await count(usdc.slice(0, 9), 'sol')).toBe(1)
  expect(await count('nothing')).toBe(0)
})

test('shows a pool with its tokens, depth and scope, and what pauses it', async () => {
  const row = {
    ...{ network: 'sol', id: solPool, dex: 'raydium-amm-v4', depthUsd: null, scope: `pool:${solPool}@sol` },
    tokens: [
      { address: wrappedSol, symbol: 'SOL' },
      { address: usdc, symbol: 'USDC' },
    ],
  }
  expect(rowsOf(await list('network=sol'))).toEqual([{ ...row, pausedBy: [] }])
  const scopes = ['dex:raydium-amm-v4@sol', `pool:${solPool}@sol`, `token:${usdc}@sol`]
  for (const scope of scopes) expect(await pause(scope)).toMatchObject({ scope, paused: true })
  expect(rowsOf(await list('network=sol'))).toEqual([{ ...row, pausedBy: scopes }])
  expect(rowsOf(await admin.get('pools'))).toMatchObject([
    { network: 'eth', pauses: [] },
    { network: 'sol', pauses: scopes },
  ])
  for (const scope of scopes) expect(await resume(scope)).toMatchObject({ scope, paused: false })
  expect(rowsOf(await list('network=sol'))).toEqual([{ ...row, pausedBy: [] }])
})

test.each([
  ['pool:0xABABABABABABABABABABABABABABABABABABABAB@eth', `pool:0x${'ab'.repeat(20)}@eth`],
  [`pool:${balancerId.toUpperCase().replace('0X', '0x')}@eth`, `pool:${balancerId}@eth`],
  ['token:0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE@eth', 'token:0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2@eth'],
  [`token:0x2::sui::SUI@sui`, 'token:0x2::sui::SUI@sui'],
  [`token:0x${'AB'.repeat(32)}::coin::COIN@Sui`, `token:0x${'ab'.repeat(32)}::coin::COIN@sui`],
  [`pool:0x${'AB'.repeat(32)}@sui`, `pool:0x${'ab'.repeat(32)}@sui`],
])('the scope %s is %s', async (text, scope) => {
  expect(await pause(text)).toMatchObject({ scope, paused: true })
  expect(await resume(text)).toMatchObject({ scope, paused: false })
})

test.each([
  [`token:${usdc.toLowerCase()}@sol`, 'is not the address of a token of sol'],
  [`token:0x${'ab'.repeat(20)}@sol`, 'is not the address of a token of sol'],
  ['token:0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045@eth', 'is not the address of a token of eth'],
  [`pool:${usdc}@eth`, 'is no address or id of a pool of eth'],
  [`pool:0x${'ab'.repeat(20)}@sui`, 'is no address or id of a pool of sui'],
])('the scope %s is refused', async (scope, sentence) => {
  expect(await pause(scope)).toMatchObject({ message: expect.stringContaining(sentence) })
})

test('the state of a network has the block and the depth in coins, also where nothing is stored', async () => {
  expect(rowsOf(await admin.get('pools'))).toMatchObject([
    {
      ...{ network: 'eth', pools: 60, height: '7', readAt: '2026-11-26T00:00:00.000Z', savedAt: null },
      depth: { now: '1.5', maximum: '3', currency: 'ETH', alarm: null },
    },
    { network: 'sol', pools: 1, depth: { now: '1.5', maximum: '3', currency: 'SOL', alarm: null } },
  ])
})
