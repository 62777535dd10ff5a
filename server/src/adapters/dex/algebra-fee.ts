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
import { FORETOLD_S, highestFee, PROMISED_S } from './fees-ahead.ts'
import type { Ground, Tracked } from './tracked.ts'
import { addressOf, callOf, listOf, signed, toWord, wordAt, wordsOf } from './words.ts'

/** dataStorageOperator() */
const OPERATOR = '0x29047dfa'
const GLOBAL_STATE = '0xe76c01e4'
const LIQUIDITY = '0x1a686502'
const FEE_CONFIG = '0x1e5eb1d0'
/** timepoints(uint256) */
const TIMEPOINTS = '0x74eceae6'
/** getTimepoints(uint32[]): so many seconds before the block. */
const GET_TIMEPOINTS = '0x9d3a5241'
/** Version 1 keeps liquidity and the volume of the last block in one word, which no call tells. */
const LIQUIDITY_SLOT = 3
/** Entries of a pool's memory, in a ring. */
const RING = 65_536n

/** The pool with the fees of the next seconds. It rests where they cannot be foretold: forks that set their fee in another way. */
export async function withFees(ground: Ground, at: string, tracked: Tracked, now: number): Promise<Tracked> {
  const { idle: _, fees: __, ...rest } = tracked
  const pool = tracked.pool as AlgebraPool
  const holdsUntil = now + FORETOLD_S - PROMISED_S
  const memory = await readMemory(ground, at, pool, now)
  if (memory === null) return { ...rest, idle: true, holdsUntil }
  const { stored, index } = memory
  // What the pool says now must be what its last entry brought by our arithmetic. The first entry brings no fee.
  const isProven = index === 0n || lastFee(memory) === stored
  const ppm: number[] = []
  for (let time = now; isProven && time <= now + FORETOLD_S; time++) {
    const fee = time === memory.last.time ? stored : nextFee(memory, time)
    if (fee === null) break
    ppm.push(fee)
  }
  if (ppm.length <= FORETOLD_S) return { ...rest, pool: { ...pool, feePpm: [stored, stored] }, idle: true, holdsUntil }
  return feesAt({ ...rest, fees: { from: now, ppm }, holdsUntil }, now)
}

/** The pool as it is promised in a block of this time: by the highest fee of the next seconds. */
export function feesAt(tracked: Tracked, now: number): Tracked {
  const pool = tracked.pool as AlgebraPool
  if (tracked.fees === undefined) return tracked
  const fee = highestFee(tracked.fees, now)
  if (pool.feePpm[0] === fee && pool.feePpm[1] === fee) return tracked
  return { ...tracked, pool: { ...pool, feePpm: [fee, fee] } }
}

type ReadMemory = FeeMemory & Readonly<{ stored: number; index: bigint }>

/** Null where the pool does not keep its memory in one of the ways that we know. */
async function readMemory({ reader }: Ground, at: string, pool: AlgebraPool, now: number): Promise<ReadMemory | null> {
  const isFirst = pool.ticksBy === 'words'
  const { address } = pool
  const [state, answered] = await reader.read(at, [
    { to: address, calldata: GLOBAL_STATE },
    { to: address, calldata: OPERATOR },
  ])
  if (!state || !answered) return null
  const words = wordsOf(state)
  // Version 1.9 has a fee for each direction, and a word more.
  if (words.length !== 7) return null
  const operator = addressOf(wordAt(wordsOf(answered), 0))
  const index = wordAt(words, isFirst ? 3 : 4)
  const places = [index, (index + RING - 1n) % RING, (index + 1n) % RING, 0n]
  const [config, ...entries] = await reader.read(at, [
    { to: operator, calldata: FEE_CONFIG },
    ...places.map((place) => ({ to: operator, calldata: callOf(TIMEPOINTS, place) })),
  ])
  const terms = config ? termsOf(wordsOf(config), isFirst) : null
  const [last, prior, following, first] = entries.map((entry) => (entry ? timepointOf(wordsOf(entry), isFirst) : null))
  const oldest = following ?? first
  if (terms === null || !last || !oldest) return null
  const pendingVolume = isFirst ? await readVolume({ reader }, at, pool) : 0n
  if (pendingVolume === null) return null
  const times = timesToRead(last, oldest, now)
  const starts = await readStarts({ reader }, at, isFirst ? address : operator, times, now, isFirst)
  if (starts === null) return null
  return {
    terms,
    tick: signed(wordAt(words, 1), 24),
    last,
    // What lies before the oldest was of another turn of the ring, or is not there.
    before: last.time === oldest.time ? null : (prior ?? null),
    oldest,
    pendingVolume,
    starts,
    stored: Number(wordAt(words, isFirst ? 2 : 3)),
    index,
  }
}

/** A day before each second that is to be foretold, and before the last entry; where the memory reaches so far. */
function timesToRead(last: Timepoint, oldest: Timepoint, now: number): readonly number[] {
  const times = new Set([last.time - FEE_WINDOW_S])
  for (let time = now; time <= now + FORETOLD_S; time++) times.add(time - FEE_WINDOW_S)
  return [...times].filter((time) => time >= oldest.time && time < last.time)
}

async function readStarts(
  { reader }: Pick<Ground, 'reader'>,
  at: string,
  to: string,
  times: readonly number[],
  now: number,
  isFirst: boolean,
): Promise<ReadonlyMap<number, Moment> | null> {
  if (times.length === 0) return new Map()
  const list = [32, times.length, ...times.map((time) => now - time)].map(toWord).join('')
  const [answer] = await reader.read(at, [{ to, calldata: `${GET_TIMEPOINTS}${list}` }])
  if (!answer) return null
  const words = wordsOf(answer)
  const ticks = listOf(words, 0)
  const volatilities = listOf(words, isFirst ? 2 : 1)
  const volumes = isFirst ? listOf(words, 3) : []
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

/** Volume ÷ liquidity since the last entry. Null where the storage is laid out in another way. */
async function readVolume({ reader }: Pick<Ground, 'reader'>, at: string, { address }: AlgebraPool) {
  const [word, [liquidity]] = await Promise.all([
    reader.storageAt(at, address, LIQUIDITY_SLOT),
    reader.read(at, [{ to: address, calldata: LIQUIDITY }]),
  ])
  return liquidity && BigInt.asUintN(128, word) === wordAt(wordsOf(liquidity), 0) ? word >> 128n : null
}

function termsOf(words: readonly bigint[], isFirst: boolean): FeeTerms | null {
  if (words.length !== (isFirst ? 9 : 7)) return null
  const [alpha1 = 0n, alpha2 = 0n, beta1 = 0n, beta2 = 0n, gamma1 = 0n, gamma2 = 0n, ...rest] = words
  const [beta = 0n, gamma = 0n] = rest
  const volume = isFirst ? { beta, gamma } : null
  return { alpha1, alpha2, beta1, beta2, gamma1, gamma2, volume, base: rest.at(-1) ?? 0n }
}

/** Null where it was not written. */
function timepointOf(words: readonly bigint[], isFirst: boolean): Timepoint | null {
  if (wordAt(words, 0) === 0n) return null
  const at = isFirst
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
