import type { Hex } from 'viem'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import { type ConcentratedPool, isConcentrated } from '../pools/concentrated-pool.ts'
import { addressOf, callOf, firstWord, signed, wordAt, wordsOf } from './abi-words.ts'
import { type BlockReader, readEach } from './block-reader.ts'
import type { DexLog } from './logs.ts'
import { findPools, indexedTokens, poolIdentity } from './pool-identity.ts'
import { afterLiquidity, afterSwap, readTicksOf, tickOf } from './ticks.ts'
import type { DexReader, PoolIdentity, ReadContext, TickSource, TrackedPool } from './tracked-pool.ts'

/** PoolCreated(address indexed,address indexed,uint24 indexed,int24,address) */
export const CREATED = '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118'
/** Initialize(uint160,int24) */
export const INITIALIZE = '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95'
/** Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24) */
const SWAP = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67'
/** PancakeSwap's Swap, with the protocol fees as the last fields. */
const PANCAKE_SWAP = '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83'
/** Mint(address,address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256) */
const MINT = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde'
/** Burn(address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256) */
const BURN = '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c'

const GET_POOL = '0x1698ee82'
export const SLOT0 = '0x3850c7bd'
export const LIQUIDITY = '0x1a686502'
export const TICK_SPACING = '0xd0c93a7c'
const TICK_BITMAP = '0x5339c296'
export const TICKS = '0xf30dba93'
/** The fees of Uniswap and PancakeSwap, ppm. */
const FEES = [100, 500, 2_500, 3_000, 10_000]

export const uniswapV3Dex: DexReader = {
  creation: ({ factory }) => ({ address: factory, topic: CREATED }),
  parseCreation(log, dex) {
    const [tokens, fee] = [indexedTokens(log), log.topics[3]]
    if (tokens === null || fee === undefined) return null
    const words = wordsOf(log.fields)
    const terms = { feePpm: Number.parseInt(fee, 16), tickSpacing: small(wordAt(words, 0)) }
    return poolIdentity(addressOf(wordAt(words, 1)), dex, tokens, terms)
  },
  lookUp({ reader }, at, dex, pairs) {
    const searches = pairs.flatMap((tokens) => FEES.map((feePpm) => ({ tokens, feePpm })))
    return findPools(reader, at, dex, searches, ({ tokens: [a, b], feePpm }) => callOf(GET_POOL, a, b, feePpm))
  },
  async readBase({ reader }, at, identities) {
    const calls = [SLOT0, LIQUIDITY, TICK_SPACING] as const
    const answers = await readEach(reader, at, identities, calls)
    return identities.map((one, index) => {
      const [slot, liquidity, spacing] = answers[index] ?? []
      if (!slot || !liquidity || !spacing) return null
      const state = stateOf(one, wordsOf(slot), liquidity, small(wordAt(wordsOf(spacing), 0)))
      if (state === null) return null
      const pool: UniswapV3Pool = { kind: 'uniswap-v3', ...state, feePpm: one.feePpm ?? 3_000 }
      return { pool }
    })
  },
  async readTicks(readContext, at, tracked) {
    const { pool } = tracked
    return isConcentrated(pool) ? readTicksOf(pool, v3TickSource(readContext, at, pool)) : tracked
  },
  tickSource: v3TickSource,
  topics: [SWAP, PANCAKE_SWAP, MINT, BURN],
  apply: applyV3,
}

export function v3TickSource(
  { reader }: ReadContext,
  at: string,
  { address, tickSpacing }: Pick<ConcentratedPool, 'address' | 'tickSpacing'>,
): TickSource {
  return bitmapOf(reader, at, address, TICK_BITMAP, tickSpacing)
}

/** A pool without fee and ticks. `slot0` and Algebra's `globalState` both begin with price and tick. Null for an uninitialized pool. */
export function stateOf(
  { id, address, dex, tokens }: PoolIdentity,
  state: readonly bigint[],
  liquidity: Hex,
  tickSpacing: number,
): Omit<UniswapV3Pool, 'kind' | 'feePpm'> | null {
  const sqrtPrice = wordAt(state, 0)
  if (sqrtPrice === 0n) return null
  const tick = small(wordAt(state, 1))
  return {
    ...{ id, address, dex: dex.name, tokens, sqrtPrice, tick, tickSpacing },
    ...{ liquidity: wordAt(wordsOf(liquidity), 0), ticks: [] },
  }
}

/** Applies Swap, Mint and Burn; Algebra uses the same events. */
export function applyV3(tracked: TrackedPool, { topics, fields }: DexLog): TrackedPool | 'reread' {
  const words = wordsOf(fields)
  const [topic, ...indexed] = topics
  if (topic === SWAP || topic === PANCAKE_SWAP)
    return afterSwap(tracked, wordAt(words, 2), wordAt(words, 3), small(wordAt(words, 4)))
  const lower = small(BigInt(indexed[1] ?? 0))
  const upper = small(BigInt(indexed[2] ?? 0))
  if (topic === MINT) return afterLiquidity(tracked, lower, upper, wordAt(words, 1))
  if (topic === BURN) return afterLiquidity(tracked, lower, upper, -wordAt(words, 0))
  return 'reread'
}
export const v3Topics = [SWAP, MINT, BURN]

/** Decodes a tick or a spacing (int24). */
export const small = (word: bigint): number => Number(signed(word, 24))

export function bitmapOf(reader: BlockReader, at: string, address: string, selector: `0x${string}`, step: number) {
  const ask = (method: `0x${string}`, indexes: readonly number[]) =>
    reader.read(
      at,
      indexes.map((index) => ({ to: address, calldata: callOf(method, index) })),
    )
  return {
    step,
    words: async (indexes: readonly number[]) => (await ask(selector, indexes)).map(firstWord),
    ticks: async (indexes: readonly number[]) =>
      (await ask(TICKS, indexes)).map((answer, place) => tickOf(indexes[place] as number, answer)),
  }
}
