import { type Pool, swapExact } from './pool-kinds.ts'

/** Shares are fractions of 2^24, as the executor contract decodes them. The largest number means the whole remaining balance. */
export const SHARE_BITS = 24n
export const SHARE_ALL = (1 << 24) - 1

/** One swap of a route, in execution order. `tokenIn` and `tokenOut` are indexes in `pool.tokens`. */
export type RouteSwap = Readonly<{
  pool: Pool
  tokenIn: number
  tokenOut: number
  /** Share of the balance of `tokenIn` at the time of this swap, in 2^24 parts. */
  share: number
}>

/** A swap with its exact amounts, in base units. */
export type ExecutedSwap = RouteSwap & Readonly<{ amountIn: bigint; amountOut: bigint }>

export type Execution = Readonly<{ amountOut: bigint; swaps: readonly ExecutedSwap[] }>

/** `failedIndex` is the swap that would revert or pay nothing, `amountIn` the input that it would receive. */
export type Refusal = Readonly<{ amountOut: null; failedIndex: number; amountIn: bigint }>

const MILLION = 1_000_000n

/** Of an intermediate amount, what later swaps may spend: all but the margin, rounded down. */
const spendable = (units: bigint, marginPpm: number): bigint => (units * (MILLION - BigInt(marginPpm))) / MILLION

/**
 * Exact output of a route, computed as the executor contract executes it: swap by swap on balances. A pool that appears twice is in the
 * state that the first swap left. `marginPpm`: the part of each intermediate amount that later swaps leave, in millionths.
 */
export function executeRoute(
  swaps: readonly RouteSwap[],
  source: string,
  target: string,
  amountIn: bigint,
  marginPpm = 0,
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
    // The share rounds down to zero. The executor would revert: the built route leaves such a swap out.
    if (amount === 0n) continue
    const result = swapExact(pool, swap.tokenIn, swap.tokenOut, amount)
    if (result === null) return { amountOut: null, failedIndex, amountIn: amount }
    balances.set(tokenIn, balance - amount)
    const added = tokenOut === target ? result.amountOut : spendable(result.amountOut, marginPpm)
    balances.set(tokenOut, (balances.get(tokenOut) ?? 0n) + added)
    poolStates.set(pool.id, result.next)
    executedSwaps.push({ ...swap, amountIn: amount, amountOut: result.amountOut })
  }
  const amountOut = balances.get(target) ?? 0n
  return amountOut === 0n
    ? { amountOut: null, failedIndex: swaps.length - 1, amountIn: 0n }
    : { amountOut, swaps: executedSwaps }
}
