import { expect, test } from 'vitest'
import { createDroppedPools } from './dropped-pools.ts'
import type { PoolIdentity } from './tracked-pool.ts'

const pool = (id: string, ...tokens: string[]) => ({ id, tokens }) as unknown as PoolIdentity
const idsOf = (pools: readonly PoolIdentity[]) => pools.map(({ id }) => id)

test('finds dropped pools by their tokens, those of connector tokens only if they have no other token', () => {
  const dropped = createDroppedPools(new Set(['weth', 'usdc']))
  dropped.remember([pool('wx', 'weth', 'x'), pool('xy', 'x', 'y'), pool('wu', 'weth', 'usdc')])
  expect(idsOf(dropped.find(['x']))).toEqual(['xy', 'wx'])
  expect(idsOf(dropped.find(['x', 'y']))).toEqual(['xy', 'wx'])
  expect(idsOf(dropped.find(['weth']))).toEqual(['wu'])
  expect(dropped.find(['z'])).toEqual([])
})

test('is bounded: the newest 32 of a token, and 5 000 in all', () => {
  const dropped = createDroppedPools(new Set(['weth']))
  dropped.remember([pool('first', 'weth', 'y')])
  dropped.remember(Array.from({ length: 5_000 }, (_, n) => pool(`${n}`, 'weth', 'x')))
  expect(dropped.find(['x'])).toHaveLength(32)
  expect(idsOf(dropped.find(['x']))[0]).toBe('4999')
  expect(dropped.find(['y'])).toEqual([])
})
