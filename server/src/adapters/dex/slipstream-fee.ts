import type { Hex } from 'viem'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import { addressOf, callOf, firstWord, listOf, numberOf, signed, toWord, wordAt, wordsOf } from './abi-words.ts'
import type { ContractCall } from './block-reader.ts'
import { FORECAST_SECONDS, highestFee, QUOTE_FEE_SECONDS } from './fee-forecast.ts'
import type { ReadContext, TrackedPool } from './tracked-pool.ts'
import { SLOT0 } from './uniswap-v3.ts'

/** factory(), swapFeeModule(), tickSpacingToFee(int24) */
const FACTORY: Hex = '0xc45a0155'
const FEE_MODULE: Hex = '0x23c43a51'
const FEE_OF_SPACING = '0x380dc1c2'
/** dynamicFeeConfig(address), customFee(address): the first identifies the dynamic, the second the custom module. */
const DYNAMIC_FEE = '0x5bb525ff'
const CUSTOM_FEE = '0x4d419abc'
/** defaultScalingFactor(), defaultFeeCap(), secondsAgo() */
const SCALING = '0xba743e38'
const FEE_CAP = '0xdcf4eb27'
const SECONDS_AGO = '0x633dd145'
/** observe(uint32[]), observations(uint256) */
const OBSERVE = '0x883bdbfd'
const OBSERVATIONS = '0x252c09d7'
/** Value for a zero fee in the tables of the modules. */
const NO_FEE = 420n
/** The unit of the scaling factor. */
const WHOLE = 1_000_000n
/** A pool with fewer observations than one per this many seconds has no dynamic fee. */
const SECONDS_PER_OBSERVATION = 2n
/** Per eth_call: a path takes about 1.5 million gas for a pool with 70 observations, and twice that with thousands. */
const PATHS_AT_ONCE = 5
/** Seconds until the next attempt for a pool whose fee could not be forecast. */
const RETRY_SECONDS = 60

/** Whether the terms of each pool's fee forecast are unchanged; false without terms. */
export async function areTermsUnchanged(
  { reader }: ReadContext,
  at: string,
  pools: readonly TrackedPool[],
): Promise<readonly boolean[]> {
  const calls = pools.map(({ pool, fees }) => (fees?.terms ? termCalls(pool.address, fees.terms) : []))
  const distinct = new Map(calls.flat().map((call) => [`${call.to}${call.calldata}`, call]))
  const answers = await reader.read(at, [...distinct.values()])
  const answersByCall = new Map([...distinct.keys()].map((key, place) => [key, answers[place] ?? null]))
  return pools.map(({ fees }, place) => {
    const current = (calls[place] ?? []).map(({ to, calldata }) => answersByCall.get(`${to}${calldata}`) ?? null)
    return fees?.terms !== undefined && fees.terms.answers === textOf(current)
  })
}

/** The calls that read the terms of a pool's fee. */
function termCalls(pool: string, { factory, module }: Readonly<{ factory: string; module: string }>): ContractCall[] {
  const calls: readonly Hex[] = [
    ...[callOf(DYNAMIC_FEE, pool), callOf(CUSTOM_FEE, pool)],
    ...([SCALING, FEE_CAP, SECONDS_AGO] as const),
  ]
  return [{ to: factory, calldata: FEE_MODULE }, ...calls.map((calldata) => ({ to: module, calldata }))]
}
const textOf = (answers: readonly (Hex | null)[]): string => answers.map((answer) => answer ?? '').join()

/** The pool with the highest fee of the quote period. Null if the forecast is wrong, outdated or too short. */
export function withForecastFee(
  tracked: TrackedPool,
  fee: number,
  now: number,
  areTermsSame: boolean,
): TrackedPool | null {
  const { fees } = tracked
  if (fees === undefined) return null
  if (fees.ppm.length === 0) return now - fees.from < RETRY_SECONDS ? withFee(tracked, fee) : null
  if (!areTermsSame || fees.ppm[now - fees.from] !== fee || now + QUOTE_FEE_SECONDS > fees.from + FORECAST_SECONDS)
    return null
  return withFee(tracked, highestFee(fees, now))
}

function withFee(tracked: TrackedPool, feePpm: number): TrackedPool {
  const pool = tracked.pool as UniswapV3Pool
  return pool.feePpm === feePpm ? tracked : { ...tracked, pool: { ...pool, feePpm } }
}

