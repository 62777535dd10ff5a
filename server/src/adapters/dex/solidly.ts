import type { Hex } from 'viem'
import type { Dex, SolidlyFork } from '../../swap/domain/dex.ts'
import { type SolidlyPool, solidly } from '../../swap/routing/pools/solidly.ts'
import { addressOf, callOf, firstWord, numberOf, wordAt, wordsOf } from './abi-words.ts'
import { readLists } from './block-reader.ts'
import { findPools, indexedTokens, poolIdentity } from './pool-identity.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'

/** PairCreated(address indexed,address indexed,bool,address,uint256) */
const PAIR_CREATED = '0xc4805696c66d7cf352fc1d6bb633ad5ee82f6cb577c453024b6e0eb8306c6fc9'
/** PoolCreated(address indexed,address indexed,bool indexed,address,uint256) */
const POOL_CREATED = '0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e'
/** getPair and getPool(address,address,bool) */
const GET_PAIR = '0x6801cc30'
const GET_POOL = '0x79bc57d5'
/** Sync(uint256,uint256), and Sync(uint112,uint112) of some forks */
const SYNC = '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a'
const SYNC_SHORT = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
/** SetCustomFee(address indexed pool,uint256), emitted by the factory */
const CUSTOM_FEE = '0xae468ce586f9a87660fdffc1448cee942042c16ae2f02046b134b5224f31936b'
/** metadata(): both units, both reserves, whether stable, both tokens */
const METADATA = '0x392f37e9'
const AMOUNT_OUT = '0xf140a35a'
const IS_PAUSED = '0xb187bd26'
/** getFee(bool), getFee(address,bool), getRealFee(address), pairFee(address) */
const FEE_OF_TYPE = '0x512b45ea'
const FEE_OF_POOL = '0xcc56b2c5'
const REAL_FEE = '0x6652f0bf'
const PAIR_FEE = '0x841fa66b'
/** A fee for all stable or volatile pools changes without a log, as does a pause in most forks: both are read at this interval. */
const REREAD_SECONDS = 60
/** The divisor of the reserve that gives the trial amount: large enough to show the smallest fee and the rounding. */
const TRIAL_PART = 97n
const PPM = 1_000_000n

type Fees = Readonly<{
  /** Calls of the factory; the first non-zero answer is the fee, otherwise zero. */
  calls(pool: string, stable: boolean): readonly Hex[]
  /** The unit of the answer: this value is a fee of 100 %. */
  unit: bigint
}>
type Fork = Readonly<{ created: string; lookUp: Hex; newton: SolidlyPool['newton']; fees: Fees | null }>

const pairTerms = { created: PAIR_CREATED, lookUp: GET_PAIR, newton: 'v1' } as const
const feeOfType = (stable: boolean): Hex => callOf(FEE_OF_TYPE, stable ? 1 : 0)
const feeOfPool: Fees = { calls: (pool, stable) => [callOf(FEE_OF_POOL, pool, stable ? 1 : 0)], unit: 10_000n }

const forks: Readonly<Record<SolidlyFork, Fork>> = {
  solidly: { ...pairTerms, fees: null },
  'velodrome-v1': { ...pairTerms, fees: { calls: (_pool, stable) => [feeOfType(stable)], unit: 10_000n } },
  'velodrome-v2': { created: POOL_CREATED, lookUp: GET_POOL, newton: 'v2', fees: feeOfPool },
  equalizer: { ...pairTerms, fees: { calls: (pool) => [callOf(REAL_FEE, pool)], unit: 10n ** 18n } },
  ramses: {
    ...pairTerms,
    fees: { calls: (pool, stable) => [callOf(PAIR_FEE, pool), feeOfType(stable)], unit: 10_000n },
  },
  blackhole: { ...pairTerms, fees: feeOfPool },
}
const forkOf = ({ fork = 'solidly' }: Dex): Fork => forks[fork]

export const solidlyDex: DexReader = {
  creation: (dex) => ({ address: dex.factory, topic: forkOf(dex).created }),
  parseCreation(log, dex) {
    const tokens = indexedTokens(log)
    if (tokens === null) return null
    const words = wordsOf(log.fields)
    const [topic, , , stableTopic] = log.topics
    const isIndexed = topic === POOL_CREATED
    const stable = (isIndexed ? BigInt(stableTopic ?? 0) : wordAt(words, 0)) !== 0n
    return poolIdentity(addressOf(wordAt(words, isIndexed ? 0 : 1)), dex, tokens, { stable })
  },
  lookUp({ reader }, at, dex, pairs) {
    const searches = pairs.flatMap((tokens) => [false, true].map((stable) => ({ tokens, stable })))
    const { lookUp } = forkOf(dex)
    return findPools(reader, at, dex, searches, ({ tokens: [a, b], stable }) => callOf(lookUp, a, b, stable ? 1 : 0))
  },
  readBase,
  topics: [SYNC, SYNC_SHORT, CUSTOM_FEE],
  poolOf: ({ address, topics }) => (topics[0] === CUSTOM_FEE ? addressOf(BigInt(topics[1] ?? 0)) : address),
  apply(tracked, { topics, fields }) {
    if (tracked.pool.kind !== 'solidly' || tracked.idle || topics[0] === CUSTOM_FEE) return 'reread'
    const words = wordsOf(fields)
    return { ...tracked, pool: { ...tracked.pool, reserves: [wordAt(words, 0), wordAt(words, 1)] } }
  },
}

