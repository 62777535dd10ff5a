import fc from 'fast-check'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seed } from '../../../../test/support/seed.ts'
import { hex } from '../chains/evm/anvil.ts'
import { type Algebra, startAlgebra } from './algebra-venue.ts'

/* Algebra 2 on a real node with a dynamic fee: a quote never exceeds the output within the next minute. */

const BLOCKS = 60
const positions = [
  { lower: -60_000, upper: 60_000, liquidity: 10n ** 21n },
  { lower: -600, upper: 600, liquidity: 3n * 10n ** 21n },
]
const steps = fc.record({
  idle: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4_000 })),
  after: fc.integer({ min: 1, max: 60 }),
  back: fc.boolean(),
  amount: fc.bigInt({ min: 10n ** 15n, max: 2n * 10n ** 20n }),
})

let venue: Algebra
beforeAll(async () => {
  venue = await startAlgebra('algebra')
})
afterAll(() => venue?.anvil.stop())

test(`${BLOCKS} quotes are each honoured within a minute`, async () => {
  const { anvil, current, swapOf, send, balanceOf, ofPool } = venue
  const address = await venue.makePool(positions)
  const source = venue.createSource()
  const fees = new Set<number>()
  let exact = 0
  for (const [index, { idle, after, back, amount }] of fc.sample(steps, { seed, numRuns: BLOCKS }).entries()) {
    if (idle > 0) await anvil.request('evm_increaseTime', [idle])
    await anvil.mine()
    const [pool] = await current(source)
    if (pool?.kind !== 'algebra') throw new Error('no algebra pool')
    const { expected, target, to, calldata } = swapOf(pool, back, amount)
    expect(expected, `step ${index}`).not.toBeNull()
    const { timestamp } = await anvil.request<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
    await anvil.request('evm_setNextBlockTimestamp', [hex(Number(timestamp) + after)])
    const before = await balanceOf(target)
    await send('execute', [to, calldata])
    const paid = (await balanceOf(target)) - before
    const [, , , fee] = await ofPool<readonly [bigint, number, number, number]>(address, 'globalState')
    fees.add(fee)
    expect(paid, `step ${index}`).toBeGreaterThanOrEqual(expected ?? 0n)
    // With the forecast fee the amount is exact.
    if (fee === pool.feePpm[0]) {
      expect(paid).toBe(expected)
      exact++
    }
    if (index === BLOCKS / 2) await anvil.request('anvil_reorg', [3, []])
  }
  expect(exact).toBeGreaterThan(0)
  // The fee changed; how often depends on the random steps.
  expect(fees.size).toBeGreaterThan(1)
  await current(source)
  expect(source.counts()).toEqual({ reorgs: 1, differences: 0, rereads: 1 })
})