type FeeToForecast = Readonly<{ tracked: TrackedPool /** The current fee of the pool, millionths. */; fee: number }>

/**
 * The pools with a fee forecast. A pool is idle if the published modules do not give its current fee, because another module may
 * depend on time in an unknown way.
 */
export async function forecastFees(
  readContext: ReadContext,
  at: string,
  pools: readonly FeeToForecast[],
  now: number,
): Promise<readonly TrackedPool[]> {
  if (pools.length === 0) return []
  const terms = await readTerms(readContext, at, pools)
  const dynamicTerms = terms.flatMap((one) => (one !== null && one.dynamic !== null ? [one as DynamicTerms] : []))
  const paths = new Map<Terms, TickPath>()
  for (const [place, path] of (await readPaths(readContext, at, dynamicTerms, now)).entries())
    paths.set(dynamicTerms[place] as Terms, path)
  return pools.map(({ tracked, fee }, place) => {
    const { idle: _, fees: __, ...rest } = tracked
    const one = terms[place] ?? null
    const seconds = Array.from({ length: FORECAST_SECONDS + 1 }, (_, second) => now + second)
    const ppm = one === null ? [] : seconds.map((time) => Number(feeAt(one, paths.get(one) ?? null, time)))
    if (ppm[0] !== fee) return withFee({ ...rest, idle: true, fees: { from: now, ppm: [] } }, fee)
    const { factory, module, answers } = one as Terms
    const fees = { from: now, ppm, terms: { factory, module, answers } }
    return withFee({ ...rest, fees }, highestFee(fees, now))
  })
}

type DynamicFee = Readonly<{
  scaling: bigint
  cap: bigint
  /** The averaging period of the price, seconds. */
  span: number
  tick: bigint
  observations: bigint
  /** The fee of the first swap in a block; null if all swaps pay the same. */
  first: bigint | null
  /** The second of the last observation. */
  observedAt: bigint
}>
type Terms = Readonly<{
  address: string
  base: bigint
  dynamic: DynamicFee | null
  factory: string
  module: string
  answers: string
}>
type DynamicTerms = Terms & Readonly<{ dynamic: DynamicFee }>

/** DynamicSwapFeeModule.getFee and CustomSwapFeeModule.getFee for a user without a discount. */
function feeAt({ base, dynamic }: Terms, path: TickPath | null, time: number): bigint {
  if (dynamic === null) return base
  const { first, observedAt, scaling, cap } = dynamic
  if (first !== null && observedAt !== BigInt(time)) return first
  const deviation = path === null ? 0n : tickDeviation(dynamic, path, time)
  const fee = base + (deviation * scaling) / WHOLE
  return fee < cap ? fee : cap
}

/** Distance of the current tick from the mean tick at that second; 0 if the pool has too few observations. */
function tickDeviation({ tick, span, observations }: DynamicFee, { now, sum, sums }: TickPath, time: number): bigint {
  if (sum === null || observations < BigInt(span) / SECONDS_PER_OBSERVATION) return 0n
  const start = time - span
  const sumAtStart = start < now ? sums.get(start) : sum + tick * BigInt(start - now)
  if (sumAtStart === undefined) return 0n
  const mean = (sum + tick * BigInt(time - now) - sumAtStart) / BigInt(span)
  return tick > mean ? tick - mean : mean - tick
}