async function readBase(
  readContext: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<(TrackedPool | null)[]> {
  const { reader } = readContext
  const factories = [...new Set(identities.map(({ dex }) => dex.factory))]
  const [holdsUntil, answers] = await Promise.all([
    reader.minedAt(at).then((seconds) => seconds + REREAD_SECONDS),
    reader.read(at, [
      ...factories.map((to) => ({ to, calldata: IS_PAUSED }) as const),
      ...identities.map(({ address: to }) => ({ to, calldata: METADATA }) as const),
    ]),
  ])
  const paused = new Set(factories.filter((_, index) => numberOf(answers[index]) !== 0n))
  const poolsWithoutFee = identities.map((one, index) => poolOf(one, answers[factories.length + index]))
  const verified = await verifyAll(readContext, at, identities, poolsWithoutFee)
  return verified.map((one, index) => {
    if (one === null) return null
    const isIdle = one.idle || paused.has(identities[index]?.dex.factory ?? '')
    return isIdle ? { ...one, holdsUntil, idle: true } : { ...one, holdsUntil }
  })
}

/** The pool from its metadata, with the configured fee of the DEX. */
function poolOf({ id, address, dex, tokens }: PoolIdentity, metadata: Hex | null | undefined): SolidlyPool | null {
  const words = wordsOf(metadata ?? '0x')
  if (words.length < 7 || tokens.some((token, index) => token !== addressOf(wordAt(words, 5 + index)))) return null
  const units = [wordAt(words, 0), wordAt(words, 1)] as const
  const reserves = [wordAt(words, 2), wordAt(words, 3)] as const
  if (units.includes(0n)) return null
  const { newton } = forkOf(dex)
  const identity = { kind: 'solidly', id, address, dex: dex.name, tokens } as const
  return { ...identity, stable: wordAt(words, 4) !== 0n, newton, reserves, units, feePpm: dex.feePpm ?? 0 }
}

/**
 * Adds the fees of the factory. Forks differ in undocumented ways: a pool is used only if its getAmountOut, which our executor
 * uses, returns what we compute.
 */
async function verifyAll(
  { reader }: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
  pools: readonly (SolidlyPool | null)[],
): Promise<(TrackedPool | null)[]> {
  const calls = pools.map((pool, index) =>
    pool === null ? [] : trialCalls(pool, (identities[index] as PoolIdentity).dex),
  )
  const answers = await readLists(reader, at, calls)
  return pools.map((poolWithoutFee, index) => {
    const [first, second, ...fees] = (answers[index] ?? []).map(firstWord)
    const feePpm = feeOf((identities[index] as PoolIdentity).dex, fees)
    if (poolWithoutFee === null || feePpm === null) return null
    const pool = { ...poolWithoutFee, feePpm }
    const expected = [0, 1].map(
      (tokenIn) => solidly.swap(pool, tokenIn, 1 - tokenIn, trialOf(pool, tokenIn))?.amountOut,
    )
    // No output in either direction: the pool is empty or nearly empty.
    if (expected.every((out) => out === undefined)) return { pool, idle: true }
    // getAmountOut returns a value even if the swap would fail; then only the other direction is compared.
    return expected.every((out, side) => out === undefined || out === [first, second][side]) ? { pool } : null
  })
}

/** The calls for a trial in each direction, then for the fee. */
function trialCalls(pool: SolidlyPool, dex: Dex) {
  const { address, tokens, stable } = pool
  const trials = [0, 1].map((tokenIn) => callOf(AMOUNT_OUT, trialOf(pool, tokenIn), tokens[tokenIn] ?? ''))
  const fees = forkOf(dex).fees?.calls(address, stable) ?? []
  return [
    ...trials.map((calldata) => ({ to: address, calldata })),
    ...fees.map((calldata) => ({ to: dex.factory, calldata })),
  ]
}

const trialOf = ({ reserves }: SolidlyPool, tokenIn: number): bigint => (reserves[tokenIn] ?? 0n) / TRIAL_PART + 1n

/** Null without an answer, or if the fee is not a whole number of millionths. */
function feeOf(dex: Dex, answers: readonly (bigint | null)[]): number | null {
  const { fees } = forkOf(dex)
  if (fees === null) return dex.feePpm ?? null
  const fee = answers.find((answer) => answer !== 0n)
  if (fee === undefined) return 0
  if (fee === null || (fee * PPM) % fees.unit !== 0n || fee >= fees.unit) return null
  return Number((fee * PPM) / fees.unit)
}
