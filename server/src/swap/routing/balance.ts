import { incidentPairs, type Problem, tradePair } from './subproblem.ts'

/*
 * The dual, one token at a time: with all other values as they are, what is left of a token only rises with its own value, so
 * that the value at which nothing is left is found by halving. Slow where tokens hang together, but it never stands still
 * short of the least bound, as Newton's method does where a flow crosses many ends of ticks or pools at once.
 */
const HALVES_MAX = 60
/** A sweep moves a value down by this factor at most. */
const FACTOR_MAX = 1e4
/** And up, out of next to nothing, by this one. */
const RISE_MAX = 1e40
const FIRST_FACTOR = 1.0001
/** Values nearer to each other than this are the same. */
const EXACT = 1e-15

const trade = { in: 0, out: 0, earned: 0, give: 0 }

/**
 * Moves each value to where nothing is left of its token, in the order of the tokens; the target's own stays. Tokens that trade
 * with each other hold each other fast: they are moved all by one factor first.
 */
export function balanceTokens(problem: Problem, input: number): void {
  const incident = incidentPairs(problem)
  for (const group of tradingGroups(problem)) {
    if (group.includes(1) || group.length === 1) continue
    const pairs = new Set(group.flatMap((token) => incident[token] ?? []))
    balance(problem, group, [...pairs], group.includes(0) ? input : 0)
  }
  for (let token = 0; token < problem.value.length; token++)
    if (token !== 1) balance(problem, [token], incident[token] as readonly number[], token === 0 ? input : 0)
}

/** Tokens between which pools trade that would trade more or less at other values. */
function tradingGroups(problem: Problem): readonly (readonly number[])[] {
  const { from, to, value } = problem
  const groups = Array.from(value, (_, token) => [token])
  for (let pair = 0; pair < from.length; pair++) {
    const [a, b] = [groups[from[pair] as number] as number[], groups[to[pair] as number] as number[]]
    if (a === b) continue
    tradePair(problem, pair, trade)
    if (trade.give === 0) continue
    a.push(...b)
    for (const token of b) groups[token] = a
  }
  return [...new Set(groups)]
}

/** Moves the values of `tokens` by one factor to where they are worth nothing together that is left of them. */
function balance(problem: Problem, tokens: readonly number[], pairs: readonly number[], input: number): void {
  const { from, to, value, arrives } = problem
  const begun = tokens.map((token) => value[token] as number)
  const isMoved = new Uint8Array(value.length)
  for (const token of tokens) isMoved[token] = 1
  const leftAt = (factor: number): number => {
    for (const [index, token] of tokens.entries()) value[token] = (begun[index] as number) * factor
    let left = input === 0 ? 0 : (value[0] as number) * input
    for (const pair of pairs) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      tradePair(problem, pair, trade)
      if (isMoved[a] === 1) left -= trade.in * (value[a] as number)
      if (isMoved[b] === 1) left += trade.out * arrives * (value[b] as number)
    }
    return left
  }
  const first = leftAt(1)
  if (first === 0) return
  // Between `low`, where too little is left (or nothing), and `high`, where too much is.
  let low = 1
  let high = 1
  for (let factor = FIRST_FACTOR; ; factor *= factor) {
    const end = first > 0 ? 1 / factor : factor
    const left = leftAt(end)
    if (first > 0) {
      low = end
      if (left <= 0) break
      high = end
      // All pools stand at their ends: as far as one sweep goes.
      if (factor > FACTOR_MAX) return
    } else {
      high = end
      if (left >= 0) break
      low = end
      if (factor > RISE_MAX) {
        leftAt(1)
        return
      }
    }
  }
  for (let halves = 0; halves < HALVES_MAX && high - low > EXACT * high; halves++) {
    const middle = high > 2 * low ? Math.sqrt(low * high) : (low + high) / 2
    if (leftAt(middle) > 0) high = middle
    else low = middle
  }
  leftAt((low + high) / 2)
}
