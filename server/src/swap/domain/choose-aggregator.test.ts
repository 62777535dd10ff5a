import { describe, expect, it } from 'vitest'
import { beatsOwnRoute, chooseBestQuote } from './choose-aggregator.ts'

/* Ours pays 1 000 000; a million gas cost 10 000. Around an outside router goes 90 000 gas: 900. */
const own = { amountOut: 1_000_000n, gas: 100_000, millionGasOut: 10_000n, middleOut: 1_002_000n }

describe('an offer beats our own route', () => {
  it('where it pays more, net of the gas of both, by more than the gain', () => {
    // Net of gas ours pays 999 000; an offer with as much gas pays 1 900 less than it says; 5 bps are 500.
    expect(beatsOwnRoute(own, { amountOut: 1_001_400n, gas: 100_000 }, 5)).toBe(false)
    expect(beatsOwnRoute(own, { amountOut: 1_001_401n, gas: 100_000 }, 5)).toBe(true)
    expect(beatsOwnRoute(own, { amountOut: 1_000_901n, gas: 100_000 }, 0)).toBe(true)
    expect(beatsOwnRoute(own, { amountOut: 1_000_900n, gas: 100_000 }, 0)).toBe(false)
  })

  it('with a gas of 400 000 where it does not say', () => {
    expect(beatsOwnRoute(own, { amountOut: 1_004_400n, gas: null }, 5)).toBe(false)
    expect(beatsOwnRoute(own, { amountOut: 1_004_401n, gas: null }, 5)).toBe(true)
  })

  it('only where it can be true: at most 5 % above the middle price, or above our own route where that is more', () => {
    expect(beatsOwnRoute(own, { amountOut: 1_052_100n, gas: 1 }, 5)).toBe(true)
    expect(beatsOwnRoute(own, { amountOut: 1_052_101n, gas: 1 }, 5)).toBe(false)
    expect(beatsOwnRoute({ ...own, middleOut: 0n }, { amountOut: 1_050_000n, gas: 1 }, 5)).toBe(true)
    expect(beatsOwnRoute({ ...own, middleOut: 0n }, { amountOut: 1_050_001n, gas: 1 }, 5)).toBe(false)
  })

  it('also where nobody knows what gas costs', () => {
    expect(beatsOwnRoute({ ...own, millionGasOut: 0n }, { amountOut: 1_000_501n, gas: null }, 5)).toBe(true)
    expect(beatsOwnRoute({ ...own, millionGasOut: 0n }, { amountOut: 1_000_500n, gas: null }, 5)).toBe(false)
  })
})

it('of several the one that pays most net of gas is taken', () => {
  const cheap = { amountOut: 1_010_000n, gas: 200_000 }
  const dear = { amountOut: 1_012_000n, gas: 500_000 }
  const unlikely = { amountOut: 2_000_000n, gas: 1 }
  expect(chooseBestQuote(own, [unlikely, dear, cheap], 5)).toBe(cheap)
  expect(chooseBestQuote(own, [unlikely], 5)).toBeNull()
  expect(chooseBestQuote(own, [], 5)).toBeNull()
})

it('what it did not keep before is taken off what it says', () => {
  // A hundredth of 1 011 300 is 10 113; 1 001 400 is what does not beat our own route.
  const offer = { amountOut: 1_011_516n, gas: 100_000 }
  expect(beatsOwnRoute(own, offer, 5)).toBe(true)
  expect(beatsOwnRoute(own, { ...offer, penaltyPpm: 10_000n }, 5)).toBe(true)
  expect(beatsOwnRoute(own, { ...offer, penaltyPpm: 10_001n }, 5)).toBe(false)
  const honest = { amountOut: 1_005_000n, gas: 100_000, penaltyPpm: 0n }
  expect(chooseBestQuote(own, [{ ...offer, penaltyPpm: 8_000n }, honest], 5)).toBe(honest)
  expect(chooseBestQuote(own, [{ ...offer, penaltyPpm: 6_000n }, honest], 5)).toEqual({ ...offer, penaltyPpm: 6_000n })
})
