import { zeroAddress } from 'viem'
import { assert, InvariantError, present, unreachable } from '../../lib/assert.ts'
import { type RouteSwap, SHARE_ALL } from '../../swap/routing/execute.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'

/** Encodes routes for SwapExecutor; contracts/src/SwapExecutor.sol describes the words. */

export type RouteToEncode = Readonly<{
  swaps: readonly RouteSwap[]
  /** Token addresses in lower case; the wrapped token for the native currency. */
  source: string
  target: string
  /** True if the input or the output is the native currency. */
  nativeIn: boolean
  nativeOut: boolean
  /** The wrapped native token, in lower case; null if the native currency is a token (Celo). */
  wrapped: string | null
}>

export const stepKinds = {
  v2: 1,
  v3: 2,
  v4: 3,
  solidly: 4,
  curve: 5,
  balancer: 6,
  book: 7,
  wrap: 8,
  unwrap: 9,
} as const
/** False for wrapping and unwrapping. */
export const isPoolStep = (kind: number): boolean => kind >= stepKinds.v2 && kind <= stepKinds.book
const flags = { here: 0, toTarget: 1, toNextPool: 2, prepaid: 4 } as const

type Call = Readonly<{ step: number; extra: bigint /** an extra word after the step */; poolId?: string }>

/** False if the executor has no step for this pool. */
export function isExecutable(pool: Pool): boolean {
  if (pool.kind === 'balancer-weighted' || pool.kind === 'balancer-stable') return pool.vault === 'v2'
  return pool.kind !== 'cetus' && pool.kind !== 'deepbook' && pool.kind !== 'turbos'
}

function callOf({ pool, tokenIn, tokenOut }: RouteSwap): Call {
  switch (pool.kind) {
    case 'uniswap-v2':
      return { step: stepKinds.v2, extra: BigInt(pool.feePpm) }
    case 'uniswap-v3':
    case 'algebra':
      return { step: stepKinds.v3, extra: 0n }
    case 'uniswap-v4':
      return { step: stepKinds.v4, extra: (BigInt(pool.lpFeePpm) << 16n) | BigInt(pool.tickSpacing) }
    case 'solidly':
      return { step: stepKinds.solidly, extra: 0n }
    case 'curve-stable':
      return { step: stepKinds.curve, extra: (BigInt(tokenIn) << 8n) | BigInt(tokenOut) }
    case 'balancer-weighted':
    case 'balancer-stable':
      assert(isExecutable(pool), 'the executor supports the vault')
      return { step: stepKinds.balancer, extra: 0n, poolId: pool.id }
    case 'cetus':
    case 'deepbook':
    case 'turbos':
      throw new Error(`the executor has no step for ${pool.kind}`)
    case 'liquidity-book':
      return { step: stepKinds.book, extra: tokenIn === 0 ? 1n : 0n }
    case 'raydium-cpmm':
    case 'raydium-clmm':
    case 'raydium-amm-v4':
    case 'meteora-dlmm':
    case 'meteora-damm-v2':
    case 'pump-swap':
      throw new InvariantError('the executor trades in pools of EVM networks')
    default:
      return unreachable(pool)
  }
}

/** Pools that swap tokens sent to them in advance. */
const isPrepayable = ({ pool }: RouteSwap) =>
  pool.kind === 'uniswap-v2' || pool.kind === 'solidly' || pool.kind === 'liquidity-book'
/** Pools that pay any recipient. */
const paysAnyone = ({ pool }: RouteSwap) => pool.kind !== 'curve-stable'
const inputOf = ({ pool, tokenIn }: RouteSwap) => present(pool.tokens[tokenIn], 'the token in')
const outputOf = ({ pool, tokenOut }: RouteSwap) => present(pool.tokens[tokenOut], 'the token out')
/** The native currency is always the first token of its pool. */
const takesNative = ({ pool, tokenIn }: RouteSwap) => pool.native === true && tokenIn === 0
const paysNative = ({ pool, tokenOut }: RouteSwap) => pool.native === true && tokenOut === 0

