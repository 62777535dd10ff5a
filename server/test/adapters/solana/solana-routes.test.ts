import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRouteFinder } from '../../../src/adapters/router/find-route.ts'
import { TRANSACTION_BYTES_MAX } from '../../../src/adapters/solana/transaction.ts'
import { findPausable } from '../../../src/admin/actions/lookup.ts'
import { pausesOfPool } from '../../../src/swap/domain/pool-pauses.ts'
import type { RouteOrder } from '../../../src/swap/ports/router.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { narrowPool } from '../../../src/swap/routing/pools/solana/narrow-pool.ts'
import { parsePoolName } from '../../admin/pools.fixture.ts'
import { createUser, type Market, orderOf, SOL, startMarket, tokenOf } from './solana-market.fixture.ts'

/* Routes over several pools of the sandbox's market: found, built, and executed by its node in this process. */

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.stop())

const slippagePpm = 5_000

async function route(from: string, to: string, amountIn: bigint, changes: Partial<RouteOrder> = {}) {
  await market.pools.advance()
  const at = market.pools.current()
  if (at === null) throw new Error('the pools are not read')
  const order = { network: 'sol', tokenIn: tokenOf(from), tokenOut: tokenOf(to), amountIn, slippagePpm, ...changes }
  return createRouteFinder({ budgetMs: 1_000 })(at, order)
}

const sizeOf = (unsigned: string): number => Buffer.from(unsigned, 'base64').length

test.each([
  ['TICK', 'BINS', 'USDC', 900_000_000n],
  ['BINS', 'FOUR', 'SOL', 2_000_000_000n],
])(
  'a swap of %s for %s passes through %s and leaves a part of it with the user',
  async (from, to, middle, amountIn) => {
    const routed = await route(from, to, amountIn)
    expect(routed.remainders).toHaveLength(1)
    const [remainder] = routed.remainders ?? []
    expect(remainder?.token).toBe(tokenOf(middle))
    const paid = routed.swaps.reduce(
      (sum, one) => (one.pool.tokens[one.tokenOut] === tokenOf(middle) ? sum + one.amountOut : sum),
      0n,
    )
    // A half percent, the slippage.
    expect(remainder?.units).toBe(paid - (paid * 995_000n) / 1_000_000n)
    const user = await market.createFunded(1_000_000_000n, { [from]: amountIn })
    const before = await market.chain.readBalance(user.address, tokenOf(middle))
    const prepared = await market.chain.prepare(orderOf(user, [tokenOf(from), tokenOf(to)], routed.swaps))
    expect(prepared.simulatedOut).toBe(routed.amountOut)
    const { action, seen } = await market.send(user, prepared.swap)
    expect(action).toMatchObject({ tokenIn: tokenOf(from), tokenOut: tokenOf(to), amountIn })
    expect(action?.kind === 'swap' && action.routeTokens).toEqual([tokenOf(from), tokenOf(middle), tokenOf(to)])
    expect(seen).toMatchObject({ kind: 'included', ok: true, received: routed.amountOut })
    const left = (await market.chain.readBalance(user.address, tokenOf(middle))) - before
    // As SOL it pays the network's fee and the rent of the token account.
    if (middle === 'USDC') expect(left).toBe(remainder?.units)
    else expect((remainder?.units ?? 0n) - left).toBeLessThan(3_000_000n)
  },
)

test('two hops leave at most a hundredth, whatever the slippage', async () => {
  const routed = await route('TICK', 'BINS', 900_000_000n, { slippagePpm: 500_000 })
  const paid = routed.swaps.reduce(
    (sum, one) => (one.pool.tokens[one.tokenOut] === tokenOf('USDC') ? sum + one.amountOut : sum),
    0n,
  )
  expect(routed.remainders?.[0]?.units).toBe(paid - (paid * 99n) / 100n)
})

test('two hops through the pools with the most accounts are no route', async () => {
  await expect(route('COIN', 'FOUR', 800_000_000_000n)).rejects.toMatchObject({
    ...{ code: 'NO_ROUTE', message: 'a transaction cannot hold all accounts of the pools between the two tokens' },
  })
})