/** Null if the factory has an unpublished module. */
async function readTerms({ reader }: ReadContext, at: string, pools: readonly FeeToForecast[]) {
  const v3Pools = pools.map(({ tracked }) => tracked.pool as UniswapV3Pool)
  const poolAnswers = await reader.read(
    at,
    v3Pools.flatMap(({ address: to }) => [FACTORY, SLOT0 as Hex].map((calldata) => ({ to, calldata }))),
  )
  const factories = v3Pools.map((_, place) => addressOf(numberOf(poolAnswers[2 * place])))
  const slots = v3Pools.map((_, place) => wordsOf(poolAnswers[2 * place + 1] ?? '0x'))
  const fees = await reader.read(
    at,
    v3Pools.flatMap(({ address, tickSpacing }, place) => {
      const to = factories[place] ?? ''
      return [
        { to, calldata: FEE_MODULE } as const,
        { to, calldata: callOf(FEE_OF_SPACING, tickSpacing) },
        { to: address, calldata: callOf(OBSERVATIONS, wordAt(slots[place] ?? [], 2)) },
      ]
    }),
  )
  const modules = v3Pools.map(({ address }, place) => {
    const module = addressOf(numberOf(fees[3 * place]))
    return { address, factory: factories[place] ?? '', module }
  })
  const moduleAnswers = await reader.read(
    at,
    modules.flatMap((one) => termCalls(one.address, one)),
  )
  return modules.map((one, place): Terms | null => {
    const usual = firstWord(fees[3 * place + 1])
    const answers = moduleAnswers.slice(6 * place, 6 * place + 6)
    const [module, config, custom, ...defaults] = answers
    if (!module || usual === null) return null
    const fixed = { ...one, answers: textOf(answers), dynamic: null }
    if (firstWord(module) === 0n) return { ...fixed, base: usual }
    const words = wordsOf(config ?? '0x')
    const own = config ? wordAt(words, 0) : firstWord(custom)
    if (own === null) return null
    const base = own === NO_FEE ? 0n : own === 0n ? usual : own
    if (!config || own === NO_FEE) return { ...fixed, base }
    const observedAt = firstWord(fees[3 * place + 2])
    const dynamic = dynamicFeeOf(words, base, slots[place] ?? [], defaults.map(firstWord), observedAt)
    return dynamic && { ...fixed, base, dynamic }
  })
}

/** The first version of the module returns three words for a pool, the version of 2026 five. */
function dynamicFeeOf(
  config: readonly bigint[],
  base: bigint,
  slot: readonly bigint[],
  [scaling, cap, span]: readonly (bigint | null)[],
  observedAt: bigint | null,
): DynamicFee | null {
  if (scaling == null || cap == null || !span || observedAt === null) return null
  if (config.length !== 3 && config.length !== 5) return null
  const isOwn = wordAt(config, 2) !== 0n
  const initial = wordAt(config, 4)
  const first = initial === 0n ? base : initial === NO_FEE ? 0n : initial
  return {
    scaling: isOwn ? wordAt(config, 2) : scaling,
    cap: isOwn ? wordAt(config, 1) : cap,
    span: Number(span),
    tick: signed(wordAt(slot, 1), 24),
    observations: wordAt(slot, 3),
    first: wordAt(config, 3) === 0n ? null : first,
    observedAt,
  }
}

/** Cumulative ticks from the pool's observations: now, and at the start of each averaging period of the forecast. */
type TickPath = Readonly<{ now: number; sum: bigint | null; sums: ReadonlyMap<number, bigint> }>

async function readPaths(
  { reader }: ReadContext,
  at: string,
  pools: readonly DynamicTerms[],
  now: number,
): Promise<readonly TickPath[]> {
  const spans = pools.map(({ dynamic: { span } }) =>
    Array.from({ length: Math.min(FORECAST_SECONDS + 1, span) }, (_, second) => span - second),
  )
  const ask = ({ address: to }: DynamicTerms, agos: readonly number[]) => ({ to, calldata: encodeObserve(agos) })
  const calls = pools.map((pool, place) => ask(pool, [0, ...(spans[place] ?? [])]))
  const answers: (Hex | null)[] = []
  for (let start = 0; start < calls.length; start += PATHS_AT_ONCE)
    answers.push(...(await reader.read(at, calls.slice(start, start + PATHS_AT_ONCE))))
  // A new pool lacks the oldest observations and rejects the whole call: read each second alone.
  const single = new Map<number, readonly (Hex | null)[]>()
  for (const [place, pool] of pools.entries())
    if (!answers[place])
      single.set(
        place,
        await reader.read(
          at,
          [0, ...(spans[place] ?? [])].map((ago) => ask(pool, [ago])),
        ),
      )
  return pools.map((_, place) => {
    const answer = answers[place]
    const alone = single.get(place) ?? []
    const ticks = answer
      ? listOf(wordsOf(answer), 0)
      : alone.map((one) => (one ? wordAt(listOf(wordsOf(one), 0), 0) : null))
    const [sum, ...before] = ticks.map((one) => (one === null ? null : signed(one, 56)))
    const sums = new Map<number, bigint>()
    for (const [index, ago] of (spans[place] ?? []).entries()) {
      const one = before[index]
      if (one !== null && one !== undefined) sums.set(now - ago, one)
    }
    return { now, sum: sum ?? null, sums }
  })
}

const encodeObserve = (agos: readonly number[]): Hex => `${OBSERVE}${[32, agos.length, ...agos].map(toWord).join('')}`
