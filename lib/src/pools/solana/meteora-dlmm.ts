/* Swaps of Meteora DLMM pairs, equal to the program (build 0.12.0 of May 2026, with limit orders). */
import { U64_MAX } from '../../bigint.ts'
import { addAt, type TokenPair } from '../token-pair.ts'
import {
  DLMM_BINS_PER_ARRAY,
  type DlmmBin,
  type DlmmBinArray,
  type DlmmPair,
  type DlmmVolatility,
  dlmmArrayIndex,
  isInPairBitmap,
} from './meteora-dlmm-accounts.ts'
import {
  type DlmmBinSwap,
  type DlmmFees,
  type DlmmFill,
  dlmmBinCapacity,
  dlmmInputFor,
  dlmmOutput,
  dlmmPrice,
  fillDlmmBin,
} from './meteora-dlmm-bin.ts'
import { DLMM_ERROR } from './meteora-dlmm-error.ts'
import { addFee, variableFeeRate } from './meteora-maths.ts'
import { catchRefusal, type RefusalCode, refuseUnless } from './swap-refusal.ts'
import { grossOf, netOf, type TransferFeeConfig } from './transfer-fee.ts'

const BASIS_POINTS = 10_000
/** 10 %, in parts of 10^9. */
const FEE_RATE_MAX = 100_000_000n

export type DlmmPool = Readonly<{
  pair: DlmmPair
  /** Indexes of bin arrays with liquidity in the bitmap extension, ascending. */
  extensionIndexes: readonly number[]
  binArrays: ReadonlyMap<number, DlmmBinArray>
  /** Balances of the reserves of X and Y, in base units. */
  reserves: readonly [bigint, bigint]
  /** Token-2022 transfer fees of X and Y. */
  transferFees: readonly [TransferFeeConfig | null, TransferFeeConfig | null]
}>

/** Base units with the transfer fee of the input, or without that of the output. */
export type DlmmAmounts =
  | Readonly<{ kind: 'exactIn'; amountIn: bigint; minimumOut: bigint }>
  | Readonly<{ kind: 'exactOut'; amountOut: bigint; maximumIn: bigint }>
  /** The output must be worth the input at the price of `activeId`, null = the active bin, but for the impact. */
  | Readonly<{ kind: 'priceImpact'; amountIn: bigint; activeId: number | null; maxImpactBps: bigint }>

export type DlmmSwap = Readonly<{
  swapForY: boolean
  amounts: DlmmAmounts
  /** Unix seconds. */
  unixTime: bigint
  slot: bigint
  /** Indexes of the bin array accounts of the instruction. */
  binArrays: readonly number[]
  /** Whether the instruction has the account of the bitmap extension. */
  hasExtension: boolean
  /** The token of the host's fee account; null = no host. */
  hostToken: 'x' | 'y' | null
}>

/** Base units: what the trader pays and gets, transfer fees included; or the program's error. */
export type DlmmResult =
  | Readonly<{ error: null; paid: bigint; received: bigint; fees: DlmmFees; next: DlmmPool }>
  | Readonly<{ error: RefusalCode }>

type Progress = Readonly<{
  activeId: number
  /** Base units left of an exact input, or of an exact output with its transfer fee. */
  remaining: bigint
  /** Base units left of the maximum input of an exact output. */
  budget: bigint
  amountIn: bigint
  amountOut: bigint
  fees: DlmmFees
  volatility: DlmmVolatility
  binArrays: ReadonlyMap<number, DlmmBinArray>
}>

/** Applies one swap. Inputs and fees are rounded up, outputs down; see the bins. */
export const swapMeteoraDlmm = (pool: DlmmPool, swap: DlmmSwap): DlmmResult => catchRefusal(() => applySwap(pool, swap))

