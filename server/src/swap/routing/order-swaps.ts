/** A swap of a path as its `hop`-th; amounts in units of their own. */
export type Use = Readonly<{ edge: number; hop: number; from: number; to: number; amountIn: number; amountOut: number }>

/** Swaps in the order of their execution, as a `Split` of the search. */
export type OrderedSwaps = readonly Readonly<{ edge: number; share: number }>[]

/** Without uses that nothing reaches, and those after which nothing goes on. */
function dropDisconnected(uses: readonly Use[]): readonly Use[] {
  const connected = uses.filter(
    (one) =>
      (one.from === 0 || uses.some(({ to, hop }) => to === one.from && hop < one.hop)) &&
      (one.to === 1 || uses.some(({ from, hop }) => from === one.to && hop > one.hop)),
  )
  return connected.length === uses.length ? uses : dropDisconnected(connected)
}

/**
 * Every swap once, token by token in an order in which nothing comes back to a token that is done. Among paths of four hops
 * there is always one: a circle would need swaps that are the second of one path and the third of another, and whoever goes
 * round had better change places. Else hop by hop, with pools used more than once.
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

/** Place of each token in an order in which all swaps lead forwards; null where there is none. */
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

/** What an edge takes in all. */
function mergeByEdge(uses: readonly Use[]): Use[] {
  const sums = new Map<number, Use>()
  for (const use of uses) {
    const previous = sums.get(use.edge)
    sums.set(use.edge, { ...use, amountIn: use.amountIn + (previous?.amountIn ?? 0), amountOut: use.amountOut + (previous?.amountOut ?? 0) })
  }
  return [...sums.values()]
}
