import { divideUp } from '../../../lib/bigint.ts'
import { createCurve } from '../curve.ts'
import type { PoolIdentity, PoolMaths, Swapped } from '../pool.ts'
import { FALL_MIN, hyperbola } from './sampled-curve.ts'

/** A bin of the Liquidity Book: all its reserves trade at one price. */
export type Bin = Readonly<{ id: number; reserves: readonly [bigint, bigint] }>

/**
 * LFJ Liquidity Book, versions 2.1 and 2.2: bins with the constant price (1 + binStep ÷ 10⁴)^(id − 2²³) of token 1 per token 0, a base fee,
 * and a variable fee that increases with the number of bins crossed recently. The names are those of the contract's StaticFeeParameters and
 * VariableFeeParameters.
 */
export type LiquidityBookPool = PoolIdentity &
  Readonly<{
    kind: 'liquidity-book'
    /** All bins with reserves, by increasing id. */
    bins: readonly Bin[]
    activeId: number
    binStep: number
    fees: Readonly<{
      baseFactor: bigint
      filterPeriod: number
      decayPeriod: number
      reductionFactor: bigint
      variableFeeControl: bigint
      protocolShare: bigint
      maxVolatilityAccumulator: bigint
    }>
    volatility: Volatility
    /** Time of the swap's block in Unix seconds; the variable fee decays with time. */
    now: number
  }>

type Volatility = Readonly<{ accumulator: bigint; reference: bigint; idReference: number; lastUpdate: number }>

const ID_ONE = 2 ** 23
const SHIFT = 128n
const SCALE = 1n << SHIFT
const UINT256_MAX = (1n << 256n) - 1n
const UINT128_MAX = SCALE - 1n
const BASIS = 10_000n
const FEE_ONE = 10n ** 18n
/** FeeHelper.MAX_FEE: 10 %, in parts of 10^18. */
const FEE_MAX = 10n ** 17n
/** Gas of a swap within one bin through our executor contract. */
const GAS = 120_000

/** LBPair.swap: bin by bin until the whole input is used. */
function swap(
  state: LiquidityBookPool,
  tokenIn: number,
  tokenOut: number,
  amountIn: bigint,
): Swapped<LiquidityBookPool> | null {
  if (amountIn <= 0n || amountIn > UINT128_MAX || tokenIn === tokenOut) return null
  const forY = tokenIn === 0
  const bins = [...state.bins]
  let volatility = decayVolatility(state)
  let activeId = state.activeId
  let remaining = amountIn
  let amountOut = 0n
  for (let index = startIndex(bins, activeId, forY); remaining > 0n; index += forY ? -1 : 1) {
    const bin = bins[index]
    if (bin === undefined) return null
    activeId = bin.id
    const available = bin.reserves[forY ? 1 : 0]
    if (available === 0n) continue
    volatility = accumulateVolatility(state, volatility, bin.id)
    const step = swapInBin(bin, state.binStep, forY, totalFee(state, volatility.accumulator), remaining)
    if (step === null) return null
    if (step.in === 0n) continue
    remaining -= step.in
    amountOut += step.out
    const added = step.in - (step.fee * state.fees.protocolShare) / BASIS
    const reserves = forY
      ? ([bin.reserves[0] + added, available - step.out] as const)
      : ([available - step.out, bin.reserves[1] + added] as const)
    bins[index] = { id: bin.id, reserves }
  }
  return amountOut === 0n ? null : { amountOut, next: { ...state, bins, activeId, volatility } }
}

/** Index of the active bin, or of the next one in this direction if it is empty. */
function startIndex(bins: readonly Bin[], activeId: number, forY: boolean): number {
  if (!forY) {
    const index = bins.findIndex(({ id }) => id >= activeId)
    return index < 0 ? bins.length : index
  }
  return bins.findLastIndex(({ id }) => id <= activeId)
}

/** PairParameterHelper.updateReferences. */
function decayVolatility({ volatility, fees, activeId, now }: LiquidityBookPool): Volatility {
  const elapsedS = now - volatility.lastUpdate
  if (elapsedS < fees.filterPeriod) return { ...volatility, lastUpdate: now }
  const reference = elapsedS < fees.decayPeriod ? (volatility.accumulator * fees.reductionFactor) / BASIS : 0n
  return { ...volatility, reference, idReference: activeId, lastUpdate: now }
}

