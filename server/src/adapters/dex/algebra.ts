import type { AlgebraPool } from '../../swap/routing/pools/algebra.ts'
import { type ConcentratedPool, isConcentrated } from '../pools/concentrated-pool.ts'
import { addressOf, callOf, wordAt, wordsOf } from './abi-words.ts'
import { forecastFees, withFeeAt } from './algebra-fee.ts'
import { readEach } from './block-reader.ts'
import { findPools, indexedTokens, poolIdentity } from './pool-identity.ts'
import { readTicksOf } from './ticks.ts'
import type { DexReader, ReadContext, TickSource, TrackedPool } from './tracked-pool.ts'
import { applyV3, bitmapOf, INITIALIZE, LIQUIDITY, small, stateOf, v3Topics } from './uniswap-v3.ts'

/** Pool(address indexed,address indexed,address) */
const CREATED = '0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db'
const POOL_BY_PAIR = '0xd9a641e1'
export const GLOBAL_STATE = '0xe76c01e4'
export const TICK_SPACING = '0xd0c93a7c'
const TICK_TABLE = '0xc677e3e0'
/** Only version 2 has it. */
const LIMIT_ORDER_SPACING = '0x18dd8891'
/** Only Integral has it. */
const PLUGIN = '0xef01df4f'
/** The only spacing of version 1. */
const SPACING = 60

/** Versions 1 and 2. */
export const algebraDex = {
  creation: ({ factory }) => ({ address: factory, topic: CREATED }),
  parseCreation(log, dex) {
    const tokens = indexedTokens(log)
    return tokens && poolIdentity(addressOf(wordAt(wordsOf(log.fields), 0)), dex, tokens)
  },
  lookUp({ reader }, at, dex, pairs) {
    const searches = pairs.map((tokens) => ({ tokens }))
    return findPools(reader, at, dex, searches, ({ tokens: [a, b] }) => callOf(POOL_BY_PAIR, a, b))
  },
  async readBase({ reader }, at, identities) {
    const calls = [GLOBAL_STATE, LIQUIDITY, TICK_SPACING, LIMIT_ORDER_SPACING, PLUGIN] as const
    const answers = await readEach(reader, at, identities, calls)
    return identities.map((one, index) => {
      const [global, liquidity, spacing, orders, plugin] = answers[index] ?? []
      if (!global || !liquidity || plugin) return null
      const words = wordsOf(global)
      const state = stateOf(one, words, liquidity, spacing ? small(wordAt(wordsOf(spacing), 0)) : SPACING)
      if (state === null) return null
      const usesTickList = orders !== null && orders !== undefined
      const pool: AlgebraPool = {
        kind: 'algebra',
        ...state,
        ticksBy: usesTickList ? 'list' : 'words',
        feePpm: usesTickList ? both(wordAt(words, 3)) : feesOf(words),
      }
      return { pool }
    })
  },
  async readTicks(readContext, at, tracked) {
    const withTicks = await readAlgebraTicks(readContext, at, tracked)
    return withTicks && forecastFees(readContext, at, withTicks, await readContext.reader.minedAt(at))
  },
  tickSource: algebraTickSource,
  topics: [...v3Topics, INITIALIZE],
  apply: applyV3,
  renew: forecastFees,
  atTime: withFeeAt,
} satisfies DexReader

export async function readAlgebraTicks(
  readContext: ReadContext,
  at: string,
  tracked: TrackedPool,
): Promise<TrackedPool | null> {
  const { pool } = tracked
  return isConcentrated(pool) ? readTicksOf(pool, algebraTickSource(readContext, at, pool)) : tracked
}

/** The bitmap has a bit for every tick in version 2 and Integral, and for every usable tick in version 1. */
export function algebraTickSource({ reader }: ReadContext, at: string, pool: ConcentratedPool): TickSource {
  const step = pool.kind === 'algebra' && pool.ticksBy === 'list' ? 1 : pool.tickSpacing
  return bitmapOf(reader, at, pool.address, TICK_TABLE, step)
}

export const both = (fee: bigint): readonly [number, number] => [Number(fee), Number(fee)]

/** price, tick, fee, …; one word more if each direction has its own fee. */
const feesOf = (words: readonly bigint[]): readonly [number, number] =>
  words.length === 8 ? [Number(wordAt(words, 2)), Number(wordAt(words, 3))] : both(wordAt(words, 2))
