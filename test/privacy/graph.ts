/** The reason for a link between two holders, in the terms of chain analysis. */
export type Kind = 'paid' | 'change' | 'gas' | 'swept' | 'spent together' | 'one key' | 'one content'

/** `where`: network and hash of the transaction that shows the link. */
export type Link = Readonly<{ from: string; to: string; kind: Kind; where: string }>

/** One step of a path. `back`: from the recipient of the money to its sender. */
export type Step = Link & Readonly<{ back: boolean }>

/**
 * The holders on all chains and the links between them. The direction of a link is for the reader only: a path may follow a
 * link in both directions. If two holders have no path, they have no connection at all.
 */
export type Graph = Readonly<{
  holders: number
  links: readonly Link[]
  areLinked(a: string, b: string): boolean
  /** The shortest path that avoids the holders in `excluded`; null if there is no path. */
  findPath(from: ReadonlySet<string>, to: string, excluded?: ReadonlySet<string>): readonly Step[] | null
}>

export function createGraph(links: readonly Link[]): Graph {
  const steps = new Map<string, Step[]>()
  const groups = createGroups()
  const add = (at: string, step: Step) => {
    const existing = steps.get(at)
    if (existing) existing.push(step)
    else steps.set(at, [step])
  }
  for (const link of links) {
    add(link.from, { ...link, back: false })
    add(link.to, { ...link, back: true })
    groups.join(link.from, link.to)
  }
  return {
    holders: steps.size,
    links,
    areLinked: (a, b) => steps.has(a) && steps.has(b) && groups.find(a) === groups.find(b),
    findPath: (from, to, excluded = new Set()) => searchPath(steps, from, to, excluded),
  }
}

function searchPath(
  steps: ReadonlyMap<string, readonly Step[]>,
  from: ReadonlySet<string>,
  to: string,
  excluded: ReadonlySet<string>,
): readonly Step[] | null {
  const stepTo = new Map<string, Step | null>([...from].map((start) => [start, null]))
  const queue = [...from]
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    if (at === to) return tracePath(stepTo, at)
    for (const step of steps.get(at) ?? []) {
      const next = step.back ? step.from : step.to
      if (stepTo.has(next) || excluded.has(next)) continue
      stepTo.set(next, step)
      queue.push(next)
    }
  }
  return null
}

function tracePath(stepTo: ReadonlyMap<string, Step | null>, end: string): readonly Step[] {
  const path: Step[] = []
  for (let step = stepTo.get(end); step; step = stepTo.get(step.back ? step.to : step.from)) path.unshift(step)
  return path
}

export type Groups = Readonly<{ join(a: string, b: string): void; find(member: string): string }>

/** Disjoint sets (union-find with path halving). */
export function createGroups(): Groups {
  const parents = new Map<string, string>()
  const find = (member: string): string => {
    let at = member
    for (;;) {
      const parent = parents.get(at) ?? at
      if (parent === at) return at
      const above = parents.get(parent) ?? parent
      parents.set(at, above)
      at = above
    }
  }
  return {
    find,
    join: (a, b) => {
      const [first, second] = [find(a), find(b)]
      if (first !== second) parents.set(first, second)
    },
  }
}

/** Formats a path: `bc1q… —paid (btc 1a2b…)→ bc1q…`. */
export function describePath(path: readonly Step[]): string {
  const [first] = path
  if (!first) return 'the same holder'
  const shorten = (holder: string) => (holder.length > 18 ? `${holder.slice(0, 14)}…` : holder)
  const start = shorten(first.back ? first.to : first.from)
  return path.reduce(
    (text, { kind, where, back, from, to }) =>
      `${text} ${back ? '←' : '—'}${kind} (${where.slice(0, 14)})${back ? '—' : '→'} ${shorten(back ? from : to)}`,
    start,
  )
}
