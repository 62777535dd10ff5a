import { encodeFunctionData, type Hex, maxUint256 } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRouteFinder } from '../../../src/adapters/router/find-route.ts'
import type { PoolSnapshot, PoolSnapshots, PoolSource } from '../../../src/swap/ports/pools.ts'
import { type Compiled, compile } from '../chains/evm/compile.ts'
import { startVenueCluster, type VenueCluster } from './venue-cluster.ts'
import { artifactOf } from './venues.ts'

/*
 * 5000 pools that anybody can create for the price of gas, among six pools of listed tokens (D2, D3). They have the lowest fees there
 * are, prices that are better than the market's, and liquidity of 10^30 in tokens without a limit of supply.
 */

const ETHER = 10n ** 18n
const SQRT_ONE = 2n ** 96n
const FULL = { tickLower: -887_220, tickUpper: 887_220 }
const DEADLINE = 2n ** 40n
const salt = `0x${'0'.repeat(64)}`
const PER_TRANSACTION = 250
const GAS = 150_000_000n
const HOSTILE_POOLS = 5_000

let cluster: VenueCluster
let hostile: { address: Hex; abi: Compiled['abi'] }
let invented: readonly [Hex, Hex]
beforeAll(async () => {
  cluster = await startVenueCluster()
  const { anvil, address } = cluster.venues
  const compiled = await compile(new URL('./hostile-pools.sol', import.meta.url).pathname)
  const [creator, token] = [compiled['HostilePools'] as Compiled, compiled['InventedToken'] as Compiled]
  hostile = { address: (await anvil.deploy(creator, [address.v4Core])) as Hex, abi: creator.abi }
  const tokens = [await anvil.deploy(token, []), await anvil.deploy(token, [])].map((one) => one.toLowerCase() as Hex)
  invented = tokens.sort() as [Hex, Hex]
})
afterAll(() => cluster?.stop())

/** Pools of listed tokens at a price of one, of three kinds and depths. */
async function createHonestPools(): Promise<void> {
  const { act, me, tokens, mine } = cluster.venues
  const [a, b, c, d] = tokens as readonly [Hex, Hex, Hex, Hex]
  for (const [x, y, amount] of [
    [a, b, 1_000n],
    [b, c, 2_000n],
    [c, d, 500n],
    [a, d, 700n],
  ] as const)
    await act('v2Router', 'addLiquidity', [x, y, amount * ETHER, amount * ETHER, 0n, 0n, me, DEADLINE])
  await act('positions', 'createAndInitializePoolIfNecessary', [a, c, 3_000, SQRT_ONE])
  await act('v4Core', 'initialize', [keyOf(b, d), SQRT_ONE])
  await mine()
  const [ticks, amounts] = [
    { tickLower: -6_000, tickUpper: 6_000 },
    { amount0Min: 0n, amount1Min: 0n },
  ]
  const desired = { amount0Desired: 100n * ETHER, amount1Desired: 100n * ETHER }
  await act('positions', 'mint', [
    { token0: a, token1: c, fee: 3_000, ...ticks, ...amounts, ...desired, recipient: me, deadline: DEADLINE },
  ])
  const position = { ...ticks, liquidityDelta: 1_000n * ETHER, salt }
  await act('v4Liquidity', 'modifyLiquidity', [keyOf(b, d), position, '0x'])
  await mine()
}
const keyOf = (currency0: Hex, currency1: Hex) => ({
  ...{ currency0, currency1, fee: 3_000, tickSpacing: 60, hooks: `0x${'0'.repeat(40)}` as Hex },
})

type Plan = Readonly<{
  tokens: readonly [Hex, Hex]
  count: number
  liquidity: bigint
  sqrtPrice: bigint
  spacing?: number
  range?: typeof FULL
  /** The fee of the first pool; each other has a millionth more. Without it, fees that no other plan uses. */
  fee?: number
}>

async function createHostilePools(plans: readonly Plan[]): Promise<void> {
  const { anvil, me } = cluster.venues
  let unusedFee = 1
  for (const { tokens, count, liquidity, sqrtPrice, spacing = 60, range = FULL, fee } of plans) {
    const [token0, token1] = [...tokens].sort() as [Hex, Hex]
    const price = token0 === tokens[0] ? sqrtPrice : (SQRT_ONE * SQRT_ONE) / sqrtPrice
    const position = { ...range, liquidityDelta: liquidity, salt }
    for (let done = 0; done < count; done += PER_TRANSACTION) {
      const some = Math.min(PER_TRANSACTION, count - done)
      const args = [token0, token1, fee ?? unusedFee, some, spacing, price, position]
      const data = encodeFunctionData({ abi: hostile.abi, functionName: 'create', args })
      const hash = await anvil.send({ from: me, to: hostile.address, data, gas: GAS })
      await anvil.mine()
      const receipt = await anvil.request<{ status: Hex }>('eth_getTransactionReceipt', [hash])
      expect(receipt.status).toBe('0x1')
      unusedFee += some
    }
  }
}

