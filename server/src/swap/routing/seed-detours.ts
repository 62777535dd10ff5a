import type { Subproblem } from './subproblem.ts'

/** Pairs of a problem from source to target, and what one unit more of the source would bring on this way. */
export type Detour = Readonly<{ pairs: readonly number[]; product: number }>

const DETOURS_MAX = 32

/**
 * Paths of up to `hopsMax` pairs that bring more than `atLeast`, best first: of all that lead through a token after so many
 * hops and so many hops from the end, the best. No path goes through a token twice.
 */
export function bestDetours(
  subproblem: Subproblem,
  price: (pair: number) => number,
  hopsMax: number,
  productMin: number,
): readonly Detour[] {
  const { pairs, from, to, value } = subproblem
  const prices = new Float64Array(pairs.length)
  for (let pair = 0; pair < prices.length; pair++) prices[pair] = price(pair)
  const forward = bestWalks(value.length, prices, from, to, 0, hopsMax)
  const backward = bestWalks(value.length, prices, to, from, 1, hopsMax)
  const detours = new Map<string, Detour>()
  for (let token = 2; token < value.length; token++) {
    for (let hops = 1; hops < hopsMax; hops++) {
      for (let rest = 1; rest <= hopsMax - hops; rest++) {
        const product = (forward[hops]?.best[token] ?? 0) * (backward[rest]?.best[token] ?? 0)
        if (!(product > productMin)) continue
        const path = [...walkTo(forward, from, token, hops).reverse(), ...walkTo(backward, to, token, rest)]
        const visited = new Set(path.map((pair) => to[pair]))
        if (visited.size === path.length) detours.set(path.join(), { pairs: path, product })
      }
    }
  }
  return [...detours.values()].sort((a, b) => b.product - a.product).slice(0, DETOURS_MAX)
}

/** After each number of hops, from `start`: the best product to every token, and the pair by which it was reached. */
type Walks = readonly Readonly<{ best: Float64Array; by: Int32Array }>[]

function bestWalks(
  tokenCount: number,
  prices: Float64Array,
  from: Int32Array,
  to: Int32Array,
  start: number,
  hopsMax: number,
): Walks {
  const first = { best: new Float64Array(tokenCount), by: new Int32Array(tokenCount).fill(-1) }
  first.best[start] = 1
  const walks = [first]
  for (let hops = 1; hops < hopsMax; hops++) {
    const before = walks[hops - 1]?.best as Float64Array
    const current = { best: new Float64Array(tokenCount), by: new Int32Array(tokenCount).fill(-1) }
    for (let pair = 0; pair < prices.length; pair++) {
      const [a, b] = [from[pair] as number, to[pair] as number]
      const product = (before[a] as number) * (prices[pair] as number)
      if (!(product > (current.best[b] as number))) continue
      current.best[b] = product
      current.by[b] = pair
    }
    walks.push(current)
  }
  return walks
}

/** The pairs of a walk that ends at `token`, last first. */
function walkTo(walks: Walks, from: Int32Array, token: number, hops: number): number[] {
  const pairs: number[] = []
  let at = token
  for (let hop = hops; hop > 0; hop--) {
    const pair = walks[hop]?.by[at] as number
    pairs.push(pair)
    at = from[pair] as number
  }
  return pairs
}
