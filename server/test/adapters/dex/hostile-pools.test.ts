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
  const position = { ...ticks, liquidityDelta: 1_000n * ETHER, salt: `0x${'0'.repeat(64)}` }
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
}>

async function createHostilePools(plans: readonly Plan[]): Promise<void> {
  const { anvil, me } = cluster.venues
  let firstFee = 1
  for (const { tokens, count, liquidity, sqrtPrice, spacing = 60, range = FULL } of plans) {
    const [token0, token1] = [...tokens].sort() as [Hex, Hex]
    const price = token0 === tokens[0] ? sqrtPrice : (SQRT_ONE * SQRT_ONE) / sqrtPrice
    const position = { ...range, liquidityDelta: liquidity, salt: `0x${'0'.repeat(64)}` }
    for (let done = 0; done < count; done += PER_TRANSACTION) {
      const some = Math.min(PER_TRANSACTION, count - done)
      const args = [token0, token1, firstFee, some, spacing, price, position]
      const data = encodeFunctionData({ abi: hostile.abi, functionName: 'create', args })
      const hash = await anvil.send({ from: me, to: hostile.address, data, gas: GAS })
      await anvil.mine()
      const receipt = await anvil.request<{ status: Hex }>('eth_getTransactionReceipt', [hash])
      expect(receipt.status).toBe('0x1')
      firstFee += some
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
    { tokens: [weth, evil], count: 10, liquidity: ETHER / 100n, sqrtPrice: (SQRT_ONE * 102n) / 100n },
    { tokens: [evil, listed], count: 10, liquidity: ETHER, sqrtPrice: (SQRT_ONE * 102n) / 100n },
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
  expect(HOSTILE_POOLS).toBe(1 + 10 + 10 + 3_979 + 1_000)
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
