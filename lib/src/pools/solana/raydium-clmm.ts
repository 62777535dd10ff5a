/* Swaps of Raydium CLMM pools, equal to the program (main net before limit orders and dynamic fees of May 2026). */
import { U64_MAX, U128_MAX } from '../../bigint.ts'
import { addAt, replaceAt, type TokenPair } from '../token-pair.ts'
import {
  type ClmmConfig,
  type ClmmPoolState,
  type ClmmTick,
  type ClmmTickArray,
  clmmArrayStart,
  isInPoolBitmap,
} from './raydium-clmm-accounts.ts'
import { CLMM_ERROR } from './raydium-clmm-error.ts'
import { CLMM_FEE_DENOMINATOR, type ClmmStep, computeClmmStep } from './raydium-clmm-step.ts'
import {
  CLMM_SQRT_PRICE_MAX,
  CLMM_SQRT_PRICE_MIN,
  clmmSqrtPriceAtTick,
  clmmTickAtSqrtPrice,
} from './raydium-clmm-tick.ts'
import { catchRefusal, type RefusalCode, refuseUnless } from './swap-refusal.ts'
import { grossOf, netOf, type TransferFeeConfig, transferFee } from './transfer-fee.ts'

const FEE_GROWTH_UNIT = 1n << 64n
const SWAP_DISABLED = 1 << 4

export type ClmmPool = Readonly<{
  config: ClmmConfig
  state: ClmmPoolState
  /** Start ticks in the bitmap extension, ascending. */
  extensionStarts: readonly number[]
  tickArrays: ReadonlyMap<number, ClmmTickArray>
  /** Token-2022 transfer fees of token 0 and token 1. */
  transferFees: readonly [TransferFeeConfig | null, TransferFeeConfig | null]
}>

export type ClmmSwap = Readonly<{
  zeroForOne: boolean
  /** Whether `amount` is the input; otherwise the output. */
  isBaseInput: boolean
  /** Base units, with the transfer fee of the input, or without that of the output. */
  amount: bigint
  /** Base units: the minimum output of a base input; otherwise the maximum input. */
  otherAmountThreshold: bigint
  /** Q64.64; 0 = no limit. The swap stops at the limit and takes only the used part of the input. */
  sqrtPriceLimit: bigint
  /** Unix seconds. */
  timestamp: bigint
  /** Start ticks of the tick array accounts of the instruction, in its order. */
  tickArrayStarts: readonly number[]
  /** Whether the instruction has the account of the bitmap extension. */
  hasExtension: boolean
}>

/** Base units: what the trader pays and gets, transfer fees included; or the program's error. */
export type ClmmResult =
  | Readonly<{ error: null; paid: bigint; received: bigint; next: ClmmPool }>
  | Readonly<{ error: RefusalCode }>

type Progress = Readonly<{
  remaining: bigint
  /** Base units of the other side. */
  calculated: bigint
  sqrtPrice: bigint
  tick: number
  liquidity: bigint
  feeGrowth: bigint
  /** Base units, by recipient. */
  lpFee: bigint
  protocolFee: bigint
  fundFee: bigint
  tickArrays: ReadonlyMap<number, ClmmTickArray>
}>

/** Applies one swap. Input and fees are rounded up, output is rounded down; see the steps. */
export const swapRaydiumClmm = (pool: ClmmPool, swap: ClmmSwap): ClmmResult => catchRefusal(() => applySwap(pool, swap))

