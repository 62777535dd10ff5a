import { bcs } from '@mysten/sui/bcs'
import { deriveDynamicFieldID, fromBase64 } from '@mysten/sui/utils'
import { cetusPoolSchema, tickTableOf } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { deepbookInnerField, deepbookPoolSchema } from '@swapyard/lib/pools/sui/deepbook-objects.ts'
import { expect, onTestFinished, test } from 'vitest'
import { placeOrders } from '../../../../sandbox/src/sui/books.ts'
import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import { cetusPackage, createSuiMarket, describeDexes, dexFunctions } from '../../../../sandbox/src/sui/market.ts'
import { startTestNode } from '../../../../sandbox/src/sui/sui-node.fixture.ts'
import { composeSwap } from '../../../src/adapters/sui/compose-swap.ts'
import { createSuiNode } from '../../../src/adapters/sui/node.ts'
import { createSuiPools } from '../../../src/adapters/sui/pools.ts'
import type { Log } from '../../../src/lib/log.ts'
import type { Dex } from '../../../src/swap/domain/dex.ts'
import { executeRoute, type RouteSwap, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { startNodeProxy } from './node-proxy.ts'
import { network } from './start-sui.ts'

const SUI = '0x2::sui::SUI'
const usdc = suiTokens[0]?.type ?? ''
const third = Math.floor(SHARE_ALL / 3)
const staleMs = 30_000
const gasBudget = 1_000_000_000n
const startMs = 1_800_000_000_000
const byId = (pools: readonly Pool[] = []) => pools.map(({ id }) => id).sort()

/** A pool of SUI and USDC of each DEX, and a trade that sells SUI in all three. */
async function start() {
  const started = await startTestNode({ functions: dexFunctions })
  const { node, tick, createFunded } = started
  const market = createSuiMarket(node)
  const isTraded = (coins: readonly { ticker: string }[]) => coins.map(({ ticker }) => ticker).join() === 'sui,usdc'
  const ids = [...market.pools, ...market.books]
    .filter(({ coins }) => isTraded(coins))
    .map(({ id }) => id)
    .sort()
  const dexes = (describeDexes(market) as readonly Dex[]).map((dex) => ({
    ...dex,
    pools: (dex.pools ?? []).filter((id) => ids.includes(id)),
  }))
  const dexNetwork = { network: 'sui', wrapped: SUI, connectors: [usdc], stablecoin: usdc, dexes }
  const proxy = await startNodeProxy(node.url)
  onTestFinished(proxy.stop)
  let nowMs = startMs
  const warnings: object[] = []
  const log = { warn: (fields: object) => void warnings.push(fields) } as unknown as Log
  const open = (...rpcUrls: readonly string[]) =>
    createSuiPools({
      ...{ network, rpcUrls, dexNetwork, tokens: [SUI, usdc], log, staleMs },
      now: () => nowMs,
    })
  const direct = async (): Promise<readonly Pool[]> => {
    const pools = open(node.url)
    await pools.advance()
    return pools.current()?.pools ?? []
  }
  const first = await direct()
  const { keypair, address } = createFunded()
  const gateway = createSuiNode('node', node.url)
  /** What each transaction sells, so that the book loses an order now and then. */
  const amountIn = 600_000_000_000n
  const swaps = ['cetus', 'turbos', 'deepbook'].map((kind, n): RouteSwap => {
    const pool = first.find((one) => one.kind === kind)
    if (pool === undefined) throw new Error(`no pool of ${kind}`)
    return { pool, tokenIn: 0, tokenOut: 1, share: n === 2 ? SHARE_ALL : third * (n + 1) }
  })
  const executed = executeRoute(swaps, SUI, usdc, amountIn)
  if (executed.amountOut === null) throw new Error('the route cannot trade')
  const order = {
    ...{ account: address, recipient: address, tokenIn: SUI, tokenOut: usdc, amountIn, minReceived: 1n },
    ...{ feePpm: 0, feeTo: null, ref: `0x${'7e'.repeat(32)}`, expiry: null, swaps: executed.swaps },
  }

  async function trade(): Promise<void> {
    const { id: objectId, version, digest } = node.mint(address, amountIn + 10n * gasBudget)
    const data = {
      kind: { ProgrammableTransaction: composeSwap(order, [], () => 1n) },
      sender: address,
      gasData: { payment: [{ objectId, version, digest }], owner: address, price: 1_000n, budget: gasBudget },
      expiration: { None: true } as const,
    }
    const bytes = bcs.TransactionData.serialize({ V1: data }).toBytes()
    await gateway.execute(bytes, [fromBase64((await keypair.signTransaction(bytes)).signature)])
  }
  return {
    ...{ ...started, market, ids, proxy, warnings, direct, trade },
    ...{ open, pools: open(proxy.url) },
    tick: () => tick(),
    wait(ms: number) {
      nowMs += ms
    },
  }
}

/** The objects that own the fields of a pool. */
async function fieldTablesOf(url: string, id: string): Promise<readonly string[]> {
  const node = createSuiNode('node', url)
  const [pool] = await node.readObjects([id])
  if (pool?.type.startsWith(`${cetusPackage}::`)) return [tickTableOf(cetusPoolSchema.parse(pool.contents))]
  const { inner } = deepbookPoolSchema.parse(pool?.contents ?? new Uint8Array())
  const name = bcs.u64().serialize(inner.version).toBytes()
  const [state] = await node.readObjects([deriveDynamicFieldID(inner.id, 'u64', name)])
  const { bids, asks } = deepbookInnerField.parse(state?.contents ?? new Uint8Array()).value.book
  return [bids.id, asks.id]
}

/** Every read of a node is preceded by a trade in all three pools. */
async function startBusy() {
  const stage = await start()
  const reads: string[] = []
  const { pools, proxy, tick } = stage
  let last = Promise.resolve()
  let checkpointBefore: string | null = null
  let expected: readonly Pool[] = []
  proxy.hooks.before = (method) => {
    last = last.then(async () => {
      reads.push(method)
      if (method === checkpointBefore) {
        checkpointBefore = null
        tick()
        expected = await stage.direct()
      }
      await stage.trade()
    })
    return last
  }
  return {
    ...{ ...stage, reads },
    /** A turn, with a checkpoint just before the first call of a method. Returns the pools as a quiet node showed them after that checkpoint. */
    async advance(method: 'BatchGetObjects' | 'GetCheckpoint') {
      checkpointBefore = method
      await pools.advance()
      return expected
    },
  }
}

test('pools that trade during every read are quoted, exactly as they are after the named checkpoint', async () => {
  const { pools, reads, ids, node, advance } = await startBusy()
  await pools.advance()
  // The pool in which nothing is traded.
  expect(pools.current()?.pools).toHaveLength(1)
  for (const method of ['GetCheckpoint', 'BatchGetObjects'] as const) {
    const expected = await advance(method)
    expect(pools.current()?.pools).toHaveLength(ids.length)
    expect(pools.current()?.pools).toEqual(expected)
    expect(pools.current()?.block.height).toBe(node.readTip().height)
  }
  expect(reads.filter((method) => method === 'ListDynamicFields').length).toBeGreaterThan(5)
})

test('a followed pool is not read as a whole again, and one that changed otherwise is', async () => {
  const { pools, proxy, trade, tick, direct, market, node } = await start()
  await pools.advance()
  const reads: string[] = []
  proxy.hooks.before = async (method) => void reads.push(method)
  for (let turn = 0; turn < 2; turn++) {
    await trade()
    tick()
    reads.length = 0
    await pools.advance()
    expect(pools.current()?.pools).toEqual(await direct())
    expect(reads).not.toContain('ListDynamicFields')
  }
  // The makers of the simulated node move their orders without a transaction: the versions of the next trade do not follow.
  const book = market.books.find(({ coins }) => coins[0].ticker === 'sui')
  if (book === undefined) throw new Error('the market has a book of SUI')
  placeOrders(node, book, 1_800_000_000)
  await trade()
  tick()
  await pools.advance()
  expect(pools.current()?.pools).toEqual(await direct())
  expect(reads.filter((method) => method === 'ListDynamicFields')).toHaveLength(2)
})

test('a pool that cannot be read any more is left out when its state is stale, and the others are not', async () => {
  const { pools, proxy, market, ids, node, wait, tick, warnings } = await start()
  await pools.advance()
  expect(pools.current()?.pools).toHaveLength(ids.length)
  const book = market.books.find(({ coins }) => coins[0].ticker === 'sui')?.id ?? ''
  expect(ids).toContain(book)
  // More checkpoints than are read one by one.
  node.addCheckpoints(65)
  proxy.hooks.unlisted = new Set(await fieldTablesOf(node.url, book))
  await pools.advance()
  expect(pools.current()?.pools).toHaveLength(ids.length)
  wait(staleMs + 1)
  tick()
  await pools.advance()
  expect(byId(pools.current()?.pools)).toEqual(ids.filter((id) => id !== book))
  expect(warnings).toEqual([
    { network: 'sui', dex: 'deepbook', fault: expect.stringMatching(`^${book} cannot be read: .*does not answer`) },
  ])
  proxy.hooks.unlisted = new Set()
  wait(60_000)
  await pools.advance()
  expect(pools.current()?.pools).toHaveLength(ids.length)
})

test('a pool with too many ticks, and a DEX with settings of another layout, take no other pool away', async () => {
  const { pools, proxy, market, ids, node, warnings } = await start()
  const [first] = market.pools.map(({ id }) => id)
  proxy.hooks.endless = new Set(await fieldTablesOf(node.url, first ?? ''))
  await pools.advance()
  expect(byId(pools.current()?.pools)).toEqual(ids.filter((id) => id !== first))
  expect(warnings).toMatchObject([{ dex: 'cetus', fault: expect.stringContaining('has more than 10000 fields') }])

  const other = await start()
  const shared = { kind: 'shared', initialVersion: 1n } as const
  const config = { type: '0x2::config::Other', owner: shared, hasPublicTransfer: false }
  const shorter = bcs.struct('Other', { id: bcs.Address, rate: bcs.u32() })
  const encode = (id: string) => shorter.serialize({ id, rate: 1 }).toBytes()
  other.node.createObject(config, encode, other.market.cetusConfig)
  await other.pools.advance()
  const kinds = new Set(other.pools.current()?.pools.map(({ kind }) => kind))
  expect(kinds).toEqual(new Set(['deepbook', 'turbos']))
  expect(other.warnings).toMatchObject([{ dex: 'cetus', fault: expect.stringContaining('cannot be read') }])
})

test('a pool about which a second node says something else in the same version is not used', async () => {
  const [first, second] = [await start(), await start()]
  const pools = first.open(first.node.url, second.node.url)
  const advance = async (turns: number) => {
    for (let turn = 0; turn < turns; turn++) await pools.advance()
  }
  await advance(20)
  expect(pools.counts().differences).toBe(0)
  expect(pools.current()?.pools).toHaveLength(first.ids.length)
  // The second node has other orders in the next version of the book.
  const book = first.market.books.find(({ coins }) => coins[0].ticker === 'sui')
  if (book === undefined) throw new Error('the market has a book of SUI')
  placeOrders(first.node, book, 1_800_000_000)
  placeOrders(second.node, book, 1_700_000_000)
  await advance(20 * first.ids.length)
  expect(byId(pools.current()?.pools)).toEqual(first.ids.filter((id) => id !== book.id))
  expect(pools.counts().differences).toBe(1)
  expect(first.warnings).toMatchObject([{ fault: `the nodes contradict each other about ${book.id}` }])
})
