import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { type Market, orderOf, startMarket, tokenOf } from './solana-market.fixture.ts'

/* What a step of reading asks a node for. */

type Reply = Readonly<{ result?: Readonly<{ value?: readonly (Readonly<{ data: readonly [string] }> | null)[] }> }>

let market: Market
let proxy: Server
/** Sizes of the accounts that the node replied to `getMultipleAccounts`. */
let sizes: number[] = []

beforeAll(async () => {
  market = await startMarket()
  proxy = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const answer = await (
      await fetch(market.node.rpcUrl, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    ).text()
    if (body.includes('getMultipleAccounts')) {
      const { result } = JSON.parse(answer) as Reply
      sizes.push(...(result?.value ?? []).map((account) => Buffer.from(account?.data[0] ?? '', 'base64').length))
    }
    response.setHeader('content-type', 'application/json')
    response.end(answer)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await market?.stop()
  proxy?.closeAllConnections()
  proxy?.close()
})

const ARRAY_BYTES = 10_000
const arraysRead = () => sizes.filter((size) => size > ARRAY_BYTES).length

test('reads bins and ticks of a pool again only after it has changed', async () => {
  const amountIn = 100_000_000n
  const user = await market.createFunded(1_000_000_000n, { BINS: amountIn })
  const pools = market.createPools([`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`])
  await pools.advance()
  expect(arraysRead()).toBeGreaterThan(10)
  const before = pools.current()?.pools ?? []
  sizes = []
  await pools.advance()
  expect([arraysRead(), sizes.length > 50]).toEqual([0, true])
  expect(pools.current()?.pools).toBe(before)
  // A swap changes one pool, in which at most two arrays in each direction are read.
  const [pool] = before.filter(({ kind, tokens }) => kind === 'meteora-dlmm' && tokens.includes(tokenOf('BINS')))
  if (pool === undefined) throw new Error('no pair')
  const other = pool.tokens.find((token) => token !== tokenOf('BINS')) ?? ''
  const tokenIn = pool.tokens.indexOf(tokenOf('BINS'))
  const swap = { pool, tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }
  const executed = executeRoute([swap], tokenOf('BINS'), other, amountIn)
  if (executed.amountOut === null) throw new Error('the pair cannot trade')
  const { swap: unsigned } = await market.chain.prepare(orderOf(user, [tokenOf('BINS'), other], executed.swaps))
  expect(await market.chain.broadcast(market.sign(user, unsigned))).toEqual({ kind: 'accepted' })
  // Confirmed, and before any pool is read whole again.
  market.mine(3)
  sizes = []
  await pools.advance()
  expect(arraysRead()).toBeGreaterThan(0)
  expect(arraysRead()).toBeLessThanOrEqual(3)
  const changed = (pools.current()?.pools ?? []).filter((one) => !before.includes(one)).map(({ id }) => id)
  expect(changed).toEqual([pool.id])
})
