import type { AlgebraPool } from '../../swap/routing/pools/algebra.ts'
import { algebraDex, both, GLOBAL_STATE, readAlgebraTicks, TICK_SPACING } from './algebra.ts'
import { readEach } from './calls.ts'
import type { DexReader, Tracked } from './tracked.ts'
import { applyV3, INITIALIZE, LIQUIDITY, small, stateOf, v3Topics } from './uniswap-v3.ts'
import { wordAt, wordsOf } from './words.ts'

/** Fee(uint16) */
const FEE = '0x598b9f043c813aa6be3426ca60d1c65d17256312890be5118dab55b0775ebe2a'
/** PluginConfig(uint8), TickSpacing(int24) */
const PLUGIN_CONFIG = '0x3a6271b36c1b44bd6a0a0d56230602dc6919b7c17af57254306fadf5fee69dc3'
const SPACING = '0x01413b1d5d4c359e9a0daa7909ecda165f6e8c51fe2ff529d74b22a5a7c02645'
/** Swap and Burn of later builds, which name the plugin's fees at their ends. */
const LATER_SWAP = '0x121cb44ee54098b1a04743c487e7460d8dd429b27f88b1f4d4767396e1a59f79'
const LATER_BURN = '0x932214d4a69c27c086643126ed97c32681da179064c678836c173f99bd13ca01'
/** Plugins.BEFORE_SWAP_FLAG: such a plugin names the fee in the swap itself, or refuses it. */
const BEFORE_SWAP = 1n
/** price, tick, lastFee, pluginConfig, communityFee, unlocked */
const STATE_WORDS = 6

const { creation, found, lookUp, poolOf } = algebraDex

/**
 * Algebra Integral. Pools whose plugin is asked before a swap are left out: what fee it will name nobody can know but it. Of all
 * others the fee is the one that they say, until a log says another.
 */
export const algebraIntegralDex: DexReader = {
  creation,
  found,
  lookUp,
  poolOf,
  async readBase({ reader }, at, asked) {
    const own = [GLOBAL_STATE, LIQUIDITY, TICK_SPACING] as const
    const answers = await readEach(reader, at, asked, own)
    return asked.map((one, place): Tracked | null => {
      const [global, liquidity, spacing] = answers[place] ?? []
      const words = wordsOf(global ?? '0x')
      if (!liquidity || !spacing || words.length !== STATE_WORDS) return null
      const state = stateOf(one, words, liquidity, small(wordAt(wordsOf(spacing), 0)))
      if (state === null) return null
      if ((wordAt(words, 3) & BEFORE_SWAP) !== 0n) return null
      const pool: AlgebraPool = { kind: 'algebra', ...state, ticksBy: 'list', feePpm: both(wordAt(words, 2)) }
      return { pool }
    })
  },
  readTicks: readAlgebraTicks,
  topics: [...v3Topics, INITIALIZE, FEE, PLUGIN_CONFIG, SPACING, LATER_SWAP, LATER_BURN],
  apply(tracked, log) {
    const { pool } = tracked
    if (log.topics[0] !== FEE || pool.kind !== 'algebra') return applyV3(tracked, log)
    return { ...tracked, pool: { ...pool, feePpm: both(wordAt(wordsOf(log.fields), 0)) } }
  },
}
