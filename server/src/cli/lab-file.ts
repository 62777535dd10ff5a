import { readFileSync } from 'node:fs'
import { U128_MAX } from '../lib/bigint.ts'
import type { Tick } from '../swap/routing/pools/concentrated.ts'
import {
  MAX_SQRT_PRICE,
  MAX_TICK,
  MIN_SQRT_PRICE,
  MIN_TICK,
  sqrtPriceAtTick,
  tickAtSqrtPrice,
} from '../swap/routing/pools/tick-math.ts'
import { RESERVE_MAX } from '../swap/routing/pools/uniswap-v2.ts'
import { fail } from './print.ts'

type Position = Readonly<{ tickLower: number; tickUpper: number; liquidity: bigint }>

export type LabPool = Readonly<{
  fee: bigint
  tickSpacing: number
  sqrtPrice: bigint
  tick: number
  /** Liquidity in range; `ticks` are where it changes. */
  liquidity: bigint
  ticks: readonly Tick[]
  swaps: readonly Readonly<{ zeroForOne: boolean; amountSpecified: bigint; limit: bigint | null }>[]
}>

/** A token's name in the file: a number or text. */
type Name = number | string

export type LabPair = Readonly<{
  tokens: readonly [Name, Name]
  reserves: readonly [bigint, bigint]
  feePpm: number
}>

export type LabCase = Readonly<{
  /** The same list for all cases of one market. */
  pools: readonly LabPair[]
  tokenIn: Name
  tokenOut: Name
  amountIn: bigint
  /** What one swap costs, in base units of the target. */
  swapCost: bigint
  /** Null: the limit of production. */
  hopsMax: number | null
}>

/** The pools of a file in the format of `vectors/univ3_bytecode_fuzz.json`; the whole file is read before anything is computed. */
export const readLabPools = (content: unknown, file: string): readonly LabPool[] =>
  listOf(content, 'pools', file).map(poolAt)

/** The cases of a file. Each has its pools, as in `vectors/routing_v2_optimality.json`, or names one of the file's markets. */
export function readLabCases(file: string): readonly LabCase[] {
  const content = readLabFile(file)
  const markets = isObject(content) && 'markets' in content ? listOf(content, 'markets', file).map(pairsAt) : []
  return listOf(content, 'cases', file).map((at) => caseAt(at, markets))
}

/** A value of the file and its path. */
type At = Readonly<{ value: unknown; path: string }>

export function readLabFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    return fail(`${file} is not a JSON file: ${error instanceof Error ? error.message : error}`)
  }
}

function listOf(content: unknown, list: string, file: string): readonly At[] {
  const found = isObject(content) ? content[list] : undefined
  if (!Array.isArray(found)) return fail(`${file} has no list "${list}"`)
  return found.map((value: unknown, index) => ({ value, path: `${list}[${index}]` }))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function member({ value, path }: At, name: string): At {
  return isObject(value) ? { value: value[name], path: `${path}.${name}` } : fail(`${path} is not an object`)
}

function listAt(at: At, name: string): readonly At[] {
  const { value, path } = member(at, name)
  if (!Array.isArray(value)) return fail(`${path} is not a list`)
  return value.map((one: unknown, index) => ({ value: one, path: `${path}[${index}]` }))
}

/** Text, because JSON numbers are exact only up to 2^53; smaller numbers are accepted too. */
function units({ value, path }: At, minimum: bigint, maximum: bigint): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^-?[0-9]{1,100}$/.test(text))
    return fail(`${path} must be a whole number as text, such as "1000"`)
  const number = BigInt(text)
  return number >= minimum && number <= maximum ? number : fail(`${path} must be from ${minimum} to ${maximum}`)
}

function whole({ value, path }: At, minimum: number, maximum: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) return value
  return fail(`${path} must be a whole number from ${minimum} to ${maximum}`)
}

const UINT_MAX = (1n << 256n) - 1n
const INT_MAX = (1n << 255n) - 1n
/** A fee of 100 %, in millionths. */
const PPM = 1_000_000
/** UniswapV3Factory takes spacings below 16384. */
const SPACING_MAX = 16_383

function poolAt(at: At): LabPool {
  const tickSpacing = whole(member(at, 'tickSpacing'), 1, SPACING_MAX)
  const sqrtPrice = units(member(at, 'sqrtPriceX96'), MIN_SQRT_PRICE, MAX_SQRT_PRICE - 1n)
  const tick = tickOf(member(at, 'tick'), sqrtPrice)
  const ticks = ticksOf(listAt(at, 'positions').map((position) => positionAt(position, tickSpacing)))
  for (const { index, liquidity } of ranges(ticks))
    if (liquidity > U128_MAX)
      fail(`${at.path}.positions add up to ${liquidity} from tick ${index} on; the maximum is ${U128_MAX}`)
  return {
    fee: BigInt(whole(member(at, 'fee'), 0, PPM - 1)),
    tickSpacing,
    sqrtPrice,
    tick,
    liquidity: liquidityAt(
      member(at, 'liquidity'),
      ranges(ticks).findLast(({ index }) => index <= tick)?.liquidity ?? 0n,
    ),
    ticks,
    swaps: listAt(at, 'swaps').map(swapAt),
  }
}

