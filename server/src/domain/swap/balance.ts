import { incidentPairs, type Problem, tradePair } from './problem.ts'

/*
 * The dual, one token at a time: with all other values as they are, what is left of a token only rises with its own value, so
 * that the value at which nothing is left is found by halving. Slow where tokens hang together, but it never stands still
 * short of the least bound, as Newton's method does where a flow crosses many ends of ticks or pools at once.
 */
const HALVES_MAX = 60
/** A sweep moves a value by this factor at most. */
const FACTOR_MAX = 1e4
const FIRST_FACTOR = 1.0001
/** Values nearer to each other than this are the same. */
const EXACT = 1e-15

const trade = { in: 0, out: 0, earned: 0, give: 0 }

/** Moves each value to where nothing is left of its token, in the order of the tokens; the target's own stays. */
export function balanceTokens(problem: Problem, input: number): void {
  const incident = incidentPairs(problem)
  for (let token = 0; token < problem.value.length; token++)
    if (token !== 1) balance(problem, token, incident[token] as readonly number[], token === 0 ? input : 0)
}

function balance(problem: Problem, token: number, incident: readonly number[], input: number): void {
  const { value } = problem
  const begun = value[token] as number
  const leftAt = (at: number): number => {
    value[token] = at
    let left = input
    for (const pair of incident) {
      tradePair(problem, pair, trade)
      left += problem.from[pair] === token ? -trade.in : trade.out
    }
    return left
  }
  const first = leftAt(begun)
  if (first === 0) return
  // Between `low`, where too little is left (or nothing), and `high`, where too much is.
  let low = begun
  let high = begun
  for (let factor = FIRST_FACTOR; ; factor *= factor) {
    const end = first > 0 ? begun / factor : begun * factor
    const left = leftAt(end)
    if (first > 0) {
      low = end
      if (left <= 0) break
      high = end
    } else {
      high = end
      if (left >= 0) break
      low = end
    }
    // All pools stand at their ends: as far as one sweep goes.
    if (factor > FACTOR_MAX) return
  }
  for (let halves = 0; halves < HALVES_MAX && high - low > EXACT * high; halves++) {
    const middle = (low + high) / 2
    if (leftAt(middle) > 0) high = middle
    else low = middle
  }
  value[token] = (low + high) / 2
}
