import { type Pool, swapExact } from './pool-kinds.ts'

/** Shares are counted in 2^24 parts, as the executor reads them; the greatest number means all that is left. */
export const SHARE_BITS = 24n
export const SHARE_ALL = (1 << 24) - 1

/** One swap of a route, in order of execution. Tokens by their place in the pool. */
export type RouteSwap = Readonly<{
  pool: Pool
  tokenIn: number
  tokenOut: number
  /** Of what is there of `tokenIn` when it is this swap's turn. */
  share: number
}>

/** The same with the amounts that it will move. */
export type ExecutedSwap = RouteSwap & Readonly<{ amountIn: bigint; amountOut: bigint }>

export type Executed = Readonly<{ amountOut: bigint; swaps: readonly ExecutedSwap[] }>

/** Place of the swap that would revert or pay nothing, and how much it would have to take. */
export type Refused = Readonly<{ amountOut: null; refusedAt: number; amountIn: bigint }>

/**
 * What a route pays, exactly as the executor contract carries it out: swap by swap on balances, pools that appear twice in the
 * state the first swap left.
 */
export function executeRoute(
  swaps: readonly RouteSwap[],
  source: string,
  target: string,
  amountIn: bigint,
): Executed | Refused {
  const balances = new Map([[source, amountIn]])
  const moved = new Map<string, Pool>()
  const executed: ExecutedSwap[] = []
  for (const [refusedAt, swap] of swaps.entries()) {
    const pool = moved.get(swap.pool.id) ?? swap.pool
    const tokenIn = pool.tokens[swap.tokenIn]
    const tokenOut = pool.tokens[swap.tokenOut]
    if (tokenIn === undefined || tokenOut === undefined) return { amountOut: null, refusedAt, amountIn: 0n }
    const balance = balances.get(tokenIn) ?? 0n
    const amount = swap.share === SHARE_ALL ? balance : (balance * BigInt(swap.share)) >> SHARE_BITS
    // A share so thin that nothing is left of it: the executor passes over it, too.
    if (amount === 0n) continue
    const swapped = swapExact(pool, swap.tokenIn, swap.tokenOut, amount)
    if (swapped === null) return { amountOut: null, refusedAt, amountIn: amount }
    balances.set(tokenIn, balance - amount)
    balances.set(tokenOut, (balances.get(tokenOut) ?? 0n) + swapped.amountOut)
    moved.set(pool.id, swapped.next)
    executed.push({ ...swap, amountIn: amount, amountOut: swapped.amountOut })
  }
  const amountOut = balances.get(target) ?? 0n
  return amountOut === 0n
    ? { amountOut: null, refusedAt: swaps.length - 1, amountIn: 0n }
    : { amountOut, swaps: executed }
}
