import { incidentPairs, type Subproblem, tradePair } from './subproblem.ts'

/*
 * Coordinate descent on the dual (`dual.ts`), one token or group of tokens at a time. With all other dual prices fixed, the surplus of a
 * token (its inflow less its outflow) does not decrease with its own price, so bisection finds the price at which the surplus is zero.
 * Convergence is slow where tokens trade with each other, but it does not stall above the minimum, as Newton's method does where a flow
 * crosses the ends of many ticks or pools at once.
 */
const BISECTIONS_MAX = 60
/** Largest factor by which one sweep lowers a dual price. */
const FALL_FACTOR_MAX = 1e4
/** Largest factor by which one sweep raises a dual price, which may have collapsed to nearly zero. */
const RISE_FACTOR_MAX = 1e40
const FIRST_FACTOR = 1.0001
/** Relative width of the bracket at which bisection ends. */
const TOLERANCE = 1e-15

const trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/**
 * Sets each dual price, in token order, to the point of zero surplus. The price of the target stays 1. Tokens that trade with each other
 * constrain each other's prices, so the prices of each such group are first scaled by one common factor.
 */
export function balanceTokens(subproblem: Subproblem, input: number): void {
  const incident = incidentPairs(subproblem)
  for (const group of tradingGroups(subproblem)) {
    if (group.includes(1) || group.length === 1) continue
    const pairs = new Set(group.flatMap((token) => incident[token] ?? []))
    balance(subproblem, group, [...pairs], group.includes(0) ? input : 0)
  }
  for (let token = 0; token < subproblem.value.length; token++)
    if (token !== 1) balance(subproblem, [token], incident[token] as readonly number[], token === 0 ? input : 0)
}

/** Connected groups of tokens, joined by pools whose trade depends on the price (nonzero sensitivity). */
function tradingGroups(subproblem: Subproblem): readonly (readonly number[])[] {
  const { from, to, value } = subproblem
  const groups = Array.from(value, (_, token) => [token])
  for (let pair = 0; pair < from.length; pair++) {
    const [a, b] = [groups[from[pair] as number] as number[], groups[to[pair] as number] as number[]]
    if (a === b) continue
    tradePair(subproblem, pair, trade)
    if (trade.sensitivity === 0) continue
    a.push(...b)
    for (const token of b) groups[token] = a
  }
  return [...new Set(groups)]
}

/** Scales the dual prices of `tokens` by the factor at which the total value of their surpluses is zero. */
function balance(subproblem: Subproblem, tokens: readonly number[], pairs: readonly number[], input: number): void {
  const { from, to, value, tollFactor } = subproblem
  const initial = tokens.map((token) => value[token] as number)
  const isMoved = new Uint8Array(value.length)
  for (const token of tokens) isMoved[token] = 1
  const surplusAt = (factor: number): number => {
    for (const [index, token] of tokens.entries()) value[token] = (initial[index] as number) * factor
    let surplus = input === 0 ? 0 : (value[0] as number) * input
    for (const pair of pairs) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      tradePair(subproblem, pair, trade)
      if (isMoved[a] === 1) surplus -= trade.in * (value[a] as number)
      if (isMoved[b] === 1) surplus += trade.out * tollFactor * (value[b] as number)
    }
    return surplus
  }
  const initialSurplus = surplusAt(1)
  if (initialSurplus === 0) return
  // Bracket: the surplus is at most zero at `low` and positive at `high`.
  let low = 1
  let high = 1
  for (let factor = FIRST_FACTOR; ; factor *= factor) {
    const end = initialSurplus > 0 ? 1 / factor : factor
    const surplus = surplusAt(end)
    if (initialSurplus > 0) {
      low = end
      if (surplus <= 0) break
      high = end
      // All pools are at capacity: this sweep stops at the largest factor.
      if (factor > FALL_FACTOR_MAX) return
    } else {
      high = end
      if (surplus >= 0) break
      low = end
      if (factor > RISE_FACTOR_MAX) {
        surplusAt(1)
        return
      }
    }
  }
  for (let bisections = 0; bisections < BISECTIONS_MAX && high - low > TOLERANCE * high; bisections++) {
    const middle = high > 2 * low ? Math.sqrt(low * high) : (low + high) / 2
    if (surplusAt(middle) > 0) high = middle
    else low = middle
  }
  surplusAt((low + high) / 2)
}
