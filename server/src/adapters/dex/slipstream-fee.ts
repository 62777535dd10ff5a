import type { Hex } from 'viem'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import type { ContractCall } from './block-reader.ts'
import { FORECAST_SECONDS, highestFee, QUOTE_FEE_SECONDS } from './fee-forecast.ts'
import type { ReadContext, TrackedPool } from './tracked-pool.ts'
import { SLOT0 } from './uniswap-v3.ts'
import { addressOf, callOf, listOf, signed, toWord, wordAt, wordsOf } from './abi-words.ts'

/** factory(), swapFeeModule(), tickSpacingToFee(int24) */
const FACTORY: Hex = '0xc45a0155'
const FEE_MODULE: Hex = '0x23c43a51'
const FEE_OF_SPACING = '0x380dc1c2'
/** dynamicFeeConfig(address), customFee(address): which of the two published modules it is. */
const DYNAMIC_FEE = '0x5bb525ff'
const CUSTOM_FEE = '0x4d419abc'
/** defaultScalingFactor(), defaultFeeCap(), secondsAgo() */
const SCALING = '0xba743e38'
const FEE_CAP = '0xdcf4eb27'
const SECONDS_AGO = '0x633dd145'
/** observe(uint32[]), observations(uint256) */
const OBSERVE = '0x883bdbfd'
const OBSERVATIONS = '0x252c09d7'
/** What the modules' tables have instead of a fee of nothing. */
const NO_FEE = 420n
/** Of the scaling factor. */
const WHOLE = 1_000_000n
/** Pools that remember fewer prices than one in so many seconds have no fee that moves. */
const SECONDS_PER_PRICE = 2n
/** In one eth_call: a path takes about 1.5 million gas of a pool that remembers 70 prices, and twice that of one with thousands. */
const PATHS_AT_ONCE = 5
/** A pool whose fee could not be foretold rests so long until it is tried again. */
const REST_S = 60

/** Whether the terms by which each pool's fee was foretold still hold; false where there are none. */
export async function areTermsUnchanged(
  { reader }: ReadContext,
  at: string,
  known: readonly TrackedPool[],
): Promise<readonly boolean[]> {
  const asked = known.map(({ pool, fees }) => (fees?.terms ? termsOf(pool.address, fees.terms) : []))
  const distinct = new Map(asked.flat().map((call) => [`${call.to}${call.calldata}`, call]))
  const answers = await reader.read(at, [...distinct.values()])
  const said = new Map([...distinct.keys()].map((key, place) => [key, answers[place] ?? null]))
  return known.map(({ fees }, place) => {
    const now = (asked[place] ?? []).map(({ to, calldata }) => said.get(`${to}${calldata}`) ?? null)
    return fees?.terms !== undefined && fees.terms.said === textOf(now)
  })
}

/** Who tells the terms of a pool's fee. */
function termsOf(pool: string, { factory, module }: Readonly<{ factory: string; module: string }>): ContractCall[] {
  const calls: readonly Hex[] = [
    ...[callOf(DYNAMIC_FEE, pool), callOf(CUSTOM_FEE, pool)],
    ...([SCALING, FEE_CAP, SECONDS_AGO] as const),
  ]
  return [{ to: factory, calldata: FEE_MODULE }, ...calls.map((calldata) => ({ to: module, calldata }))]
}
const textOf = (answers: readonly (Hex | null)[]): string => answers.map((answer) => answer ?? '').join()

/** Where the fee is what was foretold for now, and its terms are kept: the pool as it is promised. Null: it must be foretold anew. */
export function withForecastFee(tracked: TrackedPool, fee: number, now: number, isKept: boolean): TrackedPool | null {
  const { fees } = tracked
  if (fees === undefined) return null
  if (fees.ppm.length === 0) return now - fees.from < REST_S ? withFee(tracked, fee) : null
  if (!isKept || fees.ppm[now - fees.from] !== fee || now + QUOTE_FEE_SECONDS > fees.from + FORECAST_SECONDS) return null
  return withFee(tracked, highestFee(fees, now))
}

function withFee(tracked: TrackedPool, feePpm: number): TrackedPool {
  const pool = tracked.pool as UniswapV3Pool
  return pool.feePpm === feePpm ? tracked : { ...tracked, pool: { ...pool, feePpm } }
}

