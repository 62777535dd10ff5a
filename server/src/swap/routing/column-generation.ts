import type { Market } from './market.ts'

/** Tokens outside of what was searched through which, at the values found, it would pay to go. */
export type Column = Readonly<{
  tokens: readonly number[]
  /** What each is taken to be worth, between what it costs and what it earns. */
  values: readonly number[]
  /** About what the detour adds, in units of the target. */
  gain: number
}>

/** Per token outside: what one unit costs to get from inside, and what it earns on its way back inside. */
type Prospects = Readonly<{
  cost: Float64Array
  costDepth: Float64Array
  worth: Float64Array
  worthDepth: Float64Array
}>

const createProspects = (tokenCount: number): Prospects => ({
  cost: new Float64Array(tokenCount),
  costDepth: new Float64Array(tokenCount),
  worth: new Float64Array(tokenCount),
  worthDepth: new Float64Array(tokenCount),
})

/** Used by one look after the other, as memory costs more than many of them. The depths are read only where a price was written. */
let roomy = createProspects(1024)

function prospectsFor(tokenCount: number): Prospects {
  if (tokenCount > roomy.cost.length) roomy = createProspects(2 * tokenCount)
  roomy.cost.fill(0, 0, tokenCount)
  roomy.worth.fill(0, 0, tokenCount)
  return roomy
}

const COLUMNS_MAX = 8

/**
 * Pricing of columns: a token that we left out changes nothing as long as getting one costs more than it earns. Looks at
 * detours over one token and over two. Deep and a little better is more than shallow and much better: of a constant product
 * whose price is r times better than needed, (√r − 1)² of its depth can be earned.
 */
export function findColumns(
  market: Market,
  inside: readonly number[],
  valueAt: Float64Array,
  threshold: number,
  arrives: number,
): readonly Column[] {
  const prospects = prospectsFor(market.tokenCount)
  const seen = look(market, inside, valueAt, arrives, prospects)
  const { cost, costDepth, worth, worthDepth } = prospects
  const columns: Column[] = []
  for (const token of seen) {
    const paid = cost[token] as number
    const alone = worth[token] as number
    if (alone > paid) {
      const gain =
        Math.min(costDepth[token] as number, worthDepth[token] as number) * (Math.sqrt(alone / paid) - 1) ** 2
      if (gain > threshold) columns.push({ tokens: [token], values: [Math.sqrt(alone * paid)], gain })
    }
    const over = bestSuccessor(market, token, Math.max(alone, paid), prospects, arrives)
    if (over === null) continue
    const gain = Math.min(costDepth[token] as number, over.depth) * (Math.sqrt(over.unit / paid) - 1) ** 2
    const value = Math.sqrt(over.unit * paid)
    if (gain > threshold) columns.push({ tokens: [token, over.token], values: [value, value / over.price], gain })
  }
  return columns
    .sort((a, b) => b.gain - a.gain || (a.tokens[0] as number) - (b.tokens[0] as number))
    .slice(0, COLUMNS_MAX)
}

/** Fills in the prospects. Gives the tokens outside that pools lead to from inside. */
function look(
  { firstPair, pairTo, price, depth, between }: Market,
  inside: readonly number[],
  valueAt: Float64Array,
  arrives: number,
  { cost, costDepth, worth, worthDepth }: Prospects,
): readonly number[] {
  const seen: number[] = []
  for (const token of inside) {
    const value = valueAt[token] as number
    const end = firstPair[token + 1] as number
    for (let pair = firstPair[token] as number; pair < end; pair++) {
      const outside = pairTo[pair] as number
      if (between[outside] === 0 || (valueAt[outside] as number) > 0) continue
      const unit = value / ((price[pair] as number) * arrives)
      const best = cost[outside] as number
      if (best === 0) seen.push(outside)
      else if (unit >= best) continue
      cost[outside] = unit
      costDepth[outside] = value * (depth[pair] as number)
    }
  }
  for (const token of seen) {
    let best = 0
    let by = 0
    const end = firstPair[token + 1] as number
    for (let pair = firstPair[token] as number; pair < end; pair++) {
      const value = valueAt[pairTo[pair] as number] as number
      if (value === 0) continue
      const unit = value * (price[pair] as number) * arrives
      if (!(unit > best)) continue
      best = unit
      by = pair
    }
    if (best === 0) continue
    worth[token] = best
    worthDepth[token] = best * (depth[by] as number)
  }
  return seen
}

function bestSuccessor(
  { firstPair, pairTo, price, depth }: Market,
  token: number,
  atLeast: number,
  { worth, worthDepth }: Prospects,
  arrives: number,
) {
  let best = atLeast
  let by = -1
  const end = firstPair[token + 1] as number
  for (let pair = firstPair[token] as number; pair < end; pair++) {
    const alone = worth[pairTo[pair] as number] as number
    if (alone === 0) continue
    const unit = alone * (price[pair] as number) * arrives
    if (unit <= best) continue
    best = unit
    by = pair
  }
  if (by < 0) return null
  const over = pairTo[by] as number
  return {
    token: over,
    unit: best,
    price: price[by] as number,
    depth: Math.min(worthDepth[over] as number, best * (depth[by] as number)),
  }
}