function applySwap(pool: DlmmPool, swap: DlmmSwap): DlmmResult {
  const { swapForY, amounts } = swap
  const [feeIn, feeOut] = swapForY ? pool.transferFees : [pool.transferFees[1], pool.transferFees[0]]
  refuseUnless(isOpen(pool.pair, swap), DLMM_ERROR.poolDisabled)
  const start = findStart(pool, swap, feeIn, feeOut)
  const end = walkBins(pool, swap, start)
  refuseUnless(end.amountOut > 0n && end.remaining === 0n, DLMM_ERROR.insufficientOutAmount)
  const paid = amounts.kind === 'exactOut' ? addTransferFee(end.amountIn, feeIn) : amounts.amountIn
  const received = netOf(end.amountOut, feeOut)
  if (amounts.kind === 'exactOut') refuseUnless(paid <= amounts.maximumIn, DLMM_ERROR.insufficientInAmount)
  else
    refuseUnless(received >= findMinimum(pool.pair, swap, start.remaining), DLMM_ERROR.exceededAmountSlippageTolerance)
  const isFeeInX = swapForY && !pool.pair.hasFeesInY
  const fees = takeHostFee(end.fees, swap.hostToken, isFeeInX)
  const pair = updatePair(pool.pair, swap, end, fees)
  const reserves = updateReserves(pool.reserves, swap, [netOf(paid, feeIn), end.amountOut], {
    index: isFeeInX ? 0 : 1,
    units: fees.host,
  })
  return { error: null, paid, received, fees, next: { ...pool, pair, reserves, binArrays: end.binArrays } }
}

/** The host's fee leaves the reserve of the fee's token. */
function updateReserves(
  reserves: TokenPair,
  { swapForY }: DlmmSwap,
  [amountIn, amountOut]: TokenPair,
  host: Readonly<{ index: 0 | 1; units: bigint }>,
): TokenPair {
  const [input, output] = swapForY ? ([0, 1] as const) : ([1, 0] as const)
  const traded = addAt(addAt(reserves, input, amountIn), output, -amountOut)
  const next = addAt(traded, host.index, -host.units)
  refuseUnless(next[0] >= 0n && next[1] >= 0n, DLMM_ERROR.insufficientFunds)
  return next
}

function isOpen({ isEnabled, activation }: DlmmPair, { slot, unixTime }: DlmmSwap): boolean {
  return isEnabled && (activation === null || (activation.isSlot ? slot : unixTime) >= activation.point)
}

function findStart(
  { pair, binArrays }: DlmmPool,
  { amounts, unixTime }: DlmmSwap,
  feeIn: TransferFeeConfig | null,
  feeOut: TransferFeeConfig | null,
): Progress {
  const isExactOut = amounts.kind === 'exactOut'
  if (isExactOut) refuseUnless(amounts.amountOut > 0n, DLMM_ERROR.insufficientOutAmount)
  else refuseUnless(amounts.amountIn > 0n, DLMM_ERROR.invalidInput)
  return {
    activeId: pair.activeId,
    remaining: isExactOut ? addTransferFee(amounts.amountOut, feeOut) : netOf(amounts.amountIn, feeIn),
    budget: isExactOut ? netOf(amounts.maximumIn, feeIn) : 0n,
    amountIn: 0n,
    amountOut: 0n,
    fees: { makers: 0n, orders: 0n, protocol: 0n, host: 0n },
    volatility: decayVolatility(pair, unixTime),
    binArrays,
  }
}

/** The units to send so that `net` arrives, at most what a token account can hold. */
function addTransferFee(net: bigint, config: TransferFeeConfig | null): bigint {
  const total = grossOf(net, config)
  refuseUnless(total <= U64_MAX, DLMM_ERROR.mathOverflow)
  return total
}

/** The reference of the variable fee, after the time since the last swap that left its bin. */
function decayVolatility(
  { volatility, activeId, filterPeriod, decayPeriod, reductionFactor }: DlmmPair,
  now: bigint,
): DlmmVolatility {
  const elapsed = now - volatility.lastUpdate
  if (elapsed < BigInt(filterPeriod)) return volatility
  const isRecent = elapsed < BigInt(decayPeriod)
  const reference = isRecent ? Math.floor((volatility.accumulator * reductionFactor) / BASIS_POINTS) : 0
  return { ...volatility, reference, indexReference: activeId }
}

