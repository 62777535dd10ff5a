import { type Hex, toEventSelector, toFunctionSelector } from 'viem'
import { type LiquidityBookPool, liquidityBook } from '../../swap/routing/pools/liquidity-book.ts'
import { addressOf, callOf, wordAt, wordsOf } from './abi-words.ts'
import { readEach } from './block-reader.ts'
import { indexedTokens, poolIdentity } from './pool-identity.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'

const CREATED = toEventSelector('LBPairCreated(address,address,uint256,address,uint256)')
/** Events that change the output of a pair. */
const changeTopics = [
  'Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)',
  'DepositedToBins(address,address,uint256[],bytes32[])',
  'WithdrawnFromBins(address,address,uint256[],bytes32[])',
  'CompositionFees(address,uint24,bytes32,bytes32)',
  'StaticFeeParametersSet(address,uint16,uint16,uint16,uint16,uint24,uint16,uint24)',
  'HooksParametersSet(address,bytes32)',
  'ForcedDecay(address,uint24,uint24)',
].map((text) => toEventSelector(text))

const call = {
  pairs: toFunctionSelector('getAllLBPairs(address,address)'),
  bin: toFunctionSelector('getBin(uint24)'),
  amountOut: toFunctionSelector('getSwapOut(uint128,bool)'),
}
const stateCalls = {
  tokenX: toFunctionSelector('getTokenX()'),
  tokenY: toFunctionSelector('getTokenY()'),
  step: toFunctionSelector('getBinStep()'),
  active: toFunctionSelector('getActiveId()'),
  fees: toFunctionSelector('getStaticFeeParameters()'),
  volatility: toFunctionSelector('getVariableFeeParameters()'),
  reserves: toFunctionSelector('getReserves()'),
  /** Only version 2.2. */
  hooks: toFunctionSelector('getLBHooksParameters()'),
} as const
type Answers = Readonly<Record<keyof typeof stateCalls, readonly bigint[] | null>>

/** Words of one entry of getAllLBPairs: bin step, pair, and two others. */
const ENTRY_WORDS = 4
/** Bins are read up to double and half the price, at most BINS_MAX on each side. */
const REACH = Math.log(2)
const BINS_MAX = 400
const ID_MAX = 2 ** 24 - 1
/** The divisor of the reserves that gives the trial amount. */
const TRIAL_PART = 100n

/**
 * Pairs of the Liquidity Book 2.1 and 2.2 without hooks. Every log of a pair triggers a full read, as does the end of its filter
 * and decay periods, when the variable fee falls.
 */
export const liquidityBookDex: DexReader = {
  creation: ({ factory }) => ({ address: factory, topic: CREATED }),
  parseCreation(log, dex) {
    const tokens = indexedTokens(log)
    return tokens && poolIdentity(addressOf(wordAt(wordsOf(log.fields), 0)), dex, tokens)
  },
  async lookUp({ reader }, at, dex, pairs) {
    const calls = pairs.map(([a, b]) => ({ to: dex.factory, calldata: callOf(call.pairs, a, b) }))
    return (await reader.read(at, calls)).flatMap((answer) => {
      const [, count = 0n, ...words] = wordsOf(answer ?? '0x')
      const places = words.flatMap((_, place) => (place % ENTRY_WORDS === 1 ? [place] : []))
      const pools = places.map((place) => poolIdentity(addressOf(wordAt(words, place)), dex, []))
      return pools.filter((_, index) => index < count)
    })
  },
  readBase: readPairs,
  readTicks: readBins,
  topics: changeTopics,
  apply: () => 'reread',
}

