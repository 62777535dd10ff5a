import type { Hex } from 'viem'
import type { ForkedV3 } from '../../swap/domain/dex.ts'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import { addressOf, callOf, listOf, wordAt, wordsOf } from './abi-words.ts'
import { readEach } from './block-reader.ts'
import type { DexLog } from './logs.ts'
import { findPools, indexedTokens, poolIdentity } from './pool-identity.ts'
import { areTermsUnchanged, forecastFees, withForecastFee } from './slipstream-fee.ts'
import { trySwaps } from './swap-trial.ts'
import { afterLiquidity, readTicksOf } from './ticks.ts'
import type { DexReader, ReadContext, TrackedPool } from './tracked-pool.ts'
import {
  applyV3,
  CREATED,
  LIQUIDITY,
  SLOT0,
  small,
  stateOf,
  TICK_SPACING,
  v3TickSource,
  v3Topics,
} from './uniswap-v3.ts'

/** PoolCreated(address indexed,address indexed,int24 indexed,address) */
const SPACED_CREATED = '0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2'
/** Mint(address,address indexed,uint256,int24 indexed,int24 indexed,uint128,uint256,uint256), with the position's id */
const NUMBERED_MINT = '0xd78218c0d304e8893cb3200abe394bbc8d5b7804d9c51f236df9fdcf481d02d3'
/** getPool(address,address,int24), getPool(address,address,uint24) */
const POOL_BY_SPACING = '0x28af8d0b'
const POOL_BY_FEE = '0x1698ee82'
/** tickSpacings() */
const TICK_SPACINGS = '0x9cbbbe86'
/** fee(), currentFee() */
const FEE = '0xddca3f43'
const CURRENT_FEE = '0xda3c300d'
const MILLION = 1_000_000
/** Per eth_call: Slipstream gives its modules 200 000 gas each. */
const FEES_AT_ONCE = 80

type Fork = Readonly<{
  created: string
  getPool: Hex
  /** The fees or tick spacings of the pools of a pair; null: read from the factory. */
  keys: readonly number[] | null
  /** Calls that return the current fee, the first answer counts; null: the third word of slot0. */
  fee: readonly Hex[] | null
  /** The fee depends on time. */
  byTime: boolean
}>

const forks: Readonly<Record<ForkedV3, Fork>> = {
  slipstream: { created: SPACED_CREATED, getPool: POOL_BY_SPACING, keys: null, fee: [FEE], byTime: true },
  'ramses-v2': {
    created: CREATED,
    getPool: POOL_BY_FEE,
    keys: [100, 500, 3_000, 10_000],
    fee: [CURRENT_FEE, FEE],
    byTime: false,
  },
  'ramses-v3': {
    created: CREATED,
    getPool: POOL_BY_SPACING,
    keys: [1, 5, 10, 50, 100, 200],
    fee: [FEE],
    byTime: false,
  },
  'solidly-v3': { created: CREATED, getPool: POOL_BY_SPACING, keys: [1, 10, 50, 100], fee: null, byTime: false },
}

/**
 * Forks of Uniswap V3 with the same maths, whose fee changes without a reliable log: the fee of every pool is read in every block.
 * A pool is used only if a simulated swap pays what we compute (decision 0055).
 */
function createDynamicFeeV3(fork: Fork): DexReader {
  return {
    creation: ({ factory }) => ({ address: factory, topic: fork.created }),
    parseCreation(log, dex) {
      const tokens = indexedTokens(log)
      const [topic, , , key] = log.topics
      if (tokens === null || key === undefined) return null
      return poolIdentity(addressOf(wordAt(wordsOf(log.fields), topic === CREATED ? 1 : 0)), dex, tokens)
    },
    async lookUp({ reader }, at, dex, pairs) {
      const [spacings] = fork.keys ? [] : await reader.read(at, [{ to: dex.factory, calldata: TICK_SPACINGS }])
      const keys = fork.keys ?? listOf(wordsOf(spacings ?? '0x'), 0).map(small)
      const searches = pairs.flatMap((tokens) =>
        keys.map((key) => (fork.getPool === POOL_BY_FEE ? { tokens, feePpm: key } : { tokens, tickSpacing: key })),
      )
      return findPools(reader, at, dex, searches, ({ tokens: [a, b], feePpm, tickSpacing }) =>
        callOf(fork.getPool, a, b, feePpm ?? tickSpacing),
      )
    },
    async readBase({ reader }, at, identities) {
      const calls: readonly Hex[] = [LIQUIDITY, TICK_SPACING, SLOT0, ...(fork.fee ?? [])]
      const answers = await readEach(reader, at, identities, calls)
      return identities.map((one, index) => {
        const [liquidity, spacing, slot, ...fees] = answers[index] ?? []
        const feePpm = feeOf(fork, slot, fees)
        if (!slot || !liquidity || !spacing || feePpm === null) return null
        const state = stateOf(one, wordsOf(slot), liquidity, small(wordAt(wordsOf(spacing), 0)))
        return state && { pool: { kind: 'uniswap-v3', ...state, feePpm } }
      })
    },
    readTicks: (readContext, at, base) => readAndVerify(fork, readContext, at, base),
    tickSource: v3TickSource,
    topics: [...v3Topics, NUMBERED_MINT],
    apply,
    refresh: (readContext, at, pools, now) => refresh(fork, readContext, at, pools, now),
  }
}