/** PairParameterHelper.updateVolatilityAccumulator. */
function accumulateVolatility({ fees }: LiquidityBookPool, volatility: Volatility, id: number): Volatility {
  const uncapped = volatility.reference + BigInt(Math.abs(id - volatility.idReference)) * BASIS
  return {
    ...volatility,
    accumulator: uncapped < fees.maxVolatilityAccumulator ? uncapped : fees.maxVolatilityAccumulator,
  }
}

/** PairParameterHelper.getTotalFee, in parts of 10^18. */
function totalFee({ fees, binStep }: LiquidityBookPool, accumulator: bigint): bigint {
  const base = fees.baseFactor * BigInt(binStep) * 10n ** 10n
  const product = accumulator * BigInt(binStep)
  const variable = fees.variableFeeControl === 0n ? 0n : (product * product * fees.variableFeeControl + 99n) / 100n
  return base + variable
}

/** BinHelper.getAmounts with both fees of FeeHelper. Null if the contract reverts. */
function swapInBin({ id, reserves }: Bin, binStep: number, forY: boolean, fee: bigint, remaining: bigint) {
  const price = priceOf(id, binStep)
  const available = reserves[forY ? 1 : 0]
  if (price === 0n || fee > FEE_MAX) return null
  const net = forY ? divideUp(available << SHIFT, price) : divideUp(available * price, SCALE)
  const inputMax = net + divideUp(net * fee, FEE_ONE - fee)
  if (inputMax > UINT128_MAX) return null
  if (remaining >= inputMax) return { in: inputMax, out: available, fee: inputMax - net }
  const cost = divideUp(remaining * fee, FEE_ONE)
  const netInput = remaining - cost
  const out = forY ? (netInput * price) >> SHIFT : (netInput << SHIFT) / price
  return { in: remaining, out: out > available ? available : out, fee: cost }
}

/** PriceHelper.getPriceFromId with Uint128x128Math.pow, in 128.128 fixed point. Zero if it reverts. */
function priceOf(id: number, binStep: number): bigint {
  const exponent = id - ID_ONE
  if (exponent === 0) return SCALE
  const steps = Math.abs(exponent)
  if (steps >= 0x100000) return 0n
  let result = SCALE
  // Like the contract: raises the inverse of the base, which is below one, and inverts the result.
  let squared = UINT256_MAX / (SCALE + (BigInt(binStep) << SHIFT) / BASIS)
  for (let bit = 1; bit <= 0x80000; bit *= 2) {
    if ((steps & bit) !== 0) result = (result * squared) >> SHIFT
    squared = (squared * squared) >> SHIFT
  }
  if (result === 0n) return 0n
  return exponent > 0 ? UINT256_MAX / result : result
}

const BINS_MAX = 256

/** The curve: one hyperbola per bin, nearly a straight line. */
function curve(state: LiquidityBookPool, tokenIn: number, tokenOut: number) {
  if (tokenIn === tokenOut) return null
  const forY = tokenIn === 0
  const hyperbolas = []
  let volatility = decayVolatility(state)
  let last = Number.POSITIVE_INFINITY
  for (let index = startIndex(state.bins, state.activeId, forY); hyperbolas.length < BINS_MAX; index += forY ? -1 : 1) {
    const bin = state.bins[index]
    if (bin === undefined) break
    const available = Number(bin.reserves[forY ? 1 : 0])
    if (available === 0) continue
    volatility = accumulateVolatility(state, volatility, bin.id)
    const fee = Number(totalFee(state, volatility.accumulator)) / 1e18
    const price = Number(priceOf(bin.id, state.binStep)) / 2 ** 128
    if (price === 0 || fee > 0.1) break
    // The variable fee may decrease toward the reference bin. The price of the curve must decrease nevertheless.
    const net = Math.min((forY ? price : 1 / price) * (1 - fee), last * (1 - BIN_FALL))
    hyperbolas.push(hyperbola(net * (1 + BIN_FALL / 2), BIN_FALL, available / net))
    last = net
  }
  return hyperbolas.length === 0 ? null : createCurve(hyperbolas, 1, GAS)
}

/** Relative price decrease within a bin of the curve. In the contract the price of a bin is constant. */
const BIN_FALL = 10 * FALL_MIN

export const liquidityBook: PoolMaths<LiquidityBookPool> = { swap, curve }
