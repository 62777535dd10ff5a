/** Why two holders belong together, as an analyst would say it. */
export type Kind = 'paid' | 'change' | 'gas' | 'swept' | 'spent together' | 'one key' | 'one content'

/** `where`: the network and the transaction that show it. */
export type Link = Readonly<{ from: string; to: string; kind: Kind; where: string }>

/** One step of a path; walked against the flow of the money it is `back`. */
export type Step = Link & Readonly<{ back: boolean }>

/**
 * Holders of all chains and what ties them together. Links have a direction for the reader only: a path may go either way
 * along each, so that "no path" means that two holders have nothing to do with each other at all.
 */
export type Graph = Readonly<{
  holders: number
  links: readonly Link[]
  areTied(a: string, b: string): boolean
  /** The shortest path; `around` are holders that it must not go through. */
  path(from: ReadonlySet<string>, to: string, around?: ReadonlySet<string>): readonly Step[] | null
}>

export function createGraph(links: readonly Link[]): Graph {
  const steps = new Map<string, Step[]>()
  const groups = createGroups()
  const add = (at: string, step: Step) => {
    const known = steps.get(at)
    if (known) known.push(step)
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
    areTied: (a, b) => steps.has(a) && steps.has(b) && groups.of(a) === groups.of(b),
    path: (from, to, around = new Set()) => findPath(steps, from, to, around),
  }
}

function findPath(
  steps: ReadonlyMap<string, readonly Step[]>,
  from: ReadonlySet<string>,
  to: string,
  around: ReadonlySet<string>,
): readonly Step[] | null {
  const came = new Map<string, Step | null>([...from].map((start) => [start, null]))
  const queue = [...from]
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    if (at === to) return walkBack(came, at)
    for (const step of steps.get(at) ?? []) {
      const next = step.back ? step.from : step.to
      if (came.has(next) || around.has(next)) continue
      came.set(next, step)
      queue.push(next)
    }
  }
  return null
}

function walkBack(came: ReadonlyMap<string, Step | null>, end: string): readonly Step[] {
  const path: Step[] = []
  for (let step = came.get(end); step; step = came.get(step.back ? step.to : step.from)) path.unshift(step)
  return path
}

export type Groups = Readonly<{ join(a: string, b: string): void; of(one: string): string }>

/** What is joined is one group (union by path halving). */
export function createGroups(): Groups {
  const parents = new Map<string, string>()
  const of = (one: string): string => {
    let at = one
    for (;;) {
      const parent = parents.get(at) ?? at
      if (parent === at) return at
      const above = parents.get(parent) ?? parent
      parents.set(at, above)
      at = above
    }
  }
  return {
    of,
    join: (a, b) => {
      const [first, second] = [of(a), of(b)]
      if (first !== second) parents.set(first, second)
    },
  }
}

/** `bc1q… —paid (btc 1a2b…)→ bc1q…`, for people. */
export function describePath(path: readonly Step[]): string {
  const [first] = path
  if (!first) return 'the same holder'
  const short = (holder: string) => (holder.length > 18 ? `${holder.slice(0, 14)}…` : holder)
  const start = short(first.back ? first.to : first.from)
  return path.reduce(
    (text, { kind, where, back, from, to }) =>
      `${text} ${back ? '←' : '—'}${kind} (${where.slice(0, 14)})${back ? '—' : '→'} ${short(back ? from : to)}`,
    start,
  )
}