/** The pool with its ticks; null if a simulated swap pays another amount than we compute. */
async function readAndVerify(
  fork: Fork,
  readContext: ReadContext,
  at: string,
  { pool: base }: TrackedPool,
): Promise<TrackedPool | null> {
  const basePool = base as UniswapV3Pool
  const whole = await readTicksOf(basePool, v3TickSource(readContext, at, basePool))
  if (whole === null) return null
  const pool = whole.pool as UniswapV3Pool
  const verdict = await trySwaps(readContext, at, pool)
  if (verdict === 'differs') return null
  // The next liquidity event triggers the trial.
  if (verdict === 'no liquidity') return { ...whole, idle: true }
  if (!fork.byTime) return whole
  const now = await readContext.reader.minedAt(at)
  return (await forecastFees(readContext, at, [{ tracked: whole, fee: pool.feePpm }], now))[0] ?? null
}

function apply(tracked: TrackedPool, log: DexLog): TrackedPool | 'reread' {
  // Idle without a trial so far. An idle pool with `fees` passed its trial and stays in sync.
  if (tracked.idle && tracked.fees === undefined) return 'reread'
  const { fees, ...rest } = tracked
  // A changed price or timestamp invalidates the fee forecast. An idle pool waits for its retry.
  const base = fees?.ppm.length === 0 ? tracked : rest
  if (log.topics[0] !== NUMBERED_MINT) return applyV3(base, log)
  const [lower, upper] = [log.topics[2], log.topics[3]].map((topic) => small(BigInt(topic ?? 0)))
  return afterLiquidity(base, lower ?? 0, upper ?? 0, wordAt(wordsOf(log.fields), 2))
}

/** Reads the fee of every pool, and checks by the active liquidity that no log was missed. */
async function refresh(
  fork: Fork,
  readContext: ReadContext,
  at: string,
  trackedPools: readonly TrackedPool[],
  now: number,
) {
  const pools = trackedPools.map(({ pool }) => pool as UniswapV3Pool)
  const answers: (readonly (Hex | null)[])[] = []
  for (let start = 0; start < pools.length; start += FEES_AT_ONCE) {
    const part = pools.slice(start, start + FEES_AT_ONCE)
    answers.push(...(await readEach(readContext.reader, at, part, [LIQUIDITY, ...(fork.fee ?? [SLOT0])])))
  }
  const areUnchanged = fork.byTime ? await areTermsUnchanged(readContext, at, trackedPools) : []
  const toForecast: { place: number; tracked: TrackedPool; fee: number }[] = []
  const next = trackedPools.map((tracked, place): TrackedPool | 'reread' => {
    const pool = pools[place] as UniswapV3Pool
    const [liquidity, ...rest] = answers[place] ?? []
    const fee = feeOf(fork, rest[0], rest)
    if (fee === null || !liquidity || wordAt(wordsOf(liquidity), 0) !== pool.liquidity) return 'reread'
    if (!fork.byTime) return fee === pool.feePpm ? tracked : { ...tracked, pool: { ...pool, feePpm: fee } }
    // No trial so far.
    if (tracked.idle && tracked.fees === undefined) return tracked
    const withFee = withForecastFee(tracked, fee, now, areUnchanged[place] === true)
    if (withFee === null) toForecast.push({ place, tracked, fee })
    return withFee ?? tracked
  })
  const forecasts = await forecastFees(readContext, at, toForecast, now)
  for (const [index, { place }] of toForecast.entries()) next[place] = forecasts[index] ?? 'reread'
  return next
}

function feeOf({ fee }: Fork, slot: Hex | null | undefined, answers: readonly (Hex | null)[]): number | null {
  const answer = fee === null ? slot : answers.find((one) => one !== null)
  if (!answer) return null
  const ppm = Number(wordAt(wordsOf(answer), fee === null ? 2 : 0))
  return ppm < MILLION ? ppm : null
}

export const dynamicFeeV3Dexes: Readonly<Record<ForkedV3, DexReader>> = {
  slipstream: createDynamicFeeV3(forks.slipstream),
  'ramses-v2': createDynamicFeeV3(forks['ramses-v2']),
  'ramses-v3': createDynamicFeeV3(forks['ramses-v3']),
  'solidly-v3': createDynamicFeeV3(forks['solidly-v3']),
}