type FeeToForecast = Readonly<{ tracked: TrackedPool /** What the pool says now, millionths. */; fee: number }>

/**
 * The pools with the fees of the next seconds. One rests whose fee of now is not what the published modules would make of it: how
 * another one follows time we do not know.
 */
export async function forecastFees(
  readContext: ReadContext,
  at: string,
  pools: readonly FeeToForecast[],
  now: number,
): Promise<readonly TrackedPool[]> {
  if (pools.length === 0) return []
  const terms = await readTerms(readContext, at, pools)
  const dynamic = terms.flatMap((one) => (one !== null && one.moving !== null ? [one as DynamicTerms] : []))
  const paths = new Map<Terms, TickPath>()
  for (const [place, path] of (await readPaths(readContext, at, dynamic, now)).entries())
    paths.set(dynamic[place] as Terms, path)
  return pools.map(({ tracked, fee }, place) => {
    const { idle: _, fees: __, ...rest } = tracked
    const one = terms[place] ?? null
    const seconds = Array.from({ length: FORECAST_SECONDS + 1 }, (_, second) => now + second)
    const ppm = one === null ? [] : seconds.map((time) => Number(feeAt(one, paths.get(one) ?? null, time)))
    if (ppm[0] !== fee) return withFee({ ...rest, idle: true, fees: { from: now, ppm: [] } }, fee)
    const { factory, module, said } = one as Terms
    const fees = { from: now, ppm, terms: { factory, module, said } }
    return withFee({ ...rest, fees }, highestFee(fees, now))
  })
}

type DynamicFee = Readonly<{
  scaling: bigint
  cap: bigint
  /** The span of the mean price, seconds. */
  span: number
  tick: bigint
  remembered: bigint
  /** Taken of the first that trades in a block; null where all pay alike. */
  first: bigint | null
  /** The second in which a price was last remembered. */
  rememberedAt: bigint
}>
type Terms = Readonly<{
  address: string
  base: bigint
  dynamic: DynamicFee | null
  factory: string
  module: string
  answers: string
}>
type DynamicTerms = Terms & Readonly<{ moving: DynamicFee }>

/** DynamicSwapFeeModule.getFee and CustomSwapFeeModule.getFee, for whom no discount is registered. */
function feeAt({ base, moving }: Terms, path: TickPath | null, time: number): bigint {
  if (moving === null) return base
  const { first, rememberedAt, scaling, cap } = moving
  if (first !== null && rememberedAt !== BigInt(time)) return first
  const away = path === null ? 0n : awayAt(moving, path, time)
  const fee = base + (away * scaling) / WHOLE
  return fee < cap ? fee : cap
}

/** How far the tick of now is from the mean one, at that second; 0 where the pool remembers too little. */
function awayAt({ tick, span, remembered }: DynamicFee, { now, sum, sums }: TickPath, time: number): bigint {
  if (sum === null || remembered < BigInt(span) / SECONDS_PER_PRICE) return 0n
  const start = time - span
  const sumAtStart = start < now ? sums.get(start) : sum + tick * BigInt(start - now)
  if (sumAtStart === undefined) return 0n
  const mean = (sum + tick * BigInt(time - now) - sumAtStart) / BigInt(span)
  return tick > mean ? tick - mean : mean - tick
}

const answerOf = (answer: Hex | null | undefined): bigint | null => (answer ? wordAt(wordsOf(answer), 0) : null)

