import type { AlgebraPool } from '../../swap/routing/pools/algebra.ts'
import {
  FEE_WINDOW_S,
  type FeeMemory,
  type FeeTerms,
  lastFee,
  type Moment,
  nextFee,
  type Timepoint,
} from '../../swap/routing/pools/algebra-fee.ts'
import { addressOf, callOf, listOf, signed, toWord, wordAt, wordsOf } from './abi-words.ts'
import { FORECAST_SECONDS, highestFee, QUOTE_FEE_SECONDS } from './fee-forecast.ts'
import type { ReadContext, TrackedPool } from './tracked-pool.ts'

/** dataStorageOperator() */
const OPERATOR = '0x29047dfa'
const GLOBAL_STATE = '0xe76c01e4'
const LIQUIDITY = '0x1a686502'
const FEE_CONFIG = '0x1e5eb1d0'
/** timepoints(uint256) */
const TIMEPOINTS = '0x74eceae6'
/** getTimepoints(uint32[]); the argument is seconds before the block. */
const GET_TIMEPOINTS = '0x9d3a5241'
/** Version 1 keeps liquidity and the volume of the last block in one word, which no call returns. */
const LIQUIDITY_SLOT = 3
/** Entries in the ring buffer of timepoints. */
const RING = 65_536n

/** The pool with a fee forecast. The pool is idle if its fork computes fees in an unknown way. */
export async function forecastFees(
  readContext: ReadContext,
  at: string,
  tracked: TrackedPool,
  now: number,
): Promise<TrackedPool> {
  const { idle: _, fees: __, ...rest } = tracked
  const pool = tracked.pool as AlgebraPool
  const holdsUntil = now + FORECAST_SECONDS - QUOTE_FEE_SECONDS
  const memory = await readFeeMemory(readContext, at, pool, now)
  if (memory === null) return { ...rest, idle: true, holdsUntil }
  const { stored, index } = memory
  // Our formula must reproduce the stored fee from the last timepoint. The first timepoint sets no fee.
  const isProven = index === 0n || lastFee(memory) === stored
  const ppm: number[] = []
  for (let time = now; isProven && time <= now + FORECAST_SECONDS; time++) {
    const fee = time === memory.last.time ? stored : nextFee(memory, time)
    if (fee === null) break
    ppm.push(fee)
  }
  if (ppm.length <= FORECAST_SECONDS)
    return { ...rest, pool: { ...pool, feePpm: [stored, stored] }, idle: true, holdsUntil }
  return withFeeAt({ ...rest, fees: { from: now, ppm }, holdsUntil }, now)
}

/** The pool at this block time, with the highest fee of the seconds for which a quote must hold. */
export function withFeeAt(tracked: TrackedPool, now: number): TrackedPool {
  const pool = tracked.pool as AlgebraPool
  if (tracked.fees === undefined) return tracked
  const fee = highestFee(tracked.fees, now)
  if (pool.feePpm[0] === fee && pool.feePpm[1] === fee) return tracked
  return { ...tracked, pool: { ...pool, feePpm: [fee, fee] } }
}

type ReadMemory = FeeMemory & Readonly<{ stored: number; index: bigint }>

/** Null if the pool does not match a known storage layout. */
async function readFeeMemory(
  { reader }: ReadContext,
  at: string,
  pool: AlgebraPool,
  now: number,
): Promise<ReadMemory | null> {
  const isV1 = pool.ticksBy === 'words'
  const { address } = pool
  const [state, operatorAnswer] = await reader.read(at, [
    { to: address, calldata: GLOBAL_STATE },
    { to: address, calldata: OPERATOR },
  ])
  if (!state || !operatorAnswer) return null
  const words = wordsOf(state)
  // Version 1.9 has a fee for each direction and one more word.
  if (words.length !== 7) return null
  const operator = addressOf(wordAt(wordsOf(operatorAnswer), 0))
  const index = wordAt(words, isV1 ? 3 : 4)
  const positions = [index, (index + RING - 1n) % RING, (index + 1n) % RING, 0n]
  const [config, ...entries] = await reader.read(at, [
    { to: operator, calldata: FEE_CONFIG },
    ...positions.map((position) => ({ to: operator, calldata: callOf(TIMEPOINTS, position) })),
  ])
  const terms = config ? termsOf(wordsOf(config), isV1) : null
  const [last, prior, following, first] = entries.map((entry) => (entry ? timepointOf(wordsOf(entry), isV1) : null))
  const oldest = following ?? first
  if (terms === null || !last || !oldest) return null
  const pendingVolume = isV1 ? await readVolume({ reader }, at, pool) : 0n
  if (pendingVolume === null) return null
  const times = timesToRead(last, oldest, now)
  const starts = await readStarts({ reader }, at, isV1 ? address : operator, times, now, isV1)
  if (starts === null) return null
  return {
    terms,
    tick: signed(wordAt(words, 1), 24),
    last,
    // Before the oldest entry there is nothing, or an entry that the ring overwrites.
    before: last.time === oldest.time ? null : (prior ?? null),
    oldest,
    pendingVolume,
    starts,
    stored: Number(wordAt(words, isV1 ? 2 : 3)),
    index,
  }
}

