import type { AlgebraPool } from '../../swap/routing/pools/algebra.ts'
import { wordAt, wordsOf } from './abi-words.ts'
import { algebraDex, algebraTickSource, both, GLOBAL_STATE, readAlgebraTicks, TICK_SPACING } from './algebra.ts'
import { readEach } from './block-reader.ts'
import type { DexReader, TrackedPool } from './tracked-pool.ts'
import { applyV3, INITIALIZE, LIQUIDITY, small, stateOf, v3Topics } from './uniswap-v3.ts'

/** Fee(uint16) */
const FEE = '0x598b9f043c813aa6be3426ca60d1c65d17256312890be5118dab55b0775ebe2a'
/** PluginConfig(uint8), TickSpacing(int24) */
const PLUGIN_CONFIG = '0x3a6271b36c1b44bd6a0a0d56230602dc6919b7c17af57254306fadf5fee69dc3'
const SPACING = '0x01413b1d5d4c359e9a0daa7909ecda165f6e8c51fe2ff529d74b22a5a7c02645'
/** Swap and Burn of later builds; their last fields are the plugin's fees. */
const LATER_SWAP = '0x121cb44ee54098b1a04743c487e7460d8dd429b27f88b1f4d4767396e1a59f79'
const LATER_BURN = '0x932214d4a69c27c086643126ed97c32681da179064c678836c173f99bd13ca01'
/** Plugins.BEFORE_SWAP_FLAG: the plugin sets the fee during the swap, or rejects the swap. */
const BEFORE_SWAP = 1n
/** price, tick, lastFee, pluginConfig, communityFee, unlocked */
const STATE_WORDS = 6

const { creation, parseCreation, lookUp } = algebraDex

/**
 * Algebra Integral. Pools with a before-swap plugin are excluded, because their fee cannot be forecast. The fee of other pools
 * changes only with a Fee log.
 */
export const algebraIntegralDex: DexReader = {
  creation,
  parseCreation,
  lookUp,
  async readBase({ reader }, at, identities) {
    const calls = [GLOBAL_STATE, LIQUIDITY, TICK_SPACING] as const
    const answers = await readEach(reader, at, identities, calls)
    return identities.map((one, place): TrackedPool | null => {
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
  tickSource: algebraTickSource,
  topics: [...v3Topics, INITIALIZE, FEE, PLUGIN_CONFIG, SPACING, LATER_SWAP, LATER_BURN],
  apply(tracked, log) {
    const { pool } = tracked
    if (log.topics[0] !== FEE || pool.kind !== 'algebra') return applyV3(tracked, log)
    return { ...tracked, pool: { ...pool, feePpm: both(wordAt(wordsOf(log.fields), 0)) } }
  },
}
