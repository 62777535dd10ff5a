import { describe, expect, test } from 'vitest'
import { type Curve, outputOf } from '../curve.ts'
import { sampledCurve } from './sampled-curve.ts'
import { stableInvariant, stablePoint } from './stable-float.ts'

/** A function that is a hyperbola only for w = 1: y = 1000·(1 − (1000 ÷ (1000 + x))^w). */
const power = (w: number) => (x: number) => ({
  out: 1_000 * (1 - (1_000 / (1_000 + x)) ** w),
  price: w * (1_000 / (1_000 + x)) ** (w + 1),
})
/** Marginal price after `amount`, as a difference quotient. */
const priceAfter = (curve: Curve, amount: number): number => {
  const more = amount * 1e-4
  return (outputOf(curve, amount + more) - outputOf(curve, amount)) / more
}
const amounts = [1e-6, 0.01, 1, 7, 33, 150, 299]

describe('sampled curve', () => {
  test.each([0.25, 0.5, 2, 4])('approximates the power %d', (w) => {
    const curve = sampledCurve(power(w), 300, 1)
    if (curve === null) throw new Error('no curve')
    for (const amount of amounts) {
      expect(outputOf(curve, amount) / power(w)(amount).out).toBeCloseTo(1, 5)
      expect(priceAfter(curve, amount) / power(w)(amount).price).toBeCloseTo(1, 2)
    }
  })

  test('needs few samples for a hyperbola', () => {
    const curve = sampledCurve(power(1), 300, 1)
    if (curve === null) throw new Error('no curve')
    for (const amount of amounts) expect(outputOf(curve, amount) / power(1)(amount).out).toBeCloseTo(1, 6)
    expect(curve.price.length).toBeLessThan(5)
  })

  test('has decreasing prices even for a pool with a constant price', () => {
    const curve = sampledCurve((x) => ({ out: x * 0.999, price: 0.999 }), 1_000, 1)
    if (curve === null) throw new Error('no curve')
    expect(outputOf(curve, 500) / 499.5).toBeCloseTo(1, 6)
    expect(priceAfter(curve, 900)).toBeLessThan(priceAfter(curve, 100))
  })

  test('ends where the price reaches zero, and is null for a pool that pays nothing', () => {
    const curve = sampledCurve((x) => ({ out: 10 * x - x * x, price: 10 - 2 * x }), 32, 1)
    expect(curve?.startIn.at(-1)).toBe(4)
    expect(sampledCurve(() => ({ out: 0, price: 0 }), 10, 1)).toBeNull()
    expect(sampledCurve(() => ({ out: Number.NaN, price: Number.NaN }), 10, 1)).toBeNull()
  })
})

test('the invariant of a balanced stable pool is the sum of its balances, and its price is 1', () => {
  const balances = [1_000, 1_000, 1_000]
  const invariant = stableInvariant(balances, 600)
  expect(invariant).toBeCloseTo(3_000, 9)
  expect(stablePoint(balances, invariant, 600, 0, 2, 0)).toEqual({ out: 0, price: 1 })
  expect(stablePoint(balances, invariant, 600, 0, 2, 10).out).toBeCloseTo(9.9998, 3)
})

// Between two samples this curve is S-shaped, and the prices at the samples fit a hyperbola that pays 0.3 % more in the middle.
test('the curve of a stable pool with uneven balances pays what the pool pays', () => {
  const [balances, ann] = [[138.9818178, 77.83538173412725, 38.03093337873562], 3]
  const invariant = stableInvariant(balances, ann)
  const at = (amountIn: number) => stablePoint(balances, invariant, ann, 2, 1, amountIn)
  const curve = sampledCurve(at, 10 * balances.reduce((a, b) => a + b, 0), 1)
  if (curve === null) throw new Error('no curve')
  for (let amountIn = 0.01; amountIn < 2_000; amountIn *= 1.2)
    expect(Math.abs(outputOf(curve, amountIn) / at(amountIn).out - 1), `${amountIn}`).toBeLessThan(1e-4)
})