/** The window starts: a day before each forecast second and before the last entry, as far as the timepoints reach. */
function timesToRead(last: Timepoint, oldest: Timepoint, now: number): readonly number[] {
  const times = new Set([last.time - FEE_WINDOW_S])
  for (let time = now; time <= now + FORECAST_SECONDS; time++) times.add(time - FEE_WINDOW_S)
  return [...times].filter((time) => time >= oldest.time && time < last.time)
}

async function readStarts(
  { reader }: Pick<ReadContext, 'reader'>,
  at: string,
  to: string,
  times: readonly number[],
  now: number,
  isV1: boolean,
): Promise<ReadonlyMap<number, Moment> | null> {
  if (times.length === 0) return new Map()
  const list = [32, times.length, ...times.map((time) => now - time)].map(toWord).join('')
  const [answer] = await reader.read(at, [{ to, calldata: `${GET_TIMEPOINTS}${list}` }])
  if (!answer) return null
  const words = wordsOf(answer)
  const ticks = listOf(words, 0)
  const volatilities = listOf(words, isV1 ? 2 : 1)
  const volumes = isV1 ? listOf(words, 3) : []
  return new Map(
    times.map((time, place) => [
      time,
      {
        tickSum: signed(wordAt(ticks, place), 56),
        volatility: wordAt(volatilities, place),
        volume: wordAt(volumes, place),
      },
    ]),
  )
}

/** Volume ÷ liquidity since the last entry. Null if the storage layout differs. */
async function readVolume({ reader }: Pick<ReadContext, 'reader'>, at: string, { address }: AlgebraPool) {
  const [word, [liquidity]] = await Promise.all([
    reader.storageAt(at, address, LIQUIDITY_SLOT),
    reader.read(at, [{ to: address, calldata: LIQUIDITY }]),
  ])
  return liquidity && BigInt.asUintN(128, word) === wordAt(wordsOf(liquidity), 0) ? word >> 128n : null
}

function termsOf(words: readonly bigint[], isV1: boolean): FeeTerms | null {
  if (words.length !== (isV1 ? 9 : 7)) return null
  const [alpha1 = 0n, alpha2 = 0n, beta1 = 0n, beta2 = 0n, gamma1 = 0n, gamma2 = 0n, ...rest] = words
  const [beta = 0n, gamma = 0n] = rest
  const volume = isV1 ? { beta, gamma } : null
  return { alpha1, alpha2, beta1, beta2, gamma1, gamma2, volume, base: rest.at(-1) ?? 0n }
}

/** Null for an uninitialized entry. */
function timepointOf(words: readonly bigint[], isV1: boolean): Timepoint | null {
  if (wordAt(words, 0) === 0n) return null
  const at = isV1
    ? { volatility: 4, average: 5, tick: 5, volume: 6 }
    : { volatility: 3, average: 5, tick: 4, volume: 7 }
  return {
    time: Number(wordAt(words, 1)),
    tickSum: signed(wordAt(words, 2), 56),
    volatility: wordAt(words, at.volatility),
    averageTick: signed(wordAt(words, at.average), 24),
    tick: signed(wordAt(words, at.tick), 24),
    volume: wordAt(words, at.volume),
  }
}
