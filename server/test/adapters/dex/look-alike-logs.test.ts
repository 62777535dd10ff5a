import { type Hex, toEventSelector } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { PoolSource } from '../../../src/swap/ports/pools.ts'
import { type Fault, type FaultyNode, startFaultyNode } from '../chains/evm/faulty-node.ts'
import { startVenueCluster, type VenueCluster } from './venue-cluster.ts'
import type { Venues } from './venues.ts'

/*
 * One block with more logs than a reply may hold: a contract of a stranger emits the topic of Uniswap V2's Sync. Anvil would need minutes to
 * execute such a block, so a proxy adds the logs to its replies where their filter matches them, as the JSON-RPC specification says.
 */

const DEADLINE = 2n ** 40n
const SYNC = toEventSelector('Sync(uint112,uint112)')
const STRANGER = `0x${'5e'.repeat(20)}`
/** A LOG1 without data costs 750 gas, so a block of 36 million gas holds so many. */
const LOOK_ALIKES = 45_000
/** Of a reply, in network-pools.ts. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024

let cluster: VenueCluster
let venues: Venues
let node: FaultyNode
let source: PoolSource
beforeAll(async () => {
  cluster = await startVenueCluster()
  venues = cluster.venues
  node = await startFaultyNode(venues.anvil.url)
  await venues.act('v2Router', 'addLiquidity', [
    ...venues.tokens.slice(0, 2),
    ...[10n ** 21n, 10n ** 21n, 0n, 0n, venues.me, DEADLINE],
  ])
  await venues.mine()
})
test('the look-alike logs of a block are more than a reply may hold', () => {
  const block = { number: '0x10', hash: `0x${'b'.repeat(64)}` } as const
  expect(JSON.stringify(lookAlikesIn(block)).length).toBeGreaterThan(REPLY_BYTES_MAX)
})

beforeEach(async () => {
  node.set(() => undefined)
  source = cluster.createSource({ rpcUrls: [node.url], snapshots: { load: async () => null, save: async () => {} } })
  // The first turn reads all pools.
  await source.advance()
  expect(source.counts().rereads).toBe(1)
})
afterAll(() => Promise.all([cluster?.stop(), node?.stop()]))

type Block = Readonly<{ number: Hex; hash: Hex }>
type Filter = Readonly<{ address?: string[]; blockHash?: string; fromBlock?: Hex; toBlock?: Hex }>

const includes = ({ blockHash, fromBlock = '0x0', toBlock = '0x0' }: Filter, { number, hash }: Block) =>
  blockHash === undefined
    ? BigInt(fromBlock) <= BigInt(number) && BigInt(number) <= BigInt(toBlock)
    : blockHash === hash

const lookAlikesIn = ({ number, hash }: Block) =>
  Array.from({ length: LOOK_ALIKES }, (_, n) => ({
    ...{ address: STRANGER, topics: [SYNC], data: '0x', blockHash: hash, blockNumber: number, removed: false },
    blockTimestamp: '0x6a0b1c2d',
    ...{ transactionHash: `0x${'7'.repeat(64)}`, transactionIndex: '0x1', logIndex: `0x${(n + 9).toString(16)}` },
  }))

/** Logs of every query that holds the block, unless its addresses leave the stranger out. */
function flood(block: Block): Fault {
  const lookAlikes = lookAlikesIn(block)
  return async ({ method, params }, forward) => {
    const filter = params[0] as Filter
    if (method !== 'eth_getLogs' || !includes(filter, block) || filter.address !== undefined) return undefined
    return { result: [...((await forward()) as unknown[]), ...lookAlikes] }
  }
}

const isOfBlock = ({ method, params }: Parameters<Fault>[0], block: Block) =>
  method === 'eth_getLogs' && includes(params[0] as Filter, block)

const newest = () => venues.anvil.request<Block>('eth_getBlockByNumber', ['latest', false])

/** A trade, so that the pool has a log of its own in the block. */
async function mineTrade(): Promise<Block> {
  const [a, b] = venues.tokens
  await venues.act('v2Router', 'swapExactTokensForTokens', [10n ** 18n, 0n, [a, b], venues.me, DEADLINE])
  await venues.mine()
  return newest()
}

async function expectReserves(): Promise<void> {
  const at = source.current()
  expect(at?.block.hash).toBe((await newest()).hash)
  const [pool] = at?.pools ?? []
  if (pool?.kind !== 'uniswap-v2') throw new Error('the pair is followed')
  expect(pool.reserves).toEqual(
    (await venues.read<readonly bigint[]>(pool.address as Hex, 'v2Pair', 'getReserves')).slice(0, 2),
  )
}

test.for([
  ['the newest block', 0],
  ['one of several new blocks, which are asked for in one batch', 5],
  // More than a reorganisation can undo.
  ['a block of a longer absence', 100],
] as const)('D3: quotes stay current where %s is full of look-alike logs of a stranger', async ([, later]) => {
  node.set(flood(await mineTrade()))
  if (later > 0) await venues.anvil.mine(later)
  await source.advance()
  await expectReserves()
  // By its own logs, not by a full read.
  expect(source.counts().rereads).toBe(1)
})

test.for([0, 100])('D3: the pools are read again where the logs of one are too many, %s blocks ago', async (later) => {
  const block = await mineTrade()
  if (later > 0) await venues.anvil.mine(later)
  const [pool = ''] = source.current()?.pools.map(({ address }) => address) ?? []
  const includesPool = ({ params }: Parameters<Fault>[0]) => (params[0] as Filter).address?.includes(pool) !== false
  node.set((call) => (isOfBlock(call, block) && includesPool(call) ? { result: lookAlikesIn(block) } : undefined))
  await source.advance()
  await expectReserves()
  expect(source.counts().rereads).toBe(2)
})

test('the pools are read again where the nodes refuse the logs of a block in three turns', async () => {
  const block = await mineTrade()
  node.set((call) => (isOfBlock(call, block) ? { error: { code: -32000, message: 'too many logs' } } : undefined))
  for (let turn = 1; turn <= 2; turn++)
    await expect(source.advance()).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  expect(source.counts().rereads).toBe(1)
  await source.advance()
  await expectReserves()
  expect(source.counts().rereads).toBe(2)
})

test('a node that limits calls is not asked for all pools', async () => {
  const block = await mineTrade()
  node.set((call) => (isOfBlock(call, block) ? { error: { code: -32005, message: 'rate limit' } } : undefined))
  for (let turn = 1; turn <= 4; turn++)
    await expect(source.advance()).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  expect(source.counts().rereads).toBe(1)
  node.set(() => undefined)
  await source.advance()
  await expectReserves()
})
