import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startVenueCluster, type VenueCluster } from './venue-cluster.ts'
import type { Venues } from './venues.ts'

/*
 * After a restart anvil, and other nodes that keep few states, cannot read blocks before the restart. The proxy here rejects such
 * reads with anvil's error.
 */

const DEADLINE = 2n ** 40n
type Call = Readonly<{ id: number; method: string; params: readonly unknown[] }>

let cluster: VenueCluster
let venues: Venues
beforeAll(async () => {
  cluster = await startVenueCluster()
  venues = cluster.venues
})
afterAll(() => cluster?.stop())

/** Answers calls only at the newest block; `refused` counts the others. */
async function startProxy() {
  const counts = { refused: 0 }
  const answer = async (call: Call): Promise<object> => {
    const at = call.method === 'eth_call' ? (call.params[1] as string | { blockHash?: string } | undefined) : undefined
    const hash = typeof at === 'object' ? at.blockHash : undefined
    if (hash !== undefined) {
      const { hash: newest } = await venues.anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
      if (hash !== newest) {
        counts.refused++
        return { jsonrpc: '2.0', id: call.id, error: { code: -32602, message: 'BlockOutOfRangeError' } }
      }
    }
    return { jsonrpc: '2.0', id: call.id, result: await venues.anvil.request(call.method, [...call.params]) }
  }
  const server = createServer(async (request, response) => {
    const calls = (await json(request)) as Call | Call[]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(calls) ? await Promise.all(calls.map(answer)) : await answer(calls)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts, close: () => server.close() }
}

const createSource = (url: string) => cluster.createSource({ rpcUrls: [url], settings: { snapshotEveryMs: 0 } })

async function addPair(a: number, b: number): Promise<void> {
  const [tokenA, tokenB] = [venues.tokens[a], venues.tokens[b]]
  await venues.act('v2Router', 'addLiquidity', [tokenA, tokenB, 10n ** 21n, 10n ** 21n, 0n, 0n, venues.me, DEADLINE])
  await venues.mine()
}

/** `missed` blocks are final in the first case and may be reorged in the second. Pools exist before and are created during the gap. */
test.for([
  { missed: 30, isRefused: true, there: 0, first: [0, 1], second: [1, 2] },
  { missed: 4, isRefused: false, there: 2, first: [0, 2], second: [0, 3] },
] as const)(
  'reads pools created $missed blocks ago at the newest block if older states are not available',
  async ({ missed, isRefused, there, first, second }) => {
    const before = createSource(venues.anvil.url)
    await addPair(first[0], first[1])
    await before.advance()
    expect(before.current()?.pools.length).toBe(there + 1)
    await venues.mine()
    await before.advance()
    await addPair(second[0], second[1])
    await venues.anvil.mine(missed)

    const proxy = await startProxy()
    const after = createSource(proxy.url)
    await after.advance()
    const { hash } = await venues.anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
    expect(proxy.counts.refused > 0).toBe(isRefused)
    expect(after.current()?.block.hash).toBe(hash)
    expect(after.current()?.pools.length).toBe(there + 2)
    expect(after.counts().rereads).toBe(0)
    proxy.close()
  },
)