/** Fills bins from the active one, until nothing remains or an exact output has used its maximum input. */
function walkBins(pool: DlmmPool, swap: DlmmSwap, start: Progress): Progress {
  const isExactOut = swap.amounts.kind === 'exactOut'
  const isDone = ({ remaining, budget }: Progress) => remaining === 0n || (isExactOut && budget === 0n)
  refuseUnless(swap.binArrays.length > 0, DLMM_ERROR.accountNotEnoughKeys)
  let progress = start
  while (!isDone(progress)) {
    const array = findArray(pool, swap, progress.activeId)
    const first = array.index * DLMM_BINS_PER_ARRAY
    const last = first + DLMM_BINS_PER_ARRAY - 1
    if (dlmmArrayIndex(progress.activeId) !== array.index)
      progress = { ...progress, activeId: swap.swapForY ? last : first }
    const bins = [...array.bins]
    let [id, isInside] = [progress.activeId, true]
    while (isInside) {
      progress = swapInBin(pool.pair, swap, progress, bins)
      if (isDone(progress)) break
      id += swap.swapForY ? -1 : 1
      progress = { ...progress, activeId: id }
      isInside = id >= first && id <= last
    }
    progress = { ...progress, binArrays: new Map(progress.binArrays).set(array.index, { ...array, bins }) }
  }
  return progress
}

/** The next array with liquidity from the bin's own on. Refuses to search beyond the pair's bitmap without the extension. */
function findArray({ pair, extensionIndexes, binArrays }: DlmmPool, swap: DlmmSwap, activeId: number): DlmmBinArray {
  const { swapForY, hasExtension } = swap
  const from = dlmmArrayIndex(activeId)
  const closest = (indexes: readonly number[]) =>
    swapForY ? indexes.findLast((index) => index <= from) : indexes.find((index) => index >= from)
  const isNear = isInPairBitmap(from)
  let index = closest(pair.arrayIndexes)
  if (!isNear || index === undefined) {
    refuseUnless(hasExtension, DLMM_ERROR.bitmapExtensionAccountIsNotProvided)
    index = closest([...pair.arrayIndexes, ...extensionIndexes].sort((a, b) => a - b))
  }
  refuseUnless(index !== undefined, DLMM_ERROR.cannotFindNonZeroLiquidityBinArrayId)
  refuseUnless(swap.binArrays.includes(index), DLMM_ERROR.accountNotEnoughKeys)
  const array = binArrays.get(index)
  if (array === undefined) throw new Error(`Bin array ${index} is missing; read its account`)
  return array
}

/** Fills the active bin and replaces it in `bins`, the bins of its array. */
function swapInBin(pair: DlmmPair, swap: DlmmSwap, progress: Progress, bins: DlmmBin[]): Progress {
  const position = progress.activeId - dlmmArrayIndex(progress.activeId) * DLMM_BINS_PER_ARRAY
  const bin = bins[position]
  if (bin === undefined) throw new Error(`Bin ${progress.activeId} is missing in its array`)
  const volatility = updateVolatility(pair, progress)
  const binSwap: DlmmBinSwap = {
    bin,
    swapForY: swap.swapForY,
    hasLimitOrders: pair.hasLimitOrders,
    isFeeInInput: !pair.hasFeesInY || !swap.swapForY,
    feeRate: findFeeRate(pair, volatility),
    protocolShare: BigInt(pair.protocolShare),
  }
  const capacity = dlmmBinCapacity(binSwap)
  if (capacity === 0n) return progress
  const isExactOut = swap.amounts.kind === 'exactOut'
  const fill = isExactOut ? fillForOutput(binSwap, progress, capacity) : fillDlmmBin(binSwap, progress.remaining)
  bins[position] = fill.next
  return {
    ...progress,
    volatility,
    remaining: progress.remaining - (isExactOut ? fill.amountOut : fill.amountIn),
    budget: isExactOut ? progress.budget - fill.amountIn : 0n,
    amountIn: progress.amountIn + fill.amountIn,
    amountOut: progress.amountOut + fill.amountOut,
    fees: addFees(progress.fees, fill.fees),
  }
}

