import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { curveOf, type Pool, type PoolKind, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { randomPools } from './random-pools.ts'

const kinds = Object.keys(randomPools) as readonly PoolKind[]

/** The pool without reserves. */
const emptyPool = (pool: Pool): Pool => {
  if (pool.kind === 'raydium-cpmm') return { ...pool, reserves: [0n, 0n], state: { ...pool.state, vaults: [0n, 0n] } }
  if (pool.kind === 'raydium-amm-v4') return { ...pool, reserves: [0n, 0n], state: { ...pool.state, vaults: [0n, 0n] } }
  if (pool.kind === 'pump-swap')
    return { ...pool, reserves: [0n, 0n], state: { ...pool.state, baseReserve: 0n, quoteReserve: 0n } }
  if (pool.kind === 'raydium-clmm') {
    const { state } = pool.state
    return { ...pool, arrays: [], state: { ...pool.state, state: { ...state, liquidity: 0n, arrayStarts: [] } } }
  }
  if (pool.kind === 'meteora-dlmm') {
    const { pair } = pool.state
    return { ...pool, arrays: [], state: { ...pool.state, pair: { ...pair, arrayIndexes: [] } } }
  }
  if (pool.kind === 'meteora-damm-v2') {
    const state = { ...pool.state.state, liquidity: 0n, reserves: [0n, 0n] as const }
    return { ...pool, state: { ...pool.state, state } }
  }
  if ('reserves' in pool) return { ...pool, reserves: [0n, 0n] }
  if ('balances' in pool) return { ...pool, balances: pool.balances.map(() => 0n) }
  if ('bids' in pool) return { ...pool, bids: [], asks: [] }
  if ('bins' in pool) return { ...pool, bins: [] }
  return 'liquidity' in pool ? { ...pool, liquidity: 0n, ticks: [] } : pool
}

describe.each(kinds)('%s returns null, and never throws, for', (kind) => {
  const [pool] = fc.sample(randomPools[kind] as fc.Arbitrary<Pool>, { seed: 1, numRuns: 1 })
  if (pool === undefined) throw new Error('fast-check returned no sample')

  test.each([
    ['an amount of zero', 0, 1, 0n],
    ['a negative amount', 0, 1, -1n],
    ['equal tokens', 1, 1, 1_000_000n],
    ['an unknown output token', 0, 9, 1_000_000n],
    ['an unknown input token', 9, 0, 1_000_000n],
    ['a negative token index', -1, 2, 1_000_000n],
  ])('%s', (_, from, to, amount) => {
    expect(swapExact(pool, from, to, amount)).toBeNull()
  })

  test('curves of unknown or equal tokens', () => {
    for (const [from, to] of [
      [0, 0],
      [0, 9],
      [9, 0],
      [-1, 2],
    ] as const)
      expect(curveOf(pool, from, to)).toBeNull()
  })

  test('an empty pool', () => {
    expect(swapExact(emptyPool(pool), 0, 1, 1_000_000n)).toBeNull()
    expect(curveOf(emptyPool(pool), 0, 1)).toBeNull()
  })

  test('extreme amounts, unless it pays a positive output', () => {
    for (const amount of [1n << 112n, 1n << 127n, 1n << 128n, 1n << 200n, 1n << 255n]) {
      const result = swapExact(pool, 0, 1, amount)
      if (result !== null) expect(result.amountOut).toBeGreaterThan(0n)
    }
  })
})
