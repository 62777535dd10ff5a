import { incidentPairs, type Subproblem, tradePair } from './subproblem.ts'

/*
 * The dual, one token at a time: with all other values as they are, what is left of a token only rises with its own value, so
 * that the value at which nothing is left is found by halving. Slow where tokens hang together, but it never stands still
 * short of the least bound, as Newton's method does where a flow crosses many ends of ticks or pools at once.
 */
const BISECTIONS_MAX = 60
/** A sweep moves a value down by this factor at most. */
const FALL_FACTOR_MAX = 1e4
/** And up, out of next to nothing, by this one. */
const RISE_FACTOR_MAX = 1e40
const FIRST_FACTOR = 1.0001
/** Values nearer to each other than this are the same. */
const TOLERANCE = 1e-15

const trade = { in: 0, out: 0, profit: 0, sensitivity: 0 }

/**
 * Moves each value to where nothing is left of its token, in the order of the tokens; the target's own stays. Tokens that trade
 * with each other hold each other fast: they are moved all by one factor first.
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

/** Tokens between which pools trade that would trade more or less at other values. */
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

/** Moves the values of `tokens` by one factor to where they are worth nothing together that is left of them. */
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
  // Between `low`, where too little is left (or nothing), and `high`, where too much is.
  let low = 1
  let high = 1
  for (let factor = FIRST_FACTOR; ; factor *= factor) {
    const end = initialSurplus > 0 ? 1 / factor : factor
    const surplus = surplusAt(end)
    if (initialSurplus > 0) {
      low = end
      if (surplus <= 0) break
      high = end
      // All pools stand at their ends: as far as one sweep goes.
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