function applySwap(pool: ClmmPool, swap: ClmmSwap): ClmmResult {
  const { isBaseInput, zeroForOne } = swap
  const [feeIn, feeOut] = zeroForOne ? pool.transferFees : [pool.transferFees[1], pool.transferFees[0]]
  const specified = isBaseInput ? netOf(swap.amount, feeIn) : addInverseFee(swap.amount, feeOut)
  const end = walkTicks(pool, swap, specified)
  const used = specified - end.remaining
  const [amountIn, amountOut] = isBaseInput ? [used, end.calculated] : [end.calculated, used]
  const state = updateState(pool, end, { zeroForOne, amountIn, amountOut })
  refuseUnless(amountIn !== 0n && amountOut !== 0n, CLMM_ERROR.tooSmallInputOrOutputAmount)
  const paid = isBaseInput && end.remaining === 0n ? swap.amount : addInverseFee(amountIn, feeIn)
  const received = netOf(amountOut, feeOut)
  if (isBaseInput) refuseUnless(received >= swap.otherAmountThreshold, CLMM_ERROR.tooLittleOutputReceived)
  else refuseUnless(paid <= swap.otherAmountThreshold, CLMM_ERROR.tooMuchInputPaid)
  return { error: null, paid, received, next: { ...pool, state, tickArrays: end.tickArrays } }
}

/** The units to send so that `net` arrives. The program refuses a net amount for which the fee's inverse is inexact. */
function addInverseFee(net: bigint, config: TransferFeeConfig | null): bigint {
  if (config === null) return net
  const total = net + transferFee(grossOf(net, config), config)
  refuseUnless(total <= U64_MAX, CLMM_ERROR.panic)
  refuseUnless(total - transferFee(total, config) === net, CLMM_ERROR.transferFeeCalculateNotMatch)
  return total
}

function walkTicks(pool: ClmmPool, swap: ClmmSwap, specified: bigint): Progress {
  const { state } = pool
  const { zeroForOne } = swap
  refuseUnless(specified !== 0n, CLMM_ERROR.zeroAmountSpecified)
  const isOpen = (state.status & SWAP_DISABLED) === 0 && swap.timestamp >= state.openTime
  refuseUnless(isOpen, CLMM_ERROR.notApproved)
  const limit = findPriceLimit(swap, state.sqrtPrice)
  const findTick = createTickFinder(pool, swap)
  let progress: Progress = {
    remaining: specified,
    calculated: 0n,
    sqrtPrice: state.sqrtPrice,
    tick: state.tickCurrent,
    liquidity: state.liquidity,
    feeGrowth: state.feeGrowthGlobal[zeroForOne ? 0 : 1],
    lpFee: 0n,
    protocolFee: 0n,
    fundFee: 0n,
    tickArrays: pool.tickArrays,
  }
  while (progress.remaining !== 0n && progress.sqrtPrice !== limit) {
    const next = findTick(progress.tick)
    const nextPrice = clmmSqrtPriceAtTick(next.tick)
    const isLimitFirst = zeroForOne ? nextPrice < limit : nextPrice > limit
    const step = computeClmmStep({
      sqrtPrice: progress.sqrtPrice,
      target: isLimitFirst ? limit : nextPrice,
      liquidity: progress.liquidity,
      remaining: progress.remaining,
      tradeFeeRate: pool.config.tradeFeeRate,
      isBaseInput: swap.isBaseInput,
      zeroForOne,
    })
    const moved = addStep(progress, step, pool.config, swap.isBaseInput)
    if (step.sqrtPrice === nextPrice) progress = crossTick(moved, next, pool, zeroForOne)
    else if (step.sqrtPrice === progress.sqrtPrice) progress = moved
    else progress = { ...moved, tick: clmmTickAtSqrtPrice(step.sqrtPrice) }
  }
  return progress
}

function findPriceLimit({ zeroForOne, sqrtPriceLimit }: ClmmSwap, sqrtPrice: bigint): bigint {
  if (sqrtPriceLimit === 0n) return zeroForOne ? CLMM_SQRT_PRICE_MIN + 1n : CLMM_SQRT_PRICE_MAX - 1n
  const isValid = zeroForOne
    ? sqrtPriceLimit < sqrtPrice && sqrtPriceLimit > CLMM_SQRT_PRICE_MIN
    : sqrtPriceLimit > sqrtPrice && sqrtPriceLimit < CLMM_SQRT_PRICE_MAX
  refuseUnless(isValid, CLMM_ERROR.sqrtPriceLimitOverflow)
  return sqrtPriceLimit
}