/** Null where the factory has a module that is none of the published ones. */
async function readTerms({ reader }: ReadContext, at: string, pools: readonly FeeToForecast[]) {
  const asked = pools.map(({ tracked }) => tracked.pool as UniswapV3Pool)
  const told = await reader.read(
    at,
    asked.flatMap(({ address: to }) => [FACTORY, SLOT0 as Hex].map((calldata) => ({ to, calldata }))),
  )
  const factories = asked.map((_, place) => addressOf(answerOf(told[2 * place]) ?? 0n))
  const slots = asked.map((_, place) => wordsOf(told[2 * place + 1] ?? '0x'))
  const fees = await reader.read(
    at,
    asked.flatMap(({ address, tickSpacing }, place) => {
      const to = factories[place] ?? ''
      return [
        { to, calldata: FEE_MODULE } as const,
        { to, calldata: callOf(FEE_OF_SPACING, tickSpacing) },
        { to: address, calldata: callOf(OBSERVATIONS, wordAt(slots[place] ?? [], 2)) },
      ]
    }),
  )
  const known = asked.map(({ address }, place) => {
    const module = addressOf(answerOf(fees[3 * place]) ?? 0n)
    return { address, factory: factories[place] ?? '', module }
  })
  const said = await reader.read(
    at,
    known.flatMap((one) => termsOf(one.address, one)),
  )
  return known.map((one, place): Terms | null => {
    const usual = answerOf(fees[3 * place + 1])
    const told = said.slice(6 * place, 6 * place + 6)
    const [module, config, custom, ...defaults] = told
    if (!module || usual === null) return null
    const fixed = { ...one, said: textOf(told), moving: null }
    if (answerOf(module) === 0n) return { ...fixed, base: usual }
    const words = wordsOf(config ?? '0x')
    const own = config ? wordAt(words, 0) : answerOf(custom)
    if (own === null) return null
    const base = own === NO_FEE ? 0n : own === 0n ? usual : own
    if (!config || own === NO_FEE) return { ...fixed, base }
    const rememberedAt = answerOf(fees[3 * place + 2])
    const moving = dynamicFeeOf(words, base, slots[place] ?? [], defaults.map(answerOf), rememberedAt)
    return moving && { ...fixed, base, moving }
  })
}

/** The module as it was made first tells three words of a pool, and since 2026 five. */
function dynamicFeeOf(
  config: readonly bigint[],
  base: bigint,
  slot: readonly bigint[],
  [scaling, cap, span]: readonly (bigint | null)[],
  rememberedAt: bigint | null,
): DynamicFee | null {
  if (scaling == null || cap == null || !span || rememberedAt === null) return null
  if (config.length !== 3 && config.length !== 5) return null
  const isOwn = wordAt(config, 2) !== 0n
  const initial = wordAt(config, 4)
  const first = initial === 0n ? base : initial === NO_FEE ? 0n : initial
  return {
    scaling: isOwn ? wordAt(config, 2) : scaling,
    cap: isOwn ? wordAt(config, 1) : cap,
    span: Number(span),
    tick: signed(wordAt(slot, 1), 24),
    remembered: wordAt(slot, 3),
    first: wordAt(config, 3) === 0n ? null : first,
    rememberedAt,
  }
}

/** Sums of the tick by the second, as the pool remembers them: now, and where the spans of the next seconds begin. */
type TickPath = Readonly<{ now: number; sum: bigint | null; sums: ReadonlyMap<number, bigint> }>

async function readPaths(
  { reader }: ReadContext,
  at: string,
  pools: readonly DynamicTerms[],
  now: number,
): Promise<readonly TickPath[]> {
  const spans = pools.map(({ moving: { span } }) =>
    Array.from({ length: Math.min(FORECAST_SECONDS + 1, span) }, (_, second) => span - second),
  )
  const ask = ({ address: to }: DynamicTerms, agos: readonly number[]) => ({ to, calldata: observing(agos) })
  const asked = pools.map((pool, place) => ask(pool, [0, ...(spans[place] ?? [])]))
  const answers: (Hex | null)[] = []
  for (let start = 0; start < asked.length; start += PATHS_AT_ONCE)
    answers.push(...(await reader.read(at, asked.slice(start, start + PATHS_AT_ONCE))))
  // A pool that was made lately does not remember the first of them, and then tells none.
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
    const told = answer
      ? listOf(wordsOf(answer), 0)
      : alone.map((one) => (one ? wordAt(listOf(wordsOf(one), 0), 0) : null))
    const [sum, ...before] = told.map((one) => (one === null ? null : signed(one, 56)))
    const sums = new Map<number, bigint>()
    for (const [index, ago] of (spans[place] ?? []).entries()) {
      const one = before[index]
      if (one !== null && one !== undefined) sums.set(now - ago, one)
    }
    return { now, sum: sum ?? null, sums }
  })
}

const observing = (agos: readonly number[]): Hex => `${OBSERVE}${[32, agos.length, ...agos].map(toWord).join('')}`
