/** One use of an edge, as swap number `hop` of its paths. Amounts are in base units. */
export type Use = Readonly<{
  edge: number
  hop: number
  from: number
  to: number
  amountIn: number
  amountOut: number
  /** Profit at the values of the dual, in units of the target. */
  earning: number
}>

/** Swaps in execution order; see `Split` in `search.ts`. */
export type OrderedSwaps = readonly Readonly<{ edge: number; share: number }>[]

/** Drops uses that no earlier use feeds or that no later use continues. */
function dropDisconnected(uses: readonly Use[]): readonly Use[] {
  const connected = uses.filter(
    (one) =>
      (one.from === 0 || uses.some(({ to, hop }) => to === one.from && hop < one.hop)) &&
      (one.to === 1 || uses.some(({ from, hop }) => from === one.to && hop > one.hop)),
  )
  return connected.length === uses.length ? uses : dropDisconnected(connected)
}

/**
 * Orders the swaps for execution, each once, by a topological order of the tokens. For paths of up to four hops such an order exists: a
 * cycle would consist of swaps that are second in one path and third in another, and exchanging the tails of these paths would save the fees.
 * Otherwise the swaps are ordered by hop, and pools are used more than once.
 */
export function orderSwaps(allUses: readonly Use[], tokens: number): OrderedSwaps {
  const uses = dropDisconnected(allUses)
  const order = tokenOrder(uses, tokens)
  const sorted = (order === null ? [...uses] : mergeByEdge(uses)).sort(
    (a, b) =>
      (order === null ? a.hop - b.hop : 0) ||
      (order?.[a.from] ?? a.from) - (order?.[b.from] ?? b.from) ||
      b.amountIn - a.amountIn ||
      a.edge - b.edge,
  )
  const lastOf = new Map(sorted.map(({ from }, index) => [from, index]))
  const balance = new Float64Array(tokens)
  for (const { from, amountIn } of sorted) if (from === 0) balance[0] = (balance[0] as number) + amountIn
  return sorted.map(({ edge, from, to, amountIn, amountOut }, index) => {
    const share = lastOf.get(from) === index ? 1 : Math.min(1, amountIn / (balance[from] as number))
    balance[from] = (balance[from] as number) * (1 - share)
    balance[to] = (balance[to] as number) + amountOut
    return { edge, share }
  })
}

/** Position of each token in a topological order of the swaps, or null if they contain a cycle. */
function tokenOrder(uses: readonly Use[], tokens: number): Int32Array | null {
  const edges = [...new Map(uses.map((use) => [use.edge, use])).values()]
  const entries = new Int32Array(tokens)
  for (const { to } of edges) entries[to] = (entries[to] as number) + 1
  const ordered = [...entries.keys()].filter((token) => entries[token] === 0)
  for (const token of ordered) {
    for (const { from, to } of edges) {
      if (from !== token) continue
      entries[to] = (entries[to] as number) - 1
      if (entries[to] === 0) ordered.push(to)
    }
  }
  if (ordered.length < tokens) return null
  const order = new Int32Array(tokens)
  for (const [position, token] of ordered.entries()) order[token] = position
  return order
}

/** Sums the uses of each edge. */
function mergeByEdge(uses: readonly Use[]): Use[] {
  const sums = new Map<number, Use>()
  for (const use of uses) {
    const previous = sums.get(use.edge)
    sums.set(use.edge, {
      ...use,
      amountIn: use.amountIn + (previous?.amountIn ?? 0),
      amountOut: use.amountOut + (previous?.amountOut ?? 0),
    })
  }
  return [...sums.values()]
}