async function fund(token: Hex, amount: bigint): Promise<void> {
  const { anvil, me, mine } = cluster.venues
  const { abi } = artifactOf('token')
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [hostile.address, amount] })
  await anvil.send({ from: me, to: token, data, gas: 200_000n })
  await mine()
}

async function advance(source: PoolSource): Promise<void> {
  const { hash } = await cluster.venues.anvil.request<{ hash: Hex }>('eth_getBlockByNumber', ['latest', false])
  for (let turns = 0; turns < 20; turns++) {
    await source.advance()
    if (source.current()?.block.hash === hash && turns > 0) return
  }
  throw new Error('the pools did not reach the newest block')
}

const find = createRouteFinder({ budgetMs: 5_000 })
const amountFor = (source: PoolSource, tokenIn: Hex, tokenOut: Hex, amountIn = 10n * ETHER) => {
  const at = source.current()
  if (at === null) throw new Error('no pools')
  return find(at, { network: 'eth', tokenIn, tokenOut, amountIn }).amountOut
}

/** The output of every pair of listed tokens, for a small and a large amount. */
const quotes = (source: PoolSource) =>
  cluster.venues.tokens.flatMap((tokenIn) =>
    cluster.venues.tokens
      .filter((tokenOut) => tokenOut !== tokenIn)
      .flatMap((tokenOut) => [ETHER, 100n * ETHER].map((amount) => amountFor(source, tokenIn, tokenOut, amount))),
  )

function memorySnapshots(): PoolSnapshots & { stored: PoolSnapshot | null } {
  return {
    stored: null,
    async load() {
      return this.stored
    },
    async save(snapshot) {
      this.stored = snapshot
    },
  }
}

test('5000 hostile pools leave every quote as it was, live, after a restart and after a full read', async () => {
  const { tokens, address } = cluster.venues
  const weth = address.weth.toLowerCase() as Hex
  const [listed = weth] = tokens.filter((token) => token !== weth)
  await createHonestPools()
  const snapshots = memorySnapshots()
  const clock = { ms: Date.now() }
  const source = cluster.createSource({ snapshots, now: () => clock.ms })
  await advance(source)
  const before = quotes(source)
  const pools = source.current()?.pools.length
  expect(pools).toBe(6)
  const depth = source.depth().units

  const [evil, other] = invented
  await fund(weth, ETHER)
  await fund(listed, 100n * ETHER)
  await createHostilePools([
    // A thousandth of a coin against as much of an invented token: a value for it.
    { tokens: [weth, evil], count: 1, liquidity: ETHER / 1_000n, sqrtPrice: SQRT_ONE * 10n ** 9n },
    // The bait: coins against the invented token, and that against a listed one, both better than the market.
    { tokens: [weth, evil], count: 9, liquidity: ETHER / 100n, sqrtPrice: (SQRT_ONE * 102n) / 100n },
    { tokens: [evil, listed], count: 9, liquidity: ETHER, sqrtPrice: (SQRT_ONE * 102n) / 100n },
    // Two that a lookup by pair finds.
    { tokens: [weth, evil], count: 1, liquidity: ETHER / 10n, sqrtPrice: (SQRT_ONE * 102n) / 100n, fee: 3_000 },
    { tokens: [evil, listed], count: 1, liquidity: ETHER, sqrtPrice: (SQRT_ONE * 102n) / 100n, fee: 3_000 },
    // Value that exists in these tokens only.
    { tokens: [evil, other], count: 3_979, liquidity: 10n ** 30n, sqrtPrice: SQRT_ONE },
    // Listed tokens at an invented price, without liquidity: each is one cheap call, and its bitmap has 470 words.
    { tokens: [weth, listed], count: 1_000, liquidity: 0n, sqrtPrice: SQRT_ONE * 2n, spacing: 1 },
  ])
  await advance(source)
  expect(quotes(source)).toEqual(before)
  expect(source.current()?.pools.length).toBe(6)
  expect(source.depth().units).toBe(depth)

  // A trade that names the invented token gets its pools, and the others stay.
  expect(() => amountFor(source, weth, evil)).toThrowError(expect.objectContaining({ code: 'NO_ROUTE' }))
  source.request(evil)
  await advance(source)
  const bait = source.current()?.pools.filter((pool) => pool.tokens.includes(evil)) ?? []
  expect(bait.flatMap((pool) => pool.tokens.filter((token) => token !== evil)).sort()).toEqual([weth, listed].sort())
  expect(amountFor(source, weth, evil, ETHER / 1_000n)).toBeGreaterThan(0n)
  expect(amountFor(source, evil, listed, ETHER / 1_000n)).toBeGreaterThan(0n)
  expect(quotes(source)).toEqual(before)

  clock.ms += 10 * 60_000
  await advance(source)
  const restarted = cluster.createSource({ snapshots })
  await advance(restarted)
  expect(restarted.counts().rereads).toBe(0)
  expect(quotes(restarted)).toEqual(before)

  const fresh = cluster.createSource({ snapshots: memorySnapshots() })
  await advance(fresh)
  expect(quotes(fresh)).toEqual(before)
  // Beside the honest pools at most those few without liquidity.
  expect(fresh.current()?.pools.length).toBeLessThanOrEqual(6 + 32)
  expect(HOSTILE_POOLS).toBe(1 + 9 + 9 + 1 + 1 + 3_979 + 1_000)
})