type Word = Readonly<{
  step: number
  tokenIn: string
  tokenOut: string
  flags?: number
  share?: number
  extra?: bigint
  pool?: string
}>

/** Collects the tokens of the route (source and target first) and its words. */
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
 * The words that make the executor do exactly what `executeRoute` computes. An output goes directly to the next pool or to the
 * recipient if the executor holds none of that token.
 */
export function encodeRoute(route: RouteToEncode): bigint[] {
  const { swaps, source, target } = route
  const wrapped = route.wrapped ?? zeroAddress
  const wraps = route.wrapped !== null
  // No wrapping if every swap of the source is with pools of the native currency.
  const staysNative =
    wraps &&
    swaps.length > 0 &&
    route.nativeIn &&
    swaps.every((swap) => outputOf(swap) !== source && (inputOf(swap) !== source || takesNative(swap)))
  const unwrapsTarget = wraps && route.nativeOut
  const wrapsSource = wraps && route.nativeIn
  const writer = createWriter(wrapsSource ? zeroAddress : source, unwrapsTarget ? zeroAddress : target)
  if (wrapsSource && !staysNative) writer.step({ step: stepKinds.wrap, tokenIn: zeroAddress, tokenOut: wrapped })

  /** Tokens that the executor may hold. */
  const heldTokens = new Set([source])
  let isPrepaid = false
  // A route without swaps only wraps or unwraps.
  let leavesWrapped = swaps.length === 0
  for (const [index, swap] of swaps.entries()) {
    const tokenIn = inputOf(swap)
    const tokenOut = outputOf(swap)
    const { step, extra, poolId } = callOf(swap)
    const isFinal = tokenOut === target && !swaps.slice(index + 1).some((later) => inputOf(later) === target)
    const takesUnwrapped = wraps && takesNative(swap) && !(staysNative && tokenIn === source)
    if (takesUnwrapped)
      writer.step({ step: stepKinds.unwrap, tokenIn: wrapped, tokenOut: zeroAddress, share: swap.share })
    if (swap.share === SHARE_ALL) heldTokens.delete(tokenIn)

    const goesToTarget = isFinal && paysAnyone(swap) && (!wraps || paysNative(swap) === unwrapsTarget)
    const goesToNext = !goesToTarget && !heldTokens.has(tokenOut) && canPrepay(swap, swaps[index + 1])
    const to = goesToTarget ? flags.toTarget : goesToNext ? flags.toNextPool : flags.here
    writer.step({
      step,
      tokenIn: takesNative(swap) ? zeroAddress : tokenIn,
      tokenOut: paysNative(swap) ? zeroAddress : tokenOut,
      flags: to | (isPrepaid ? flags.prepaid : 0),
      share: takesUnwrapped ? SHARE_ALL : swap.share,
      extra,
      pool: swap.pool.address,
    })
    if (poolId !== undefined) writer.word(poolId)
    isPrepaid = goesToNext
    if (goesToTarget || goesToNext) continue
    heldTokens.add(tokenOut)
    if (wraps && paysNative(swap)) writer.step({ step: stepKinds.wrap, tokenIn: zeroAddress, tokenOut: wrapped })
    if (tokenOut === target) leavesWrapped = true
  }
  if (unwrapsTarget && leavesWrapped) writer.step({ step: stepKinds.unwrap, tokenIn: wrapped, tokenOut: zeroAddress })
  return writer.route()
}

/** True if the next swap takes exactly the output of this one and the pool can pay the next pool directly. */
function canPrepay(swap: RouteSwap, next: RouteSwap | undefined): boolean {
  if (next === undefined || next.share !== SHARE_ALL || inputOf(next) !== outputOf(swap)) return false
  if (!isPrepayable(next) || next.pool.address === swap.pool.address) return false
  // A Balancer step's next word is its pool's id.
  return paysAnyone(swap) && !paysNative(swap) && callOf(swap).poolId === undefined
}
