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

export type Execution = Readonly<{ amountOut: bigint; swaps: readonly ExecutedSwap[] }>

/** Place of the swap that would revert or pay nothing, and how much it would have to take. */
export type Refusal = Readonly<{ amountOut: null; failedIndex: number; amountIn: bigint }>

/**
 * What a route pays, exactly as the executor contract carries it out: swap by swap on balances, pools that appear twice in the
 * state the first swap left.
 */
export function executeRoute(
  swaps: readonly RouteSwap[],
  source: string,
  target: string,
  amountIn: bigint,
): Execution | Refusal {
  const balances = new Map([[source, amountIn]])
  const poolStates = new Map<string, Pool>()
  const executedSwaps: ExecutedSwap[] = []
  for (const [failedIndex, swap] of swaps.entries()) {
    const pool = poolStates.get(swap.pool.id) ?? swap.pool
    const tokenIn = pool.tokens[swap.tokenIn]
    const tokenOut = pool.tokens[swap.tokenOut]
    if (tokenIn === undefined || tokenOut === undefined) return { amountOut: null, failedIndex, amountIn: 0n }
    const balance = balances.get(tokenIn) ?? 0n
    const amount = swap.share === SHARE_ALL ? balance : (balance * BigInt(swap.share)) >> SHARE_BITS
    // A share so thin that nothing is left of it: the executor passes over it, too.
    if (amount === 0n) continue
    const result = swapExact(pool, swap.tokenIn, swap.tokenOut, amount)
    if (result === null) return { amountOut: null, failedIndex, amountIn: amount }
    balances.set(tokenIn, balance - amount)
    balances.set(tokenOut, (balances.get(tokenOut) ?? 0n) + result.amountOut)
    poolStates.set(pool.id, result.next)
    executedSwaps.push({ ...swap, amountIn: amount, amountOut: result.amountOut })
  }
  const amountOut = balances.get(target) ?? 0n
  return amountOut === 0n
    ? { amountOut: null, failedIndex: swaps.length - 1, amountIn: 0n }
    : { amountOut, swaps: executedSwaps }
}