async function readPairs(
  { reader }: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<(TrackedPool | null)[]> {
  const names = Object.keys(stateCalls) as (keyof typeof stateCalls)[]
  const calls = names.map((name) => stateCalls[name])
  const answers = await readEach(reader, at, identities, calls)
  const seconds = identities.length === 0 ? 0 : await reader.minedAt(at)
  return identities.map((one, index) => {
    const wordsFor = (place: number) => {
      const answer = answers[index]?.[place]
      return answer ? wordsOf(answer) : null
    }
    const answersOfPair = Object.fromEntries(names.map((name, place) => [name, wordsFor(place)])) as Answers
    return pairOf(one, answersOfPair, seconds)
  })
}

/** Null for an unsupported pair. The reserves are in one bin, for the ranking, until the bins are read. */
function pairOf({ id, address, dex }: PoolIdentity, answers: Answers, seconds: number): TrackedPool | null {
  const { tokenX, tokenY, step, active, fees, volatility, reserves, hooks } = answers
  if (!tokenX || !tokenY || !step || !active || !fees || !volatility || !reserves) return null
  if (hooks !== null && wordAt(hooks, 0) !== 0n) return null
  const small = (words: readonly bigint[], place: number) => Number(wordAt(words, place))
  const lastUpdate = small(volatility, 3)
  const [filterPeriod, decayPeriod] = [small(fees, 1), small(fees, 2)]
  const passed = seconds - lastUpdate
  // The fee is constant within a period: the start of the period represents all of it.
  const [since, until] =
    passed >= decayPeriod ? [decayPeriod] : passed >= filterPeriod ? [filterPeriod, decayPeriod] : [0, filterPeriod]
  const pool: LiquidityBookPool = {
    kind: 'liquidity-book',
    id,
    address,
    dex: dex.name,
    tokens: [addressOf(wordAt(tokenX, 0)), addressOf(wordAt(tokenY, 0))],
    bins: [{ id: small(active, 0), reserves: [wordAt(reserves, 0), wordAt(reserves, 1)] }],
    activeId: small(active, 0),
    binStep: small(step, 0),
    fees: {
      baseFactor: wordAt(fees, 0),
      filterPeriod,
      decayPeriod,
      reductionFactor: wordAt(fees, 3),
      variableFeeControl: wordAt(fees, 4),
      protocolShare: wordAt(fees, 5),
      maxVolatilityAccumulator: wordAt(fees, 6),
    },
    volatility: {
      accumulator: wordAt(volatility, 0),
      reference: wordAt(volatility, 1),
      idReference: small(volatility, 2),
      lastUpdate,
    },
    now: lastUpdate + (since ?? 0),
  }
  return { pool, ...(until === undefined ? {} : { holdsUntil: lastUpdate + until }) }
}

async function readBins(readContext: ReadContext, at: string, tracked: TrackedPool): Promise<TrackedPool | null> {
  const { pool } = tracked
  if (pool.kind !== 'liquidity-book') return tracked
  const reachBins = Math.min(BINS_MAX, Math.ceil(REACH / Math.log1p(pool.binStep / 10_000)))
  const [low, high] = [Math.max(0, pool.activeId - reachBins), Math.min(ID_MAX, pool.activeId + reachBins)]
  const ids = Array.from({ length: high - low + 1 }, (_, place) => low + place)
  const answers = await readContext.reader.read(
    at,
    ids.map((id) => ({ to: pool.address, calldata: callOf(call.bin, id) })),
  )
  const bins: LiquidityBookPool['bins'][number][] = []
  for (const [place, answer] of answers.entries()) {
    // A missing answer does not mean an empty bin.
    if (!answer) return null
    const words = wordsOf(answer)
    const reserves = [wordAt(words, 0), wordAt(words, 1)] as const
    if (reserves[0] + reserves[1] > 0n) bins.push({ id: ids[place] as number, reserves })
  }
  const whole = { ...pool, bins }
  const isVerified = await matchesOurMaths(readContext, at, whole)
  return { ...tracked, pool: whole, ...(isVerified ? {} : { idle: true as const }) }
}

/** Compares getSwapOut in both directions with our maths: forks share the interface, but not always the formulas. */
async function matchesOurMaths({ reader }: ReadContext, at: string, pool: LiquidityBookPool): Promise<boolean> {
  const totals = [0, 1].map((side) => pool.bins.reduce((sum, { reserves }) => sum + (reserves[side] ?? 0n), 0n))
  const trials = totals.flatMap((amount, tokenIn) => {
    const trialAmount = amount / TRIAL_PART + 1n
    const paid = liquidityBook.swap(pool, tokenIn, 1 - tokenIn, trialAmount)
    // We compute no output beyond the bins that were read.
    return paid === null ? [] : [{ tokenIn, trialAmount, out: paid.amountOut }]
  })
  const answers = await reader.read(
    at,
    trials.map(({ tokenIn, trialAmount }) => ({
      to: pool.address,
      calldata: callOf(call.amountOut, trialAmount, tokenIn === 0 ? 1 : 0),
    })),
  )
  return trials.every(({ out }, place) => {
    const [left, paid] = wordsOf((answers[place] as Hex | null) ?? '0x')
    return left === 0n && paid === out
  })
}