test('two hops through pools of DLMM and AMM v4 fit with a referrer fee', async () => {
  const [from, to] = [tokenOf('BINS'), tokenOf('FOUR')]
  const routed = await route('BINS', 'FOUR', 90_000_000n, { feePpm: 10_000 })
  const user = await market.createFunded(1_000_000_000n, { BINS: 90_000_000n })
  const feeTo = createUser().address
  const fee = routed.amountOut / 100n
  const terms = { feePpm: 10_000, feeTo, minReceived: (routed.amountOut * 98n) / 100n }
  const { swap } = await market.chain.prepare(orderOf(user, [from, to], routed.swaps, terms))
  expect(sizeOf(swap)).toBeLessThanOrEqual(TRANSACTION_BYTES_MAX)
  const { seen } = await market.send(user, swap)
  expect(seen).toMatchObject({ kind: 'included', ok: true, received: routed.amountOut - fee, fee })
  expect(await market.chain.readBalance(feeTo, to)).toBe(fee)
})

test('three pools in a row are no route', async () => {
  await expect(route('TICK', 'FOUR', 900_000_000n)).rejects.toMatchObject({ code: 'NO_ROUTE' })
})

test('a swap to SOL over an intermediate token pays what was quoted, without the rent of the account', async () => {
  const at = await route('BINS', 'SOL', 2_000_000_000n)
  expect(at.remainders ?? []).toEqual([])
  // Only the pools with USDC: both hops are needed.
  const direct = market.poolsOf('BINS', 'SOL').map(({ id }) => id)
  const routed = await route('BINS', 'SOL', 2_000_000_000n, { avoid: direct })
  const user = await market.createFunded(1_000_000_000n, { BINS: 2_000_000_000n })
  const prepared = await market.chain.prepare(orderOf(user, [tokenOf('BINS'), SOL], routed.swaps))
  expect(prepared.simulatedOut).toBe(routed.amountOut)
  const { seen } = await market.send(user, prepared.swap)
  expect(seen).toMatchObject({ kind: 'included', ok: true, received: routed.amountOut })
})

test('splits an amount over more than two pools, in one transaction', async () => {
  const amountIn = 4_000_000_000_000n
  // The other pools of the pair name more accounts: two of them fill a transaction.
  const others = market.poolsOf('SOL', 'USDC').filter(({ kind }) => kind === 'raydium-clmm' || kind === 'meteora-dlmm')
  const routed = await route('SOL', 'USDC', amountIn, { avoid: others.map(({ id }) => id) })
  expect(routed.swaps).toHaveLength(3)
  const user = await market.createFunded(amountIn + 1_000_000_000n)
  const prepared = await market.chain.prepare(orderOf(user, [SOL, tokenOf('USDC')], routed.swaps))
  expect(sizeOf(prepared.swap)).toBeLessThanOrEqual(TRANSACTION_BYTES_MAX)
  const { seen } = await market.send(user, prepared.swap)
  expect(seen).toMatchObject({ kind: 'included', ok: true, received: routed.amountOut })
})

test('uses fewer pools where a transaction with the fee would be too large', async () => {
  const amountIn = 4_000_000_000_000n
  const [free, paying] = [
    await route('SOL', 'USDC', amountIn),
    await route('SOL', 'USDC', amountIn, { feePpm: 10_000 }),
  ]
  expect(paying.swaps.length).toBeLessThanOrEqual(free.swaps.length)
  const user = await market.createFunded(amountIn + 1_000_000_000n)
  const terms = { feePpm: 10_000, feeTo: createUser().address }
  const order = orderOf(user, [SOL, tokenOf('USDC')], paying.swaps, terms)
  const fee = paying.amountOut / 100n
  const prepared = await market.chain.prepare({ ...order, minReceived: order.minReceived - fee })
  expect(sizeOf(prepared.swap)).toBeLessThanOrEqual(TRANSACTION_BYTES_MAX)
})

