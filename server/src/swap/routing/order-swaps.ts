/** A swap of a path as its `hop`-th; amounts in units of their own. */
export type Use = Readonly<{ edge: number; hop: number; from: number; to: number; taken: number; paid: number }>

/** Swaps in the order of their execution, as a `Split` of the search. */
export type Placed = readonly Readonly<{ edge: number; share: number }>[]

/** Without uses that nothing reaches, and those after which nothing goes on. */
function onTheWay(uses: readonly Use[]): readonly Use[] {
  const left = uses.filter(
    (one) =>
      (one.from === 0 || uses.some(({ to, hop }) => to === one.from && hop < one.hop)) &&
      (one.to === 1 || uses.some(({ from, hop }) => from === one.to && hop > one.hop)),
  )
  return left.length === uses.length ? uses : onTheWay(left)
}

/**
 * Every swap once, token by token in an order in which nothing comes back to a token that is done. Among paths of four hops
 * there is always one: a circle would need swaps that are the second of one path and the third of another, and whoever goes
 * round had better change places. Else hop by hop, with pools used more than once.
 */
export function placeUses(all: readonly Use[], tokens: number): Placed {
  const uses = onTheWay(all)
  const order = tokenOrder(uses, tokens)
  const sorted = (order === null ? [...uses] : together(uses)).sort(
    (a, b) =>
      (order === null ? a.hop - b.hop : 0) ||
      (order?.[a.from] ?? a.from) - (order?.[b.from] ?? b.from) ||
      b.taken - a.taken ||
      a.edge - b.edge,
  )
  const lastOf = new Map(sorted.map(({ from }, index) => [from, index]))
  const there = new Float64Array(tokens)
  for (const { from, taken } of sorted) if (from === 0) there[0] = (there[0] as number) + taken
  return sorted.map(({ edge, from, to, taken, paid }, index) => {
    const share = lastOf.get(from) === index ? 1 : Math.min(1, taken / (there[from] as number))
    there[from] = (there[from] as number) * (1 - share)
    there[to] = (there[to] as number) + paid
    return { edge, share }
  })
}

/** Place of each token in an order in which all swaps lead forwards; null where there is none. */
function tokenOrder(uses: readonly Use[], tokens: number): Int32Array | null {
  const edges = [...new Map(uses.map((use) => [use.edge, use])).values()]
  const entries = new Int32Array(tokens)
  for (const { to } of edges) entries[to] = (entries[to] as number) + 1
  const done = [...entries.keys()].filter((token) => entries[token] === 0)
  for (const token of done) {
    for (const { from, to } of edges) {
      if (from !== token) continue
      entries[to] = (entries[to] as number) - 1
      if (entries[to] === 0) done.push(to)
    }
  }
  if (done.length < tokens) return null
  const order = new Int32Array(tokens)
  for (const [place, token] of done.entries()) order[token] = place
  return order
}

/** What an edge takes in all. */
function together(uses: readonly Use[]): Use[] {
  const sums = new Map<number, Use>()
  for (const use of uses) {
    const past = sums.get(use.edge)
    sums.set(use.edge, { ...use, taken: use.taken + (past?.taken ?? 0), paid: use.paid + (past?.paid ?? 0) })
  }
  return [...sums.values()]
}
