import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FaultyNode, startFaultyNode } from '../chains/evm/faulty-node.ts'
import { catchUp, type Market, SOL, startMarket, tokenOf } from './solana-market.fixture.ts'

/* Pools that cannot be read or whose maths is not known, and DEXes whose pools cannot be searched, beside all others. */

const clmm = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'
/** `getProgramAccounts` on a node that has no index of the program. */
const refusal = { error: { code: -32010, message: 'excluded from account secondary indexes' } }
/** Slots of 0.4 seconds until a pool is read whole, and until a listed token is searched again. */
const [WHOLE_SLOTS, SEARCH_SLOTS] = [26, 1_501]

let market: Market
let faulty: FaultyNode
let warnings: object[]

beforeEach(async () => {
  market = await startMarket()
  faulty = await startFaultyNode(market.node.rpcUrl)
  warnings = []
})
afterEach(async () => {
  await faulty?.stop()
  await market?.stop()
})

const createPools = () => market.createPools([faulty.url], (fields) => void warnings.push(fields))
const idsOf = (pools: ReturnType<typeof createPools>) => (pools.current()?.pools ?? []).map(({ id }) => id)

/** Replaces the data of an account. Returns a function that restores it. */
function write(address: string, change: (data: Buffer) => Buffer): () => void {
  const account = market.node.bank.readAccount(address as never)
  if (!account.exists) throw new Error(`${address} does not exist`)
  market.node.bank.writeAccount({ ...account, data: change(Buffer.from(account.data)) } as never)
  return () => market.node.bank.writeAccount(account)
}

function findTickPool() {
  const pool = market.poolsOf('USDC', 'TICK').find(({ kind }) => kind === 'raydium-clmm')
  if (pool?.kind !== 'raydium-clmm') throw new Error('the sandbox has no pool of CLMM for TICK')
  return pool
}

test('a pool that cannot be decoded is left out and logged, and the others are read', async () => {
  const pools = createPools()
  await pools.advance()
  const [before, at] = [idsOf(pools), pools.current()?.block.height ?? 0]
  const { id } = findTickPool()
  const restore = write(id, (data) => data.subarray(0, 300))
  market.mine(WHOLE_SLOTS)
  await pools.advance()
  expect(idsOf(pools)).toEqual(before.filter((one) => one !== id))
  expect(pools.current()?.block.height).toBeGreaterThan(at)
  expect(warnings).toEqual([{ network: 'sol', pool: id, fault: expect.any(String) }])
  market.mine(WHOLE_SLOTS)
  await pools.advance()
  expect(warnings).toHaveLength(1)
  restore()
  market.mine(WHOLE_SLOTS)
  await pools.advance()
  expect(idsOf(pools)).toEqual(before)
})

test('pools of a DEX whose program a node does not search are left out and logged, and the others are found', async () => {
  const kindsOf = (pools: ReturnType<typeof createPools>) =>
    new Set((pools.current()?.pools ?? []).map(({ kind }) => kind))
  const all = kindsOf(market.pools)
  faulty.set(({ method, params }) => (method === 'getProgramAccounts' && params[0] === clmm ? refusal : undefined))
  const pools = createPools()
  await pools.advance()
  expect(all.size).toBe(6)
  expect(kindsOf(pools)).toEqual(new Set([...all].filter((kind) => kind !== 'raydium-clmm')))
  expect(warnings).toEqual([{ network: 'sol', dex: 'raydium-clmm', fault: expect.stringContaining('excluded') }])
  // Listed tokens are searched again long before the hour of a whole search is over.
  faulty.set(() => undefined)
  market.mine(SEARCH_SLOTS)
  await catchUp(pools)
  expect(kindsOf(pools)).toEqual(all)
})

test('pools stay if the node refuses a later search of their program', async () => {
  const pools = createPools()
  await pools.advance()
  const before = idsOf(pools)
  faulty.set(({ method, params }) => (method === 'getProgramAccounts' && params[0] === clmm ? refusal : undefined))
  market.mine(SEARCH_SLOTS)
  pools.request(tokenOf('TICK'))
  await catchUp(pools)
  expect(warnings).toHaveLength(1)
  expect([...idsOf(pools)].sort()).toEqual([...before].sort())
  expect(idsOf(pools)).toContain(findTickPool().id)
})

