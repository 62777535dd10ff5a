import { describe, expect, it } from 'vitest'
import { beatsOwnRoute, chooseBestQuote } from './choose-aggregator.ts'

/* Our route pays 1 000 000; a million gas cost 10 000. An aggregator has an overhead of 90 000 gas: 900. */
const own = {
  ...{ amountOut: 1_000_000n, gas: 100_000, millionGasOut: 10_000n, middleOut: 1_002_000n, referenceOut: null },
  aggregatorGas: { unreported: 400_000, overhead: 90_000 },
}

describe('beatsOwnRoute', () => {
  it('D9: rejects quotes two percent above the reference, unless our own route pays that, too', () => {
    const beats = (amountOut: bigint, referenceOut: bigint) =>
      beatsOwnRoute({ ...own, referenceOut }, { amountOut, gas: 1 }, 5)
    expect([beats(1_030_200n, 1_010_000n), beats(1_030_201n, 1_010_000n)]).toEqual([true, false])
    // Our own route pays 1 000 000, more than the reference says: it is late.
    expect([beats(1_020_000n, 900_000n), beats(1_020_001n, 900_000n)]).toEqual([true, false])
  })

  it('requires more than the minimum gain, net of the gas of both', () => {
    // Net of gas our route pays 999 000. A quote with the same gas loses 1 900 to gas and overhead. 5 bps are 500.
    expect(beatsOwnRoute(own, { amountOut: 1_001_400n, gas: 100_000 }, 5)).toBe(false)
    expect(beatsOwnRoute(own, { amountOut: 1_001_401n, gas: 100_000 }, 5)).toBe(true)
    expect(beatsOwnRoute(own, { amountOut: 1_000_901n, gas: 100_000 }, 0)).toBe(true)
    expect(beatsOwnRoute(own, { amountOut: 1_000_900n, gas: 100_000 }, 0)).toBe(false)
  })

  it('assumes 400 000 gas for a quote without gas', () => {
    expect(beatsOwnRoute(own, { amountOut: 1_004_400n, gas: null }, 5)).toBe(false)
    expect(beatsOwnRoute(own, { amountOut: 1_004_401n, gas: null }, 5)).toBe(true)
  })

  it('counts the fee of the network in the output, by what the network assumes of an unreported one', () => {
    // Solana: 300 000 compute units are assumed, and 20 000 are ours: 3 200 against the 1 000 of our route, and 5 bps are 500.
    const solana = { ...own, aggregatorGas: { unreported: 300_000, overhead: 20_000 } }
    expect(beatsOwnRoute(solana, { amountOut: 1_002_700n, gas: null }, 5)).toBe(false)
    expect(beatsOwnRoute(solana, { amountOut: 1_002_701n, gas: null }, 5)).toBe(true)
    // Sui: 3 000 units at the price of two million for a million are 6 000; ours are 1 000 units, 2 000.
    const sui = { ...own, gas: 1_000, millionGasOut: 2_000_000n, aggregatorGas: { unreported: 3_000, overhead: 0 } }
    expect(beatsOwnRoute(sui, { amountOut: 1_004_500n, gas: null }, 5)).toBe(false)
    expect(beatsOwnRoute(sui, { amountOut: 1_004_501n, gas: null }, 5)).toBe(true)
  })

  it('rejects quotes more than 5 % above the middle price, or above our route if that is higher', () => {
    expect(beatsOwnRoute(own, { amountOut: 1_052_100n, gas: 1 }, 5)).toBe(true)
    expect(beatsOwnRoute(own, { amountOut: 1_052_101n, gas: 1 }, 5)).toBe(false)
    expect(beatsOwnRoute({ ...own, middleOut: 0n }, { amountOut: 1_050_000n, gas: 1 }, 5)).toBe(true)
    expect(beatsOwnRoute({ ...own, middleOut: 0n }, { amountOut: 1_050_001n, gas: 1 }, 5)).toBe(false)
  })

  it('compares outputs alone if the gas price is unknown', () => {
    expect(beatsOwnRoute({ ...own, millionGasOut: 0n }, { amountOut: 1_000_501n, gas: null }, 5)).toBe(true)
    expect(beatsOwnRoute({ ...own, millionGasOut: 0n }, { amountOut: 1_000_500n, gas: null }, 5)).toBe(false)
  })
})

it('chooses the quote with the highest output net of gas', () => {
  const cheap = { amountOut: 1_010_000n, gas: 200_000 }
  const expensive = { amountOut: 1_012_000n, gas: 500_000 }
  const implausible = { amountOut: 2_000_000n, gas: 1 }
  expect(chooseBestQuote(own, [implausible, expensive, cheap], 5)).toBe(cheap)
  expect(chooseBestQuote(own, [implausible], 5)).toBeNull()
  expect(chooseBestQuote(own, [], 5)).toBeNull()
})

it('subtracts the penalty from the quote', () => {
  // A hundredth of 1 011 516 is 10 115: 1 001 401 remain, the least that beats our route.
  const quote = { amountOut: 1_011_516n, gas: 100_000 }
  expect(beatsOwnRoute(own, quote, 5)).toBe(true)
  expect(beatsOwnRoute(own, { ...quote, penaltyPpm: 10_000n }, 5)).toBe(true)
  expect(beatsOwnRoute(own, { ...quote, penaltyPpm: 10_001n }, 5)).toBe(false)
  const reliable = { amountOut: 1_005_000n, gas: 100_000, penaltyPpm: 0n }
  expect(chooseBestQuote(own, [{ ...quote, penaltyPpm: 8_000n }, reliable], 5)).toBe(reliable)
  expect(chooseBestQuote(own, [{ ...quote, penaltyPpm: 6_000n }, reliable], 5)).toEqual({
    ...quote,
    penaltyPpm: 6_000n,
  })
})
