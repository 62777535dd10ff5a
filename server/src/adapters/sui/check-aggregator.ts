import { setTimeout } from 'node:timers/promises'
import type { Dex } from '../../swap/domain/dex.ts'
import type { AggregatorTrade, AggregatorTransaction, PoolStep, TakerOrder } from '../../swap/ports/aggregator.ts'
import { executeRoute, type RouteSwap, SHARE_ALL, SHARE_BITS } from '../../swap/routing/execute.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { parseCoinType } from './address-format.ts'
import { createPoolFollower } from './follow-pools.ts'
import type { SuiNode } from './node.ts'
import { createCetusReader } from './read-cetus.ts'

const STEPS_MAX = 12
const TURNS_MAX = 4
/** About the time between checkpoints. */
const TURN_MS = 250
/** 2,000 ticks. Anyone can create a pool with more, and an aggregator can name any pool; the operator's own are read as a whole. */
const UNLISTED_PAGES_MAX = 10

/**
 * Turns the pools that an aggregator names into a route of ours: the pools are read from the node, what they pay is computed, and the
 * commands are those of our own routes. Null if a pool is not of a listed package, or if the route does not use all of its coins.
 */
export async function readAggregatorCall(
  node: SuiNode,
  dexes: readonly Dex[],
  transaction: AggregatorTransaction,
  { tokenIn, tokenOut, amountIn }: TakerOrder,
  packages: readonly string[],
  signal?: AbortSignal,
): Promise<AggregatorTrade | null> {
  if (!('steps' in transaction)) return null
  const { steps } = transaction
  const dex = dexes.find(
    ({ kind, factory, enabled }) => kind === 'cetus' && enabled !== false && packages.includes(factory),
  )
  if (dex === undefined || steps.length === 0 || steps.length > STEPS_MAX) return null
  if (!steps.every((step) => step.dex === dex.kind && OBJECT_ID.test(step.pool))) return null
  const ids = [...new Set(steps.map(({ pool }) => pool))]
  const read = await readPools(node, dex, ids, signal)
  const pools = new Map(read.map((pool) => [pool.id, pool]))
  const swaps = toSwaps(steps, pools, tokenIn, tokenOut)
  if (swaps === null) return null
  const executed = executeRoute(swaps, tokenIn, tokenOut, amountIn)
  return executed.amountOut === null ? null : { amountOut: executed.amountOut, call: { swaps: executed.swaps } }
}

/** A pool that trades while it is read is complete after the next checkpoints. */
async function readPools(
  node: SuiNode,
  dex: Dex,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly Pool[]> {
  const isListed = (id: string) => dex.pools?.includes(id) === true
  const lists = [
    { dex: { ...dex, pools: ids.filter(isListed) }, reader: createCetusReader({ signal }) },
    {
      dex: { ...dex, pools: ids.filter((id) => !isListed(id)) },
      reader: createCetusReader({ pagesMax: UNLISTED_PAGES_MAX, signal }),
    },
  ]
  const follower = createPoolFollower({ lists, staleMs: Number.POSITIVE_INFINITY, now: Date.now })
  for (let turn = 0; turn < TURNS_MAX && !follower.isRead(); turn++) {
    if (turn > 0) await setTimeout(TURN_MS)
    signal?.throwIfAborted()
    const newest = await follower.readNewest(node)
    // What pools of Cetus pay does not depend on the price of gas.
    await follower.advance({ node, newest, tip: await node.readTip(), gasPrice: 0n })
  }
  return follower.pools()
}

const OBJECT_ID = /^0x[0-9a-f]{64}$/

function toSwaps(
  steps: readonly PoolStep[],
  pools: ReadonlyMap<string, Pool>,
  tokenIn: string,
  tokenOut: string,
): readonly RouteSwap[] | null {
  const parsed = steps.map((step) => ({ ...step, from: parseCoinType(step.from), to: parseCoinType(step.to) }))
  const lastOf = (side: 'from' | 'to', token: string | null) => parsed.findLastIndex((step) => step[side] === token)
  // What is left of each coin, by the aggregator's amounts; the last swap of a coin takes all of it.
  const swaps = parsed.map(({ pool: id, from, to, amountIn }, index): RouteSwap | null => {
    const pool = pools.get(id)
    const [placeIn, placeOut] = [pool?.tokens.indexOf(from ?? ''), pool?.tokens.indexOf(to ?? '')]
    if (pool === undefined || placeIn === undefined || placeOut === undefined) return null
    if (placeIn === -1 || placeOut === -1 || placeIn === placeOut) return null
    const later = parsed.slice(index).filter((step) => step.from === from)
    const left = later.reduce((sum, step) => sum + step.amountIn, 0n)
    const share = later.length === 1 ? SHARE_ALL : shareOf(amountIn, left)
    return { pool, tokenIn: placeIn, tokenOut: placeOut, share }
  })
  const tokens = new Set(parsed.flatMap(({ from, to }) => [from, to]))
  // A coin that is paid after its last use would be left over.
  const isSpent = [...tokens].every((token) =>
    token === tokenOut ? lastOf('from', token) === -1 : lastOf('from', token) > lastOf('to', token),
  )
  const isComplete = tokens.has(tokenIn) && tokens.has(tokenOut) && lastOf('to', tokenIn) === -1 && isSpent
  const known = swaps.filter((swap) => swap !== null)
  return isComplete && known.length === swaps.length ? known : null
}

/** A share in 2^24 parts; below all of it. */
function shareOf(amount: bigint, left: bigint): number {
  const share = left === 0n ? 0n : (amount << SHARE_BITS) / left
  const most = BigInt(SHARE_ALL) - 1n
  return Number.parseInt((share < most ? share : most).toString(), 10)
}
