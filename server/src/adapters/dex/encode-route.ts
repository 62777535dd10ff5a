import { zeroAddress } from 'viem'
import { assert, present, unreachable } from '../../lib/assert.ts'
import { type RouteSwap, SHARE_ALL } from '../../swap/routing/execute.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'

/** How routes are written for SwapExecutor: contracts/src/SwapExecutor.sol explains the words. */

export type RouteToEncode = Readonly<{
  swaps: readonly RouteSwap[]
  /** Tokens as the pools name them, in lower case: the wrapped coin where the coin is meant. */
  source: string
  target: string
  /** The input comes as the native coin, the output is to be paid in it. */
  nativeIn: boolean
  nativeOut: boolean
  /** The network's wrapped coin, in lower case; null where the coin is itself a token (Celo). */
  wrapped: string | null
}>

const steps = { v2: 1, v3: 2, v4: 3, solidly: 4, curve: 5, balancer: 6, book: 7, wrap: 8, unwrap: 9 } as const
const flags = { here: 0, toTarget: 1, toNextPool: 2, prepaid: 4 } as const

type Call = Readonly<{ step: number; extra: bigint /** a word of its own after the step */; poolId?: string }>

/** False for what the executor has no step for. */
export const isExecutable = (pool: Pool): boolean =>
  (pool.kind !== 'balancer-weighted' && pool.kind !== 'balancer-stable') || pool.vault === 'v2'

function callOf({ pool, tokenIn, tokenOut }: RouteSwap): Call {
  switch (pool.kind) {
    case 'uniswap-v2':
      return { step: steps.v2, extra: BigInt(pool.feePpm) }
    case 'uniswap-v3':
    case 'algebra':
      return { step: steps.v3, extra: 0n }
    case 'uniswap-v4':
      return { step: steps.v4, extra: (BigInt(pool.lpFeePpm) << 16n) | BigInt(pool.tickSpacing) }
    case 'solidly':
      return { step: steps.solidly, extra: 0n }
    case 'curve-stable':
      return { step: steps.curve, extra: (BigInt(tokenIn) << 8n) | BigInt(tokenOut) }
    case 'balancer-weighted':
    case 'balancer-stable':
      assert(isExecutable(pool), 'a vault that the executor does not know')
      return { step: steps.balancer, extra: 0n, poolId: pool.id }
    case 'liquidity-book':
      return { step: steps.book, extra: tokenIn === 0 ? 1n : 0n }
    default:
      return unreachable(pool)
  }
}

/** Pools that take what was sent to them before. */
const isPrepayable = ({ pool }: RouteSwap) =>
  pool.kind === 'uniswap-v2' || pool.kind === 'solidly' || pool.kind === 'liquidity-book'
/** Pools that pay whom they are told to. */
const paysAnyone = ({ pool }: RouteSwap) => pool.kind !== 'curve-stable'
const inputOf = ({ pool, tokenIn }: RouteSwap) => present(pool.tokens[tokenIn], 'the token in')
const outputOf = ({ pool, tokenOut }: RouteSwap) => present(pool.tokens[tokenOut], 'the token out')
/** A pool of the native coin has it as its first token. */
const takesCoin = ({ pool, tokenIn }: RouteSwap) => pool.native === true && tokenIn === 0
const paysCoin = ({ pool, tokenOut }: RouteSwap) => pool.native === true && tokenOut === 0

type Word = Readonly<{
  step: number
  tokenIn: string
  tokenOut: string
  flags?: number
  share?: number
  extra?: bigint
  pool?: string
}>

/** The tokens of the route, source and target first, and its words. */
function createWriter(source: string, target: string) {
  const tokens = [source, target]
  const words: bigint[] = []
  const place = (token: string) => {
    if (!tokens.includes(token)) tokens.push(token)
    return BigInt(tokens.indexOf(token))
  }
  return {
    step({ step, tokenIn, tokenOut, flags = 0, share = SHARE_ALL, extra = 0n, pool = zeroAddress }: Word) {
      const head = (((BigInt(step) << 8n) | place(tokenIn)) << 8n) | place(tokenOut)
      words.push((((((head << 8n) | BigInt(flags)) << 24n) | BigInt(share)) << 200n) | (extra << 160n) | BigInt(pool))
    },
    word: (word: string) => words.push(BigInt(word)),
    route: () => [BigInt(tokens.length), ...tokens.map((token) => BigInt(token)), ...words],
  }
}

