import type { Point } from './sampled-curve.ts'

/*
 * StableSwap (Michael Egorov, "StableSwap — efficient mechanism for stablecoin liquidity", 2019) in float64, for curves only. Invariant D:
 *
 *     Ann·Σx + D = Ann·D + D^(n+1) ÷ (n^n·Πx)
 *
 * Used by Curve and Balancer. `ann` is A·n, as in their contracts.
 */
const STEPS_MAX = 64

export function stableInvariant(balances: readonly number[], ann: number): number {
  const count = balances.length
  const sum = balances.reduce((a, b) => a + b, 0)
  let invariant = sum
  for (let step = 0; step < STEPS_MAX; step++) {
    const term = invariantTerm(balances, invariant)
    const next = ((ann * sum + term * count) * invariant) / ((ann - 1) * invariant + (count + 1) * term)
    if (Math.abs(next - invariant) <= 1e-15 * next) return next
    invariant = next
  }
  return invariant
}

/** The balance of token `tokenIndex` that the invariant requires, given the other balances. */
function stableBalance(balances: readonly number[], invariant: number, ann: number, tokenIndex: number): number {
  const count = balances.length
  let sum = 0
  let c = invariant
  for (const [index, balance] of balances.entries()) {
    if (index === tokenIndex) continue
    sum += balance
    c *= invariant / (balance * count)
  }
  c *= invariant / (ann * count)
  const b = sum + invariant / ann
  let y = invariant
  for (let step = 0; step < STEPS_MAX; step++) {
    const next = (y * y + c) / (2 * y + b - invariant)
    if (Math.abs(next - y) <= 1e-15 * next) return next
    y = next
  }
  return y
}

/** D^(n+1) ÷ (n^n·Πx). */
function invariantTerm(balances: readonly number[], invariant: number): number {
  return balances.reduce((product, balance) => (product * invariant) / (balance * balances.length), invariant)
}

/** Output of `amountIn`, and the marginal price after it. Balances and amounts are in one common unit; no fee. */
export function stablePoint(
  balances: readonly number[],
  invariant: number,
  ann: number,
  from: number,
  to: number,
  amountIn: number,
): Point {
  const after = balances.with(from, (balances[from] as number) + amountIn)
  const balanceAfter = amountIn === 0 ? (balances[to] as number) : stableBalance(after, invariant, ann, to)
  const term = invariantTerm(after.with(to, balanceAfter), invariant)
  const price = (ann + term / (after[from] as number)) / (ann + term / balanceAfter)
  return { out: (balances[to] as number) - balanceAfter, price }
}