/** A bin that holds more than the output gives exactly it, another one what the rest of the maximum input buys. */
function fillForOutput(binSwap: DlmmBinSwap, { remaining, budget }: Progress, capacity: bigint): DlmmFill {
  const { isFeeInInput, feeRate } = binSwap
  const grossOutput = isFeeInInput ? remaining : addFee(remaining, feeRate)
  if (grossOutput >= capacity) return fillDlmmBin(binSwap, budget)
  const fill = fillDlmmBin(binSwap, dlmmInputFor(binSwap, grossOutput))
  // The program computes one input for all parts of the bin, which need up to one unit each.
  refuseUnless(fill.amountOut >= remaining, DLMM_ERROR.undeterminedError)
  // What the input buys beyond the output stays in the reserve; of a fee in the output it is the protocol's.
  const excess = isFeeInInput ? 0n : fill.amountOut - remaining
  return { ...fill, amountOut: remaining, fees: { ...fill.fees, protocol: fill.fees.protocol + excess } }
}

/** The fee rate in a bin, parts of 10^9, for a swap that begins at this time. */
export function dlmmFeeRate(pair: DlmmPair, unixTime: bigint, binId: number): bigint {
  const volatility = decayVolatility(pair, unixTime)
  return findFeeRate(pair, updateVolatility(pair, { volatility, activeId: binId }))
}

function updateVolatility(
  { maxVolatilityAccumulator }: DlmmPair,
  { volatility, activeId }: Pick<Progress, 'volatility' | 'activeId'>,
): DlmmVolatility {
  const crossed = Math.abs(volatility.indexReference - activeId) * BASIS_POINTS
  return { ...volatility, accumulator: Math.min(volatility.reference + crossed, maxVolatilityAccumulator) }
}

/** Parts of 10^9. */
function findFeeRate(pair: DlmmPair, { accumulator }: DlmmVolatility): bigint {
  const binStep = BigInt(pair.binStep)
  const base = BigInt(pair.baseFactor) * binStep * 10n * 10n ** BigInt(pair.baseFeePowerFactor)
  const rate = base + variableFeeRate(BigInt(accumulator), binStep, BigInt(pair.variableFeeControl))
  return rate < FEE_RATE_MAX ? rate : FEE_RATE_MAX
}

function addFees(a: DlmmFees, b: DlmmFees): DlmmFees {
  return {
    makers: a.makers + b.makers,
    orders: a.orders + b.orders,
    protocol: a.protocol + b.protocol,
    host: a.host + b.host,
  }
}

/** The least output in base units, rounded down, for an input net of its transfer fee. */
function findMinimum({ activeId, binStep }: DlmmPair, { swapForY, amounts }: DlmmSwap, netInput: bigint): bigint {
  if (amounts.kind === 'exactIn') return amounts.minimumOut
  if (amounts.kind === 'exactOut') return 0n
  const worth = dlmmOutput(netInput, dlmmPrice(amounts.activeId ?? activeId, binStep), swapForY)
  return (worth * (BigInt(BASIS_POINTS) - amounts.maxImpactBps)) / BigInt(BASIS_POINTS)
}

/** Splits the host's fee from the protocol's. */
function takeHostFee(fees: DlmmFees, hostToken: DlmmSwap['hostToken'], isFeeInX: boolean): DlmmFees {
  if (hostToken === null) return { ...fees, host: 0n }
  refuseUnless(fees.host === 0n || hostToken === (isFeeInX ? 'x' : 'y'), DLMM_ERROR.mintMismatch)
  return { ...fees, protocol: fees.protocol - fees.host }
}

function updatePair(pair: DlmmPair, { swapForY, unixTime }: DlmmSwap, end: Progress, fees: DlmmFees): DlmmPair {
  const isFeeInX = swapForY && !pair.hasFeesInY
  const lastUpdate = end.activeId === pair.activeId ? pair.volatility.lastUpdate : unixTime
  return {
    ...pair,
    activeId: end.activeId,
    volatility: { ...end.volatility, lastUpdate },
    protocolFees: addAt(pair.protocolFees, isFeeInX ? 0 : 1, fees.protocol),
  }
}