/**
 * The words that make the executor do exactly what `executeRoute` computes. Outputs go straight to the next pool or to the target
 * where nothing else can lie on the way.
 */
export function encodeRoute(route: RouteToEncode): bigint[] {
  const { swaps, source, target } = route
  const wrapped = route.wrapped ?? zeroAddress
  const wraps = route.wrapped !== null
  // Where every swap out of the coin is with pools of the coin, it need not be wrapped.
  const staysCoin =
    wraps &&
    swaps.length > 0 &&
    route.nativeIn &&
    swaps.every((swap) => outputOf(swap) !== source && (inputOf(swap) !== source || takesCoin(swap)))
  const unwrapsTarget = wraps && route.nativeOut
  const sourceCoin = wraps && route.nativeIn
  const writer = createWriter(sourceCoin ? zeroAddress : source, unwrapsTarget ? zeroAddress : target)
  if (sourceCoin && !staysCoin) writer.step({ step: steps.wrap, tokenIn: zeroAddress, tokenOut: wrapped })

  /** Tokens of which something may lie in the executor. */
  const held = new Set([source])
  let isPrepaid = false
  // Without a swap the coin is but wrapped, or unwrapped.
  let leavesWrapped = swaps.length === 0
  for (const [index, swap] of swaps.entries()) {
    const tokenIn = inputOf(swap)
    const tokenOut = outputOf(swap)
    const { step, extra, poolId } = callOf(swap)
    const isFinal = tokenOut === target && !swaps.slice(index + 1).some((later) => inputOf(later) === target)
    const takesUnwrapped = wraps && takesCoin(swap) && !(staysCoin && tokenIn === source)
    if (takesUnwrapped) writer.step({ step: steps.unwrap, tokenIn: wrapped, tokenOut: zeroAddress, share: swap.share })
    if (swap.share === SHARE_ALL) held.delete(tokenIn)

    const goesToTarget = isFinal && paysAnyone(swap) && (!wraps || paysCoin(swap) === unwrapsTarget)
    const goesToNext = !goesToTarget && !held.has(tokenOut) && canPrepay(swap, swaps[index + 1])
    const to = goesToTarget ? flags.toTarget : goesToNext ? flags.toNextPool : flags.here
    writer.step({
      step,
      tokenIn: takesCoin(swap) ? zeroAddress : tokenIn,
      tokenOut: paysCoin(swap) ? zeroAddress : tokenOut,
      flags: to | (isPrepaid ? flags.prepaid : 0),
      share: takesUnwrapped ? SHARE_ALL : swap.share,
      extra,
      pool: swap.pool.address,
    })
    if (poolId !== undefined) writer.word(poolId)
    isPrepaid = goesToNext
    if (goesToTarget || goesToNext) continue
    held.add(tokenOut)
    if (wraps && paysCoin(swap)) writer.step({ step: steps.wrap, tokenIn: zeroAddress, tokenOut: wrapped })
    if (tokenOut === target) leavesWrapped = true
  }
  if (unwrapsTarget && leavesWrapped) writer.step({ step: steps.unwrap, tokenIn: wrapped, tokenOut: zeroAddress })
  return writer.route()
}

/** True where the next swap takes all of what this one pays, and nothing else, and both pools can pass it on themselves. */
function canPrepay(swap: RouteSwap, next: RouteSwap | undefined): boolean {
  if (next === undefined || next.share !== SHARE_ALL || inputOf(next) !== outputOf(swap)) return false
  if (!isPrepayable(next) || next.pool.address === swap.pool.address) return false
  // A Balancer step's next word is its pool's id.
  return paysAnyone(swap) && !paysCoin(swap) && callOf(swap).poolId === undefined
}
