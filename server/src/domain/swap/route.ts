import type { Curve } from './curve.ts'
import { type Executed, executeRoute, type RouteSwap, SHARE_ALL } from './execute.ts'
import type { PoolMarket } from './pool-market.ts'
import { type SearchOptions, type Split, search } from './search.ts'

export type RouteRequest = Readonly<{ source: string; target: string; amountIn: bigint }>

/** A route with the exact amounts that it will move at the pools' present state. */
export type Route = Executed &
  Readonly<{
    /** Gas of its swaps. */
    gas: number
    /** No route without gas through the pools looked at pays more, in float64: how good the search was. */
    bound: number
  }>

const SHARES = 2 ** 24
/** Where a pool stands at its end, a share rounded another way may be what it still takes. */
const ROUNDINGS = [Math.floor, Math.ceil, Math.round] as const

/** The route that pays most, net of gas; null where none leads from source to target. */
export function bestRoute(
  pools: PoolMarket,
  { source, target, amountIn }: RouteRequest,
  options: SearchOptions,
): Route | null {
  const from = pools.tokens.get(source)
  const to = pools.tokens.get(target)
  if (from === undefined || to === undefined || from === to || amountIn <= 0n) return null
  const found = search(pools.market, from, to, Number(amountIn), options)
  let best: Route | null = null
  for (const candidate of found.candidates) {
    let executed: Executed | null = null
    for (const round of ROUNDINGS) executed ??= executeRoute(toSwaps(pools, candidate, round), source, target, amountIn)
    if (executed === null) continue
    const gas = gasOf(pools, candidate)
    if (best === null || isBetter(executed.amountOut, gas, best, options.gasPrice))
      best = { ...executed, gas, bound: found.bound }
  }
  return best
}

function isBetter(amountOut: bigint, gas: number, best: Route, gasPrice: number): boolean {
  const more = amountOut - best.amountOut
  const gasCost = BigInt(Math.round((gas - best.gas) * gasPrice))
  return more > gasCost
}

function gasOf({ market }: PoolMarket, split: Split): number {
  return split.reduce((sum, { edge }) => sum + (market.curve[edge] as Curve).gas, 0)
}

function toSwaps({ market, pools, tokens }: PoolMarket, split: Split, round: (part: number) => number): RouteSwap[] {
  return split.map(({ edge, share }) => {
    const pool = pools[market.pool[edge] as number] as RouteSwap['pool']
    const pair = market.pairOf[edge] as number
    const place = (token: number | undefined) => pool.tokens.findIndex((address) => tokens.get(address) === token)
    // The greatest share means all that is left, so a part is at most one below it.
    const part = share === 1 ? SHARE_ALL : Math.min(SHARE_ALL - 1, round(share * SHARES))
    return { pool, tokenIn: place(market.pairFrom[pair]), tokenOut: place(market.pairTo[pair]), share: part }
  })
}