test.each([
  ['meteora-dlmm', 'USDC', 'SOL', 20_000_000n, 30_000_000_000n],
  ['meteora-dlmm', 'SOL', 'USDC', 100_000_000n, 200_000_000_000n],
  ['raydium-clmm', 'USDC', 'SOL', 20_000_000n, 300_000_000_000n],
  ['raydium-clmm', 'SOL', 'USDC', 100_000_000n, 2_000_000_000_000n],
] as const)(
  'a swap in pools of %s for %s succeeds after another one has moved the price',
  async (dex, from, to, units, other) => {
    await market.pools.advance()
    const pair = [tokenOf(from), tokenOf(to)] as const
    for (const whole of market.poolsOf(from, to).filter((one) => one.dex === dex)) {
      const swapOf = (of: readonly [string, string], amount: bigint) => {
        const tokenIn = whole.tokens.indexOf(of[0])
        const swap = { pool: narrowPool(whole, tokenIn, amount), tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }
        const executed = executeRoute([{ ...swap, pool: whole }], of[0], of[1], amount)
        if (executed.amountOut === null) throw new Error('the pool cannot trade')
        return executed.swaps.map((one) => ({ ...one, pool: swap.pool }))
      }
      const user = await market.createFunded(1_000_000_000n, { USDC: units })
      const { swap } = await market.chain.prepare(orderOf(user, pair, swapOf(pair, units), { minReceived: 1n }))
      // In the same direction, so that the price leaves the bins and ticks of the first swap.
      const mover = await market.createFunded(other + 1_000_000_000n, { USDC: other })
      const moved = await market.chain.prepare(orderOf(mover, pair, swapOf(pair, other), { minReceived: 1n }))
      expect((await market.send(mover, moved.swap)).seen).toMatchObject({ kind: 'included', ok: true })
      expect((await market.send(user, swap)).seen).toMatchObject({ kind: 'included', ok: true })
      await market.pools.advance()
    }
  },
)

test('a swap beside the end of a bin array succeeds after another one has left the array', async () => {
  const meme = market.unlistedMint
  const edge = await market.addPairAtEdge('edge', meme)
  await market.request(meme)
  const whole = market.currentPools().find(({ id }) => id === edge)
  if (whole === undefined) throw new Error('the pair is not followed')
  const tokenIn = whole.tokens.indexOf(SOL)
  const swapsOf = (amount: bigint) => {
    const executed = executeRoute(
      [{ pool: whole, tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }],
      SOL,
      meme,
      amount,
    )
    if (executed.amountOut === null) throw new Error('the pool cannot trade')
    return executed.swaps.map((one) => ({ ...one, pool: narrowPool(whole, tokenIn, amount) }))
  }
  const pair = [SOL, meme] as const
  const [user, mover] = [await market.createFunded(1_000_000_000n), await market.createFunded(40_000_000_000n)]
  const { swap } = await market.chain.prepare(orderOf(user, pair, swapsOf(1_000_000n), { minReceived: 1n }))
  // Two bins further.
  const moved = await market.chain.prepare(orderOf(mover, pair, swapsOf(25_000_000_000n), { minReceived: 1n }))
  expect((await market.send(mover, moved.swap)).seen).toMatchObject({ kind: 'included', ok: true })
  expect((await market.send(user, swap)).seen).toMatchObject({ kind: 'included', ok: true })
})

test.each([
  ['dex', (): string => 'pump-swap', 'SOL', 'COIN'],
  ['token', (): string => tokenOf('TICK'), 'USDC', 'TICK'],
  ['pool', (): string => market.poolsOf('SOL', 'COIN')[0]?.id ?? '', 'SOL', 'COIN'],
] as const)('a %s that an operator pauses has no route until the pause ends', async (kind, nameOf, from, to) => {
  const named = `${nameOf()}@sol`
  const scope = `${kind}:${await findPausable({ parsePoolName }, kind, named)}`.replace('@sol', '')
  const units = from === 'SOL' ? 1_000_000_000n : 100_000_000n
  try {
    market.pools.pause([`${scope}@eth`])
    expect((await route(from, to, units)).swaps).not.toHaveLength(0)
    market.pools.pause([`${scope}@sol`])
    await expect(route(from, to, units)).rejects.toMatchObject({ code: 'NO_ROUTE' })
    // It is still listed, so that its pause can be ended.
    expect(market.pools.listPools().some((pool) => pausesOfPool(pool, [`${scope}@sol`], 'sol').length > 0)).toBe(true)
  } finally {
    market.pools.pause([])
  }
  expect((await route(from, to, units)).swaps).not.toHaveLength(0)
})
