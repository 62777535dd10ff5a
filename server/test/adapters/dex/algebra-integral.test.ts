import fc from 'fast-check'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seed } from '../../../../test/support/seed.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { type Algebra, startAlgebra } from './algebra-venue.ts'

/* The published factory and pools of Algebra Integral on a real node: compares our state and output with theirs. */

const BLOCKS = 20
const BOUNDS = [-6_000, -600, -60, 0, 60, 600, 6_000] as const
const positions = [
  { lower: -60_000, upper: 60_000, liquidity: 10n ** 21n },
  { lower: -600, upper: 600, liquidity: 3n * 10n ** 21n },
]

let venue: Algebra
let pool: Hex
beforeAll(async () => {
  venue = await startAlgebra('algebra-integral')
})
afterAll(() => venue?.anvil.stop())

async function compareState(pools: readonly Pool[]): Promise<void> {
  const { ofPool } = venue
  const [sqrtPrice, tick, fee] = await ofPool<readonly [bigint, number, number]>(pool, 'globalState')
  const ticks: { index: number; gross: bigint; net: bigint }[] = []
  for (const index of [-60_000, ...BOUNDS, 60_000]) {
    const [gross, net] = await ofPool<readonly [bigint, bigint]>(pool, 'ticks', [index])
    if (gross > 0n) ticks.push({ index, gross, net })
  }
  const liquidity = await ofPool<bigint>(pool, 'liquidity')
  const [one] = pools
  if (one?.kind !== 'algebra') throw new Error('no algebra pool')
  expect(one).toMatchObject({ sqrtPrice, tick, liquidity, feePpm: [fee, fee] })
  expect(one.ticks.filter(({ index }) => Math.abs(index) <= 60_000)).toMatchObject(ticks)
}

const acts = fc.record({
  what: fc.integer({ min: 0, max: 5 }),
  back: fc.boolean(),
  amount: fc.bigInt({ min: 1n, max: 10n ** 20n }),
  bounds: fc.subarray([...BOUNDS], { minLength: 2, maxLength: 2 }),
  fee: fc.integer({ min: 0, max: 60_000 }),
})
type Act = typeof acts extends fc.Arbitrary<infer T> ? T : never

async function perform({ what, back, amount, bounds, fee }: Act): Promise<void> {
  const { send, onPool, ofPool, harness } = venue
  const [lower, upper] = bounds
  if (what <= 2) await send('run', [[{ zeroForOne: back, amountIn: amount }]])
  if (what === 3) await onPool(pool, 'mint', [harness, harness, lower, upper, amount, '0x'])
  if (what === 4) await onPool(pool, 'burn', [-600, 600, amount, '0x'])
  if (what === 5 && (await ofPool<number>(pool, 'fee')) !== fee) await onPool(pool, 'setFee', [fee])
}

describe("algebra integral's pools", () => {
  test('are found, updated in every block, rolled back after a reorg, and pay the computed output', async () => {
    const { current, swapOf, call, anvil, send, balanceOf } = venue
    pool = await venue.makePool(positions)
    const source = venue.createSource()
    await compareState(await current(source))
    let compared = 0
    for (const [index, act] of fc.sample(acts, { seed, numRuns: BLOCKS }).entries()) {
      await perform(act)
      const pools = await current(source)
      await compareState(pools)
      const { expected, to, calldata } = swapOf(pools[0] as Pool, act.back, act.amount)
      if (expected !== null) {
        expect(expected).toBe(BigInt(await call(to, calldata)))
        compared++
      }
      if (index === BLOCKS / 2) {
        await anvil.request('anvil_reorg', [3, []])
        await compareState(await current(source))
      }
    }
    expect(compared).toBeGreaterThan(BLOCKS / 2)
    expect(source.counts()).toEqual({ reorgs: 1, differences: 0, rereads: 1 })

    const [one] = await current(source)
    const { expected, target, to, calldata } = swapOf(one as Pool, false, 10n ** 18n)
    const before = await balanceOf(target)
    await send('execute', [to, calldata])
    expect((await balanceOf(target)) - before).toBe(expected)
  })

  test('are excluded while a before-swap plugin is active', async () => {
    const { onPool, current, createSource, factory } = venue
    pool = await venue.makePool(positions)
    const source = createSource()
    expect(await current(source)).toHaveLength(1)
    await onPool(pool, 'setPlugin', [factory])
    // An after-swap plugin changes no amount.
    await onPool(pool, 'setPluginConfig', [2])
    expect(await current(source)).toHaveLength(1)
    await onPool(pool, 'setPluginConfig', [1])
    expect(await current(source)).toEqual([])
    expect(await current(createSource())).toEqual([])
    await onPool(pool, 'setPluginConfig', [0])
    expect(await current(createSource())).toHaveLength(1)
  })
})