test('the followed pools are read while a search waits for its node', async () => {
  const pools = createPools()
  await pools.advance()
  const [before, at] = [idsOf(pools), pools.current()?.block.height ?? 0]
  const meme = market.unlistedMint
  // The search takes at least a minute: six DEXes, each asked twice for five seconds.
  faulty.set(({ method }) => (method === 'getProgramAccounts' ? 'silence' : undefined))
  pools.request(meme)
  for (const mined of [3, 6]) {
    market.mine(3)
    expect(await pools.advance()).toBe('again')
    expect(pools.current()?.block.height).toBe(at + mined)
    expect(idsOf(pools)).toEqual(before)
  }
  faulty.set(() => undefined)
  market.mine(SEARCH_SLOTS)
  pools.request(meme)
  await catchUp(pools)
  const found = (pools.current()?.pools ?? []).filter(({ tokens }) => tokens.includes(meme) && tokens.includes(SOL))
  expect(found.length).toBeGreaterThan(0)
})

/** Of `orders_amount` and `part_filled_orders_remaining` in a tick of 168 bytes, by tick_array.rs of raydium-io/raydium-clmm. */
const TICKS_AT = 44
const TICK_BYTES = 168
const LIQUIDITY_GROSS = 20

test.each([
  ['an open', 124],
  ['a partly filled', 132],
])('a pool of CLMM with %s limit order at a tick without liquidity is left out', async (_, offset) => {
  const pools = createPools()
  await pools.advance()
  const { id, arrays } = findTickPool()
  expect(idsOf(pools)).toContain(id)
  const restore = write(arrays[0]?.address ?? '', (data) => {
    const ticks = Array.from({ length: 60 }, (_tick, index) => TICKS_AT + index * TICK_BYTES)
    const at = ticks.find((one) => data.readBigUInt64LE(one + LIQUIDITY_GROSS) === 0n)
    if (at === undefined) throw new Error('every tick has liquidity')
    data.writeBigUInt64LE(1n, at + offset)
    return data
  })
  market.mine(WHOLE_SLOTS)
  await pools.advance()
  expect(idsOf(pools)).not.toContain(id)
  expect(warnings).toEqual([])
  restore()
  market.mine(WHOLE_SLOTS)
  await pools.advance()
  expect(idsOf(pools)).toContain(id)
})

/* Fees of newer programs that the maths does not know. Offsets by the layouts and notes of the recorded swaps. */
test.each([
  ['raydium-cpmm', 'a fee of its creator (enable_creator_fee)', 'LEVY', 390, 1],
  ['raydium-clmm', 'a fee in one token only (fee_on)', 'TICK', 390, 1],
  ['raydium-clmm', 'a dynamic fee (first byte of dynamic_fee_info)', 'TICK', 1_096, 1],
  ['raydium-clmm', 'a member after the dynamic fee (last byte)', 'TICK', 1_543, 1],
  ['pump-swap', 'the mode Mayhem (is_mayhem_mode)', 'COIN', 243, 1],
  ['pump-swap', 'cashback (is_cashback_coin)', 'COIN', 244, 1],
  ['pump-swap', 'a member after those of June 2026', 'COIN', 245, 1],
] as const)('a pool of %s with %s is left out', async (kind, _, symbol, offset, value) => {
  const pools = createPools()
  await pools.advance()
  const [first] = market.poolsOf(symbol).filter((one) => one.kind === kind)
  if (first === undefined) throw new Error(`the sandbox has no pool of ${kind} for ${symbol}`)
  const before = idsOf(pools)
  expect(before).toContain(first.id)
  const restore = write(first.id, (data) => {
    const longer = Buffer.concat([data, Buffer.alloc(Math.max(0, offset + 1 - data.length))])
    longer[offset] = value
    return longer
  })
  market.mine(WHOLE_SLOTS)
  await pools.advance()
  expect(idsOf(pools)).toEqual(before.filter((one) => one !== first.id))
  expect(warnings).toEqual([])
  restore()
  market.mine(WHOLE_SLOTS)
  await pools.advance()
  expect(idsOf(pools)).toEqual(before)
})