/** A price that fell exactly onto a tick may have that tick or the one below. */
function tickOf(at: At, sqrtPrice: bigint): number {
  const above = tickAtSqrtPrice(sqrtPrice)
  if (at.value === undefined || at.value === null) return above
  const tick = whole(at, MIN_TICK, MAX_TICK)
  if (tick === above || (tick === above - 1 && sqrtPriceAtTick(above) === sqrtPrice)) return tick
  return fail(`${at.path} is not the tick of the price, which is ${above}`)
}

function positionAt(at: At, tickSpacing: number): Position {
  const tickAt = (name: string) => {
    const tick = whole(member(at, name), MIN_TICK, MAX_TICK)
    return tick % tickSpacing === 0 ? tick : fail(`${at.path}.${name} is not a multiple of the tick spacing`)
  }
  const [tickLower, tickUpper] = [tickAt('tickLower'), tickAt('tickUpper')]
  if (tickLower >= tickUpper) fail(`${at.path}.tickLower must be below tickUpper`)
  return { tickLower, tickUpper, liquidity: units(member(at, 'liquidity'), 1n, U128_MAX) }
}

/** The ticks at which the sum of the positions' liquidity changes, ascending. */
function ticksOf(positions: readonly Position[]): readonly Tick[] {
  const nets = new Map<number, bigint>()
  for (const { tickLower, tickUpper, liquidity } of positions) {
    nets.set(tickLower, (nets.get(tickLower) ?? 0n) + liquidity)
    nets.set(tickUpper, (nets.get(tickUpper) ?? 0n) - liquidity)
  }
  return [...nets].map(([index, net]) => ({ index, net })).sort((a, b) => a.index - b.index)
}

/** The liquidity from each tick on. */
function ranges(ticks: readonly Tick[]): readonly Readonly<{ index: number; liquidity: bigint }>[] {
  let liquidity = 0n
  return ticks.map(({ index, net }) => {
    liquidity += net
    return { index, liquidity }
  })
}

/** A stated liquidity must equal the sum of the positions in range. */
function liquidityAt(at: At, inRange: bigint): bigint {
  if (at.value === undefined || at.value === null || units(at, 0n, U128_MAX) === inRange) return inRange
  return fail(`${at.path} is not the sum of the positions in range, which is ${inRange}`)
}

function swapAt(at: At): LabPool['swaps'][number] {
  const { value, path } = member(at, 'zeroForOne')
  const limit = member(at, 'sqrtPriceLimitX96')
  return {
    zeroForOne: typeof value === 'boolean' ? value : fail(`${path} must be true or false`),
    amountSpecified: units(member(at, 'amountSpecified'), -INT_MAX, INT_MAX),
    limit: limit.value === undefined || limit.value === null ? null : units(limit, 0n, UINT_MAX),
  }
}

function nameAt({ value, path }: At): Name {
  if (typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))) return value
  return fail(`${path} must name a token: a whole number or text`)
}

function reserveAt(at: At): bigint {
  const reserve = units(at, 0n, UINT_MAX)
  return reserve <= RESERVE_MAX
    ? reserve
    : fail(`${at.path} exceeds the reserve of a pair, which is from 0 to ${RESERVE_MAX}`)
}

const pairsAt = (at: At): readonly LabPair[] =>
  listAt(at, 'pools').map((pool) => ({
    tokens: [nameAt(member(pool, 'token0')), nameAt(member(pool, 'token1'))],
    reserves: [reserveAt(member(pool, 'reserve0')), reserveAt(member(pool, 'reserve1'))],
    feePpm: whole(member(pool, 'feePpm'), 0, PPM),
  }))

/** More hops than any path of the largest market that fits into memory needs. */
const HOPS_LIMIT = 100

function caseAt(at: At, markets: readonly (readonly LabPair[])[]): LabCase {
  const [market, swapCost, maxHops] = [member(at, 'market'), member(at, 'swapCost'), member(at, 'maxHops')]
  return {
    pools: isAbsent(market) ? pairsAt(at) : (markets[whole(market, 0, markets.length - 1)] ?? []),
    tokenIn: nameAt(member(at, 'tokenIn')),
    tokenOut: nameAt(member(at, 'tokenOut')),
    amountIn: units(member(at, 'amountIn'), 0n, UINT_MAX),
    swapCost: isAbsent(swapCost) ? 0n : units(swapCost, 0n, UINT_MAX),
    hopsMax: isAbsent(maxHops) ? null : whole(maxHops, 1, HOPS_LIMIT),
  }
}

const isAbsent = ({ value }: At): boolean => value === undefined || value === null