/** Returns a function that finds the next initialised tick from a tick. It consumes the instruction's tick arrays in their order. */
function createTickFinder(pool: ClmmPool, swap: ClmmSwap): (tick: number) => ClmmTick {
  const { tickSpacing, tickCurrent } = pool.state
  const { zeroForOne } = swap
  const startTick = clmmArrayStart(tickCurrent, tickSpacing)
  const isCurrentInitialised = isArrayInitialised(pool, swap, startTick)
  const first = isCurrentInitialised ? startTick : findNextArray(pool, swap, startTick)
  refuseUnless(first !== null, CLMM_ERROR.insufficientLiquidityForDirection)
  const given = [...swap.tickArrayStarts]
  let current = given.shift()
  refuseUnless(current !== undefined, CLMM_ERROR.panic)
  while (current !== first && given.length > 0) current = given.shift()
  refuseUnless(current === first, CLMM_ERROR.invalidFirstTickArrayAccount)
  let isInsideArray = isCurrentInitialised
  let array = first
  return (tick) => {
    const ticks = readArray(pool, array)
    const found = clmmArrayStart(tick, tickSpacing) === array ? findInArray(ticks, tick, zeroForOne) : undefined
    if (found !== undefined) return found
    if (!isInsideArray) {
      isInsideArray = true
      return firstOfArray(ticks, zeroForOne)
    }
    const next = findNextArray(pool, swap, array)
    refuseUnless(next !== null, CLMM_ERROR.liquidityInsufficient)
    while (current !== next) {
      current = given.shift()
      refuseUnless(current !== undefined, CLMM_ERROR.notEnoughTickArrayAccount)
    }
    array = next
    return firstOfArray(readArray(pool, array), zeroForOne)
  }
}

function isArrayInitialised({ state, extensionStarts }: ClmmPool, swap: ClmmSwap, start: number): boolean {
  if (isInPoolBitmap(start, state.tickSpacing)) return state.arrayStarts.includes(start)
  // The program reads the current array's bit without a check that the account is present.
  refuseUnless(swap.hasExtension, CLMM_ERROR.panic)
  return extensionStarts.includes(start)
}

/** The next initialised tick array in the direction of the swap, or null. Refuses to search beyond the pool's bitmap without the extension. */
function findNextArray({ state, extensionStarts }: ClmmPool, swap: ClmmSwap, from: number): number | null {
  const { zeroForOne } = swap
  const isReachable = (start: number) => (zeroForOne ? start < from : start > from)
  const near = closest(state.arrayStarts.filter(isReachable), zeroForOne)
  if (near !== null && isInPoolBitmap(from, state.tickSpacing)) return near
  refuseUnless(swap.hasExtension, CLMM_ERROR.missingTickArrayBitmapExtension)
  const far = closest(extensionStarts.filter(isReachable), zeroForOne)
  const candidates = [near, far].filter((start) => start !== null)
  return closest(
    candidates.sort((a, b) => a - b),
    zeroForOne,
  )
}

/** The first of ascending starts in the direction of the swap. */
function closest(starts: readonly number[], zeroForOne: boolean): number | null {
  return (zeroForOne ? starts.at(-1) : starts[0]) ?? null
}

function readArray(pool: ClmmPool, start: number): readonly ClmmTick[] {
  const array = pool.tickArrays.get(start)
  if (array === undefined) throw new Error(`Tick array ${start} is missing; read its account`)
  return array.ticks
}

function findInArray(ticks: readonly ClmmTick[], from: number, zeroForOne: boolean): ClmmTick | undefined {
  return zeroForOne ? ticks.findLast(({ tick }) => tick <= from) : ticks.find(({ tick }) => tick > from)
}

function firstOfArray(ticks: readonly ClmmTick[], zeroForOne: boolean): ClmmTick {
  const tick = zeroForOne ? ticks.at(-1) : ticks[0]
  refuseUnless(tick !== undefined, CLMM_ERROR.invalidTickArray)
  return tick
}

