import { type Pool, swapExact } from '../../../src/swap/routing/pool-kinds.ts'

/*
 * All routes of a small market with exact swaps: every set of swaps that paths make, without a cycle and without a pool twice, with the
 * shares at which it pays most. It uses nothing of the search.
 */
type Request = Readonly<{ source: string; target: string; amountIn: bigint }>
/** `hops`: swaps of its longest path. `output`: the most that it pays. */
export type AnyRoute = Readonly<{ pools: readonly Pool[]; hops: number; output: number }>

/** One direction of a pool; `from` and `to` are indexes of its tokens. */
type Swap = Readonly<{ pool: Pool; from: number; to: number }>

const tokenIn = ({ pool, from }: Swap) => pool.tokens[from] ?? ''
const tokenOut = ({ pool, to }: Swap) => pool.tokens[to] ?? ''

/** All paths from source to target that pass no token twice. */
function findPaths(pools: readonly Pool[], { source, target }: Request, hopsMax: number): readonly (readonly Swap[])[] {
  const paths: (readonly Swap[])[] = []
  const extend = (token: string, path: readonly Swap[], visited: readonly string[]): void => {
    if (token === target) paths.push(path)
    if (token === target || path.length === hopsMax) return
    for (const pool of pools) {
      const from = pool.tokens.indexOf(token)
      if (from < 0) continue
      for (const [to, next] of pool.tokens.entries())
        if (!visited.includes(next)) extend(next, [...path, { pool, from, to }], [...visited, next])
    }
  }
  extend(source, [], [source])
  return paths
}

/** Tokens and the swaps of the longest path to each from the source, in order; null if there is a cycle. */
function orderTokens(swaps: readonly Swap[], source: string): ReadonlyMap<string, number> | null {
  const hops = new Map([[source, 0]])
  for (let pass = 0; pass <= swaps.length; pass++) {
    let hasChanged = false
    for (const swap of swaps) {
      const more = (hops.get(tokenIn(swap)) ?? Number.NEGATIVE_INFINITY) + 1
      if (more <= (hops.get(tokenOut(swap)) ?? -1)) continue
      hops.set(tokenOut(swap), more)
      hasChanged = true
    }
    if (!hasChanged) return new Map([...hops].sort(([, a], [, b]) => a - b))
  }
  return null
}

/** The sets of swaps that any of the paths make together. */
function listSwapSets(pools: readonly Pool[], request: Request, hopsMax: number): readonly (readonly Swap[])[] {
  const sets = new Map<string, ReadonlyMap<string, Swap>>([['', new Map()]])
  for (const path of findPaths(pools, request, hopsMax))
    for (const set of [...sets.values()]) {
      const united = new Map([
        ...set,
        ...path.map((swap) => [`${swap.pool.id} ${swap.from} ${swap.to}`, swap] as const),
      ])
      if (new Set([...united.values()].map(({ pool }) => pool)).size === united.size)
        sets.set([...united.keys()].sort().join(), united)
    }
  return [...sets.values()].map((set) => [...set.values()]).filter((set) => set.length > 0)
}

const GOLDEN = (Math.sqrt(5) - 1) / 2
const SECTIONS = 14
const SWEEPS_MAX = 12
/** A sweep that gains less, relative to the output, is the last. */
const GAIN_MIN = 1e-6
const SHARES = 2 ** 40

/** The most that these swaps pay: the shares of two swaps of one token at a time are improved by golden section, until none gains. */
function mostOutput(swaps: readonly Swap[], tokens: readonly string[], { source, target, amountIn }: Request): number {
  const swapsOf = tokens.map((token) => swaps.filter((swap) => tokenIn(swap) === token))
  const shares = new Map(swapsOf.flatMap((own) => own.map((swap) => [swap, 1 / own.length] as const)))
  const execute = (): number => {
    const balances = new Map([[source, amountIn]])
    for (const own of swapsOf) {
      const last = own.at(-1)
      if (last === undefined) continue
      const balance = balances.get(tokenIn(last)) ?? 0n
      let left = balance
      for (const swap of own) {
        const part = (balance * BigInt(Math.floor((shares.get(swap) ?? 0) * SHARES))) / BigInt(SHARES)
        const units = swap === last ? left : part < left ? part : left
        left -= units
        if (units === 0n) continue
        const swapped = swapExact(swap.pool, swap.from, swap.to, units)
        if (swapped === null) return 0
        balances.set(tokenOut(swap), (balances.get(tokenOut(swap)) ?? 0n) + swapped.amountOut)
      }
    }
    return Number(balances.get(target) ?? 0n)
  }
  let most = execute()
  const improve = (one: Swap, other: Swap): void => {
    const [first, second] = [shares.get(one) ?? 0, shares.get(other) ?? 0]
    const sum = first + second
    let best = first
    const outputAt = (share: number): number => {
      shares.set(one, share).set(other, sum - share)
      const output = execute()
      if (output > most) [most, best] = [output, share]
      return output
    }
    for (let section = 0, low = 0, high = sum; section < SECTIONS; section++) {
      const [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
      if (outputAt(left) < outputAt(right)) low = left
      else high = right
    }
    shares.set(one, best).set(other, sum - best)
  }
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep++) {
    const before = most
    for (const own of swapsOf)
      for (const [n, one] of own.entries()) for (const other of own.slice(n + 1)) improve(one, other)
    if (most - before <= GAIN_MIN * most) break
  }
  return most
}

/** All routes of paths of up to `hopsMax` swaps. */
export function listRoutes(pools: readonly Pool[], request: Request, hopsMax: number): readonly AnyRoute[] {
  return listSwapSets(pools, request, hopsMax).flatMap((swaps) => {
    const hops = orderTokens(swaps, request.source)
    const longest = hops?.get(request.target) ?? Number.POSITIVE_INFINITY
    if (hops === null || longest > hopsMax) return []
    const output = mostOutput(swaps, [...hops.keys()], request)
    return output === 0 ? [] : [{ pools: swaps.map(({ pool }) => pool), hops: longest, output }]
  })
}
