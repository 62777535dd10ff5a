import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { curveOf, type Pool, type PoolKind, swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { randomPools } from './random-pools.ts'

const kinds = Object.keys(randomPools) as readonly PoolKind[]

/** Nothing where a list of amounts was. */
const emptied = (pool: Pool): Pool => {
  if ('reserves' in pool) return { ...pool, reserves: [0n, 0n] }
  if ('balances' in pool) return { ...pool, balances: pool.balances.map(() => 0n) }
  if ('bins' in pool) return { ...pool, bins: [] }
  return { ...pool, liquidity: 0n, ticks: [] }
}

describe.each(kinds)('%s refuses, and never throws,', (kind) => {
  const [pool] = fc.sample(randomPools[kind] as fc.Arbitrary<Pool>, { seed: 1, numRuns: 1 })
  if (pool === undefined) throw new Error('one was drawn')

  test.each([
    ['nothing', 0, 1, 0n],
    ['less than nothing', 0, 1, -1n],
    ['a token for itself', 1, 1, 1_000_000n],
    ['a token that is not there', 0, 9, 1_000_000n],
    ['for a token that is not there', 9, 0, 1_000_000n],
    ['a place below the first', -1, 2, 1_000_000n],
  ])('%s', (_, from, to, amount) => {
    expect(swapExact(pool, from, to, amount)).toBeNull()
  })

  test('curves of tokens that are not there', () => {
    for (const [from, to] of [
      [0, 0],
      [0, 9],
      [9, 0],
      [-1, 2],
    ] as const)
      expect(curveOf(pool, from, to)).toBeNull()
  })

  test('an empty pool', () => {
    expect(swapExact(emptied(pool), 0, 1, 1_000_000n)).toBeNull()
    expect(curveOf(emptied(pool), 0, 1)).toBeNull()
  })

  test('more than there is in the scenario, or pays within its bounds', () => {
    for (const amount of [1n << 112n, 1n << 127n, 1n << 128n, 1n << 200n, 1n << 255n]) {
      const swapped = swapExact(pool, 0, 1, amount)
      if (swapped !== null) expect(swapped.amountOut).toBeGreaterThan(0n)
    }
  })
})
