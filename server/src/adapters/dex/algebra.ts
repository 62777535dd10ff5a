import type { AlgebraPool } from '../../swap/routing/pools/algebra.ts'
import { feesAt, withFees } from './algebra-fee.ts'
import { readEach } from './calls.ts'
import { isConcentrated, readTicksOf } from './ticks.ts'
import type { DexReader, Ground, Tracked } from './tracked.ts'
import { applyV3, bitmapOf, INITIALIZE, LIQUIDITY, small, stateOf, v3Topics } from './uniswap-v3.ts'
import { addressOf, callOf, wordAt, wordsOf } from './words.ts'

/** Pool(address indexed,address indexed,address) */
const CREATED = '0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db'
const POOL_BY_PAIR = '0xd9a641e1'
export const GLOBAL_STATE = '0xe76c01e4'
export const TICK_SPACING = '0xd0c93a7c'
const TICK_TABLE = '0xc677e3e0'
/** Only version 2 has it. */
const SPACING_OF_ORDERS = '0x18dd8891'
/** Only Integral has it. */
const PLUGIN = '0xef01df4f'
/** Version 1 knows no other. */
const SPACING = 60

/** Versions 1 and 2. */
export const algebraDex: DexReader = {
  creation: ({ factory }) => ({ address: factory, topic: CREATED }),
  found({ topics, fields }, dex) {
    const [, token0, token1] = topics
    if (token0 === undefined || token1 === undefined) return null
    const address = addressOf(wordAt(wordsOf(fields), 0))
    return { id: address, address, dex, tokens: [addressOf(BigInt(token0)), addressOf(BigInt(token1))] }
  },
  async lookUp({ reader }, at, dex, pairs) {
    const calls = pairs.map(([a, b]) => ({ to: dex.factory, calldata: callOf(POOL_BY_PAIR, a, b) }))
    const answers = await reader.read(at, calls)
    return pairs.flatMap((tokens, index) => {
      const answer = answers[index]
      const word = answer ? wordAt(wordsOf(answer), 0) : 0n
      return word === 0n ? [] : [{ id: addressOf(word), address: addressOf(word), dex, tokens }]
    })
  },
  async readBase({ reader }, at, found) {
    const asked = [GLOBAL_STATE, LIQUIDITY, TICK_SPACING, SPACING_OF_ORDERS, PLUGIN] as const
    const answers = await readEach(reader, at, found, asked)
    return found.map((one, index) => {
      const [global, liquidity, spacing, orders, plugin] = answers[index] ?? []
      if (!global || !liquidity || plugin) return null
      const words = wordsOf(global)
      const state = stateOf(one, words, liquidity, spacing ? small(wordAt(wordsOf(spacing), 0)) : SPACING)
      if (state === null) return null
      const isList = orders !== null && orders !== undefined
      const pool: AlgebraPool = {
        kind: 'algebra',
        ...state,
        ticksBy: isList ? 'list' : 'words',
        feePpm: isList ? both(wordAt(words, 3)) : feesOf(words),
      }
      return { pool }
    })
  },
  async readTicks(ground, at, tracked) {
    const whole = await readAlgebraTicks(ground, at, tracked)
    return whole && withFees(ground, at, whole, await ground.reader.minedAt(at))
  },
  topics: [...v3Topics, INITIALIZE],
  poolOf: ({ address }) => address,
  apply: applyV3,
  renew: withFees,
  atTime: feesAt,
}

/** Version 2 and Integral have a bit for every tick, version 1 one for every tick that can be used. */
export async function readAlgebraTicks({ reader }: Ground, at: string, tracked: Tracked): Promise<Tracked | null> {
  const { pool } = tracked
  if (!isConcentrated(pool) || pool.kind !== 'algebra') return tracked
  const step = pool.ticksBy === 'list' ? 1 : pool.tickSpacing
  return readTicksOf(pool, bitmapOf(reader, at, pool.address, TICK_TABLE, step))
}

export const both = (fee: bigint): readonly [number, number] => [Number(fee), Number(fee)]

/** price, tick, fee, …; with a fee for each direction there is one word more. */
const feesOf = (words: readonly bigint[]): readonly [number, number] =>
  words.length === 8 ? [Number(wordAt(words, 2)), Number(wordAt(words, 3))] : both(wordAt(words, 2))
