import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outputOf } from '../../../src/swap/routing/curve.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { curveOf, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { type Market, orderOf, SOL, startMarket, tokenOf } from './solana-market.fixture.ts'

/* Swaps that the server builds, through the sandbox's node in this process: one pool of each DEX. */

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.stop())

const held = {
  USDC: 50_000_000_000n,
  SPAN: 50_000_000_000n,
  TICK: 10_000_000_000n,
  BINS: 10_000_000_000n,
  FOUR: 5_000_000_000_000n,
}

/** A pool that only this DEX has, and what to sell of each of its two tokens. */
const dexes = [
  ['raydium-cpmm', 'USDC', 'LEVY', 250_000_000n, 100_000_000n],
  ['raydium-clmm', 'USDC', 'TICK', 9_000_000_000n, 6_000_000_000n],
  ['meteora-dlmm', 'USDC', 'BINS', 1_000_000_000n, 5_000_000_000n],
  ['meteora-damm-v2', 'USDC', 'SPAN', 5_000_000_000n, 20_000_000_000n],
  ['meteora-damm-v2', 'SOL', 'SPAN', 10_000_000_000n, 6_000_000_000n],
  ['raydium-amm-v4', 'SOL', 'FOUR', 20_000_000_000n, 3_000_000_000_000n],
  ['pump-swap', 'SOL', 'COIN', 10_000_000_000n, 2_000_000_000_000n],
] as const

describe.each(dexes)('a pool of %s', (dex, first, second, ofFirst, ofSecond) => {
  test.each([
    [first, second, ofFirst],
    [second, first, ofSecond],
  ])('swaps %s for %s and pays what its maths says', async (from, to, amountIn) => {
    await market.pools.advance()
    const [tokenIn, tokenOut] = [tokenOf(from), tokenOf(to)]
    const [pool, ...others] = market.poolsOf(from, to).filter((one) => one.dex === dex)
    if (pool === undefined || others.length > 0) throw new Error(`not one pool of ${dex}`)
    const swap = { pool, tokenIn: pool.tokens.indexOf(tokenIn), tokenOut: pool.tokens.indexOf(tokenOut) }
    const executed = executeRoute([{ ...swap, share: SHARE_ALL }], tokenIn, tokenOut, amountIn)
    if (executed.amountOut === null) throw new Error('the pool cannot trade')
    const user = await market.createFunded(100_000_000_000n, { ...held, [from === 'SOL' ? 'USDC' : from]: amountIn })
    const before = await market.chain.readBalance(user.address, tokenOut)
    const prepared = await market.chain.prepare(orderOf(user, [tokenIn, tokenOut], executed.swaps))
    expect(prepared.simulatedOut).toBe(executed.amountOut)
    const { action, seen } = await market.send(user, prepared.swap)
    expect(action).toMatchObject({ kind: 'swap', tokenIn, tokenOut, amountIn, pools: [pool.id] })
    expect(seen).toMatchObject({ kind: 'included', ok: true, received: executed.amountOut })
    const gained = (await market.chain.readBalance(user.address, tokenOut)) - before
    if (tokenOut !== SOL) expect(gained).toBe(executed.amountOut)
    // The next read has the state that the maths computed: a second swap pays the same by both.
    await market.pools.advance()
    const [again] = market.poolsOf(from, to).filter((one) => one.dex === dex)
    const next = swapExact(pool, swap.tokenIn, swap.tokenOut, amountIn)?.next
    expect(next && swapExact(next, swap.tokenIn, swap.tokenOut, amountIn)?.amountOut).toBe(
      again && swapExact(again, swap.tokenIn, swap.tokenOut, amountIn)?.amountOut,
    )
  })
})

test('the curve of each pool pays what its swaps pay', () => {
  let compared = 0
  for (const pool of market.currentPools())
    for (const [from, to] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const curve = curveOf(pool, from, to)
      if (curve === null) throw new Error(`${pool.dex} ${pool.id} has no curve`)
      for (let index = 1; index < curve.price.length; index++)
        expect(curve.price[index]).toBeLessThan(curve.price[index - 1] as number)
      for (const units of [10n ** 8n, 10n ** 9n, 10n ** 10n, 10n ** 11n]) {
        const exact = swapExact(pool, from, to, units)
        const output = outputOf(curve, Number(units))
        if (exact === null || exact.amountOut < 10n ** 6n || Number.isNaN(output)) continue
        compared += 1
        expect(Math.abs(output / Number(exact.amountOut) - 1), `${pool.dex} ${units}`).toBeLessThan(1e-5)
      }
    }
  expect(compared).toBeGreaterThan(80)
})