test('D3: hundreds of ticks leave every quote as it is where there are places for few, live and after a full read', async () => {
  const { tokens, act, mine } = cluster.venues
  const [, b, , d] = tokens as readonly [Hex, Hex, Hex, Hex]
  // Ten pools with 200 ticks. Nine of them and 180 ticks belong to listed tokens.
  const createSmall = () =>
    cluster.createSource({ snapshots: memorySnapshots(), settings: { poolsMax: 10, ticksMax: 200 } })
  const idsOf = (source: PoolSource) => source.current()?.pools.map(({ id }) => id)
  const source = createSmall()
  await advance(source)
  const followed = idsOf(source)
  expect(followed).toHaveLength(9)

  let count = 0
  // Positions of one unit in the deepest pool, each with two ticks of its own.
  const addDustUpTo = async (next: number) => {
    for (; count < next; count++) {
      const range = { tickLower: -60 * (count + 1), tickUpper: 60 * (count + 1) }
      await act('v4Liquidity', 'modifyLiquidity', [keyOf(b, d), { ...range, liquidityDelta: 1n, salt }, '0x'])
      if (count % 20 === 19) await mine()
    }
    await mine()
  }
  const unlimited = cluster.createSource({ snapshots: memorySnapshots() })
  // With 180 ticks it fills the limit; with 238 it exceeds it. Another pool has two.
  for (const [positions, ticks] of [
    [89, 180],
    [119, 238],
  ] as const) {
    await addDustUpTo(positions)
    const fresh = createSmall()
    for (const one of [source, unlimited, fresh]) await advance(one)
    const [whole] = unlimited.current()?.pools.filter((pool) => pool.kind === 'uniswap-v4' && pool.liquidity > 0n) ?? []
    expect(whole?.kind === 'uniswap-v4' && whole.ticks.length).toBe(ticks)
    for (const one of [source, fresh]) {
      expect(idsOf(one)?.sort()).toEqual(followed?.toSorted())
      expect(quotes(one)).toEqual(quotes(unlimited))
    }
  }
})

test('an operator pauses a pool, a token or a DEX, and it leaves routes and snapshots at once', async () => {
  const snapshots = memorySnapshots()
  const clock = { ms: Date.now() }
  const source = cluster.createSource({ snapshots, now: () => clock.ms })
  await advance(source)
  const before = quotes(source)
  const used = source.current()?.pools ?? []
  const [first] = used
  const isIn = async (id: string, pauses: readonly string[]) => {
    const restarted = cluster.createSource({ snapshots })
    restarted.pause(pauses)
    await advance(restarted)
    expect(restarted.counts().rereads).toBe(0)
    restarted.pause([])
    return restarted.current()?.pools.some((pool) => pool.id === id)
  }
  if (first === undefined) throw new Error('no pools')
  for (const scope of [`pool:${first.id}@eth`, `token:${first.tokens[0]}@eth`, `dex:${first.dex}@eth`]) {
    source.pause([scope, 'pool:0x01@base'])
    expect(source.current()?.pools.some(({ id }) => id === first.id)).toBe(false)
    await cluster.venues.mine()
    await advance(source)
    expect(await isIn(first.id, [scope])).toBe(false)
    source.pause([])
    expect(source.current()?.pools.some(({ id }) => id === first.id)).toBe(true)
    expect(quotes(source)).toEqual(before)
  }
})

test('the depth behind the alarm shrinks with the liquidity of listed pools', async () => {
  const { act, me, tokens, mine, read, address } = cluster.venues
  const source = cluster.createSource({ snapshots: memorySnapshots() })
  await advance(source)
  const { units: wei } = source.depth()
  const [a, b, c, d] = tokens as readonly [Hex, Hex, Hex, Hex]
  for (const [x, y] of [
    [a, b],
    [b, c],
    [c, d],
    [a, d],
  ] as const) {
    const pair = await read<Hex>(address.v2Factory, 'v2Factory', 'getPair', [x, y])
    const shares = await read<bigint>(pair, 'v2Pair', 'balanceOf', [me])
    const data = encodeFunctionData({
      abi: artifactOf('token').abi,
      functionName: 'approve',
      args: [address.v2Router, maxUint256],
    })
    await cluster.venues.anvil.send({ from: me, to: pair, data })
    await act('v2Router', 'removeLiquidity', [x, y, (shares * 9n) / 10n, 0n, 0n, me, DEADLINE])
  }
  await mine()
  await advance(source)
  const shrunk = source.depth()
  expect(shrunk.maximumUnits).toBe(wei)
  expect(shrunk.units).toBeLessThan(wei / 2)
})