/** Books one step. The shares of protocol and fund and the fee growth are rounded down in every step. */
function addStep(progress: Progress, step: ClmmStep, config: ClmmConfig, isBaseInput: boolean): Progress {
  const { amountIn, amountOut, fee } = step
  const protocolFee = (fee * config.protocolFeeRate) / CLMM_FEE_DENOMINATOR
  const fundFee = (fee * config.fundFeeRate) / CLMM_FEE_DENOMINATOR
  const lpFee = fee - protocolFee - fundFee
  const hasLiquidity = progress.liquidity > 0n
  const growth = hasLiquidity ? (lpFee * FEE_GROWTH_UNIT) / progress.liquidity : 0n
  const remaining = progress.remaining - (isBaseInput ? amountIn + fee : amountOut)
  const calculated = progress.calculated + (isBaseInput ? amountOut : amountIn + fee)
  refuseUnless(remaining >= 0n && calculated <= U64_MAX, CLMM_ERROR.calculateOverflow)
  return {
    ...progress,
    remaining,
    calculated,
    sqrtPrice: step.sqrtPrice,
    feeGrowth: progress.feeGrowth + growth,
    lpFee: progress.lpFee + (hasLiquidity ? lpFee : 0n),
    protocolFee: progress.protocolFee + protocolFee,
    fundFee: progress.fundFee + fundFee,
  }
}

/** Enters the range beyond an initialised tick. */
function crossTick(progress: Progress, crossed: ClmmTick, pool: ClmmPool, zeroForOne: boolean): Progress {
  const global = replaceAt(pool.state.feeGrowthGlobal, zeroForOne ? 0 : 1, progress.feeGrowth)
  const [beyond0, beyond1] = crossed.feeGrowthBeyond
  // The program subtracts modulo 2^128.
  const feeGrowthBeyond = [BigInt.asUintN(128, global[0] - beyond0), BigInt.asUintN(128, global[1] - beyond1)] as const
  const start = clmmArrayStart(crossed.tick, pool.state.tickSpacing)
  const ticks = readArray(pool, start)
  const updated = (progress.tickArrays.get(start)?.ticks ?? ticks).map((tick) =>
    tick.tick === crossed.tick ? { ...tick, feeGrowthBeyond } : tick,
  )
  const tickArrays = new Map(progress.tickArrays).set(start, { startTick: start, ticks: updated })
  const liquidity = progress.liquidity + (zeroForOne ? -crossed.liquidityNet : crossed.liquidityNet)
  refuseUnless(liquidity >= 0n, CLMM_ERROR.liquiditySubValue)
  refuseUnless(liquidity <= U128_MAX, CLMM_ERROR.liquidityAddValue)
  return { ...progress, liquidity, tick: zeroForOne ? crossed.tick - 1 : crossed.tick, tickArrays }
}

function updateState(
  { state }: ClmmPool,
  end: Progress,
  { zeroForOne, amountIn, amountOut }: { zeroForOne: boolean; amountIn: bigint; amountOut: bigint },
): ClmmPoolState {
  const add = (sums: TokenPair, units: bigint, isToken0: boolean, max = U64_MAX) => {
    const next = addAt(sums, isToken0 ? 0 : 1, units)
    refuseUnless(next[0] <= max && next[1] <= max, CLMM_ERROR.panic)
    return next
  }
  return {
    ...state,
    liquidity: end.liquidity,
    sqrtPrice: end.sqrtPrice,
    tickCurrent: end.tick,
    feeGrowthGlobal: replaceAt(state.feeGrowthGlobal, zeroForOne ? 0 : 1, end.feeGrowth),
    protocolFees: add(state.protocolFees, end.protocolFee, zeroForOne),
    fundFees: add(state.fundFees, end.fundFee, zeroForOne),
    totalFees: add(state.totalFees, end.lpFee, zeroForOne),
    swapIn: add(state.swapIn, amountIn, zeroForOne, U128_MAX),
    swapOut: add(state.swapOut, amountOut, !zeroForOne, U128_MAX),
  }
}
