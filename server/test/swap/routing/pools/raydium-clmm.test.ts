import { decodeClmmPool, decodeClmmTickArray } from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import {
  CLMM_SQRT_PRICE_MAX,
  CLMM_SQRT_PRICE_MIN,
  CLMM_TICK_MAX,
  clmmSqrtPriceAtTick,
  clmmTickAtSqrtPrice,
} from '@swapyard/lib/pools/solana/raydium-clmm-tick.ts'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayClmmPools, replayRaydiumClmm } from '../../../../src/cli/lab/raydium-clmm.ts'
import { applyChanges, type Changes, expectedSwaps, type RecordedSwap } from './recorded-swaps.ts'

type Recorded = Readonly<{
  pools: readonly Readonly<{
    poolData: string
    tickArrays: readonly Readonly<{ startTickIndex: number; data: string }>[]
    cases: readonly (RecordedSwap &
      Readonly<{
        poolDataChanges?: Changes
        tickArrayDataChanges?: Readonly<Record<string, Changes>>
      }>)[]
  }>[]
}>

const CASES = 396
const ACCEPTED = 224

describe('Raydium CLMM', () => {
  const recorded = readPublicVectors<Recorded>('solana_raydium_clmm.json') as Recorded

  test.skipIf(recorded === null)(`the program's ${CASES} recorded swaps, accepted and refused`, () => {
    const expected = expectedSwaps(recorded.pools)
    expect(expected).toHaveLength(CASES)
    expect(expected.filter(({ error }) => error === null)).toHaveLength(ACCEPTED)
    expect(replayRaydiumClmm(recorded)).toEqual(expected)
  })

  test.skipIf(recorded === null)('pool and tick arrays equal the account bytes after every swap', () => {
    const replayed = replayClmmPools(recorded)
    let count = 0
    for (const { poolData, tickArrays, cases } of recorded.pools) {
      const poolBytes = Buffer.from(poolData, 'base64')
      const arrays = new Map(
        tickArrays.map(({ startTickIndex, data }) => [startTickIndex, Buffer.from(data, 'base64')]),
      )
      for (const { n, poolDataChanges = [], tickArrayDataChanges = {} } of cases) {
        applyChanges(poolBytes, poolDataChanges)
        for (const [start, changes] of Object.entries(tickArrayDataChanges))
          applyChanges(arrays.get(Number(start)), changes)
        const after = replayed[count]?.after
        expect(after?.state, `case ${n}`).toEqual(decodeClmmPool(poolBytes))
        expect([...(after?.tickArrays.values() ?? [])], `case ${n}`).toEqual(
          [...arrays.values()].map(decodeClmmTickArray),
        )
        count += 1
      }
    }
    expect(count).toBe(CASES)
  })

  test('the price limits of the program are the prices of the outermost ticks', () => {
    expect(clmmSqrtPriceAtTick(-CLMM_TICK_MAX)).toBe(CLMM_SQRT_PRICE_MIN)
    expect(clmmSqrtPriceAtTick(CLMM_TICK_MAX)).toBe(CLMM_SQRT_PRICE_MAX)
    expect(clmmSqrtPriceAtTick(0)).toBe(1n << 64n)
    expect(() => clmmSqrtPriceAtTick(CLMM_TICK_MAX + 1)).toThrow('tick 443637 is beyond 443636')
  })

  test.each([-443636, -30721, -1, 0, 1, 77777, 443635])('tick %i is the greatest tick at its price', (tick) => {
    const price = clmmSqrtPriceAtTick(tick)
    expect(clmmTickAtSqrtPrice(price)).toBe(tick)
    expect(clmmTickAtSqrtPrice(clmmSqrtPriceAtTick(tick + 1) - 1n)).toBe(tick)
  })
})
