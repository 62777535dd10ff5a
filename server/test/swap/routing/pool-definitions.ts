import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'

/*
 * What a swap earns at most at given values of its two tokens, by the published definition of its DEX. It is in closed form and uses
 * nothing of the program but the types of the pools. Integers of the contracts are rounded against the trader, so without rounding it is an
 * upper bound.
 */

/** The swap that earns most if a unit of input costs `cost` and a unit of output is worth `worth`. */
export type BestTrade = Readonly<{ profit: number; amountIn: number; amountOut: number }>
export type Definition = (cost: number, worth: number) => BestTrade

const NOTHING: BestTrade = { profit: 0, amountIn: 0, amountOut: 0 }

const sum = (trades: readonly BestTrade[]): BestTrade =>
  trades.reduce(
    (a, b) => ({
      profit: a.profit + b.profit,
      amountIn: a.amountIn + b.amountIn,
      amountOut: a.amountOut + b.amountOut,
    }),
    NOTHING,
  )

/**
 * A part of a pool in which x pays b·x ÷ (a + x), up to x = `limit`. The best input is √(a·b·worth ÷ cost) − a, where the marginal price is
 * cost ÷ worth.
 */
function hyperbola(a: number, b: number, limit = Number.POSITIVE_INFINITY): Definition {
  return (cost, worth) => {
    const amountIn = Math.min(limit, Math.sqrt((a * b * worth) / cost) - a)
    if (!(amountIn > 0)) return NOTHING
    const amountOut = (b * amountIn) / (a + amountIn)
    return { profit: worth * amountOut - cost * amountIn, amountIn, amountOut }
  }
}

/** An amount at one price: an order, or a bin. `amount` is of the output. */
function atPrice(price: number, amount: number): Definition {
  return (cost, worth) => {
    const profit = amount * (worth - cost / price)
    return profit > 0 ? { profit, amountIn: amount / price, amountOut: amount } : NOTHING
  }
}

/** Parts of one pool, each used as far as it earns. A contract uses them in its order, which earns no more. */
const together =
  (parts: readonly Definition[]): Definition =>
  (cost, worth) =>
    sum(parts.map((part) => part(cost, worth)))

/** A fee as a share of the input, and one of the output. */
const withFees =
  (definition: Definition, feeIn: number, feeOut = 0): Definition =>
  (cost, worth) => {
    const { profit, amountIn, amountOut } = definition(cost / (1 - feeIn), worth * (1 - feeOut))
    return { profit, amountIn: amountIn / (1 - feeIn), amountOut: amountOut * (1 - feeOut) }
  }

type TransferFee = Readonly<{ basisPoints: bigint; maximumFee: bigint }> | null
const rateOf = (fee: TransferFee | undefined): number => Number(fee?.basisPoints ?? 0n) / 1e4

/** Token-2022 mints that withhold a share of each transfer. The greatest fee of a transfer must be out of reach. */
function withTransferFees(definition: Definition, fees: readonly TransferFee[], from: number, to: number): Definition {
  if (fees.some((fee) => fee !== null && fee.maximumFee < 1n << 62n)) throw new Error('a transfer fee has a limit')
  return withFees(definition, rateOf(fees[from]), rateOf(fees[to]))
}

type Concentrated = Readonly<{
  /** The root of the price, token 1 per token 0. */
  root: number
  liquidity: bigint
  ticks: readonly Readonly<{ index: number; net: bigint }>[]
}>

/**
 * Liquidity L between two ticks: from the root s of the price to r, token 0 changes by L·(1/r − 1/s) and token 1 by L·(r − s). A tick is
 * a root of 1.0001^(index ÷ 2). `crossesGaps`: whether a swap crosses ranges without liquidity.
 */
function concentrated({ root, liquidity, ticks }: Concentrated, from: number, crossesGaps = true): Definition {
  const rootOf = (index: number) => 1.0001 ** (index / 2)
  const isAbove = ({ index }: { index: number }) => rootOf(index) > root
  const first = ticks.findIndex(isAbove)
  const split = first < 0 ? ticks.length : first
  const following = from === 0 ? ticks.slice(0, split).reverse() : ticks.slice(split)
  const parts: Definition[] = []
  let [start, active] = [root, liquidity]
  for (const { index, net } of following) {
    const end = rootOf(index)
    const units = Number(active)
    if (active > 0n)
      parts.push(
        from === 0
          ? hyperbola(units / start, units * start, units * (1 / end - 1 / start))
          : hyperbola(units * start, units / start, units * (end - start)),
      )
    else if (!crossesGaps) break
    active += from === 0 ? -net : net
    start = end
  }
  return together(parts)
}

const ofQ64 = ({ sqrtPrice, ...rest }: Omit<Concentrated, 'root'> & { sqrtPrice: bigint }): Concentrated => ({
  ...rest,
  root: Number(sqrtPrice) / 2 ** 64,
})

/**
 * The fee of a bin: the base fee and (accumulator · bin step)² · control ÷ 10²⁰, together at most 10 %. The accumulator is the reference and
 * 10⁴ for each bin from the reference bin.
 */
type BinFees = Readonly<{
  binStep: number
  base: number
  control: number
  reference: number
  referenceBin: number
  accumulatorMax: number
}>

function binFee({ binStep, base, control, reference, referenceBin, accumulatorMax }: BinFees, id: number): number {
  const accumulator = Math.min(reference + 1e4 * Math.abs(id - referenceBin), accumulatorMax)
  return Math.min(0.1, base + (control * (accumulator * binStep) ** 2) / 1e20)
}

type Decay = Readonly<{ elapsed: number; filterPeriod: number; decayPeriod: number; reduction: number }>

/** The reference after the time since the last swap: kept within the filter period, then reduced, and zero after the decay period. */
function decayed(
  { elapsed, filterPeriod, decayPeriod, reduction }: Decay,
  volatility: Readonly<{ accumulator: number; reference: number; referenceBin: number }>,
  activeId: number,
): Readonly<{ reference: number; referenceBin: number }> {
  if (elapsed < filterPeriod) return volatility
  const reference = elapsed < decayPeriod ? volatility.accumulator * reduction : 0
  return { reference, referenceBin: activeId }
}

function liquidityBook(pool: Extract<Pool, { kind: 'liquidity-book' }>, from: number): Definition {
  const { fees, volatility, binStep, activeId } = pool
  const reference = decayed(
    {
      ...{ elapsed: pool.now - volatility.lastUpdate, filterPeriod: fees.filterPeriod, decayPeriod: fees.decayPeriod },
      reduction: Number(fees.reductionFactor) / 1e4,
    },
    {
      ...{ accumulator: Number(volatility.accumulator), reference: Number(volatility.reference) },
      referenceBin: volatility.idReference,
    },
    activeId,
  )
  const binFees: BinFees = {
    ...{ ...reference, binStep, base: (Number(fees.baseFactor) * binStep) / 1e8 },
    ...{ control: Number(fees.variableFeeControl), accumulatorMax: Number(fees.maxVolatilityAccumulator) },
  }
  const parts = pool.bins
    .filter(({ id }) => (from === 0 ? id <= activeId : id >= activeId))
    .map(({ id, reserves }) => {
      const price = (1 + binStep / 1e4) ** (id - 2 ** 23)
      return withFees(atPrice(from === 0 ? price : 1 / price, Number(reserves[1 - from])), binFee(binFees, id))
    })
  return together(parts)
}

/** Market makers and limit orders of a bin trade at its price. Orders that sell X serve those who buy X. */
function meteoraDlmm({ state, unixTime, arrays }: Extract<Pool, { kind: 'meteora-dlmm' }>, from: number): Definition {
  const { pair, binArrays, transferFees } = state
  const { volatility, binStep, activeId } = pair
  const reference = decayed(
    {
      ...{ elapsed: Number(unixTime - volatility.lastUpdate), reduction: pair.reductionFactor / 1e4 },
      ...{ filterPeriod: pair.filterPeriod, decayPeriod: pair.decayPeriod },
    },
    { ...volatility, referenceBin: volatility.indexReference },
    activeId,
  )
  const binFees: BinFees = {
    ...{ ...reference, binStep, base: (pair.baseFactor * binStep * 10 ** pair.baseFeePowerFactor) / 1e8 },
    ...{ control: pair.variableFeeControl, accumulatorMax: pair.maxVolatilityAccumulator },
  }
  const parts = arrays
    .flatMap(({ index }) => binArrays.get(index)?.bins ?? [])
    .filter(({ id }) => (from === 0 ? id <= activeId : id >= activeId))
    .map(({ id, amounts, openOrders, processedRest, isAskSide }) => {
      const ofOrders = pair.hasLimitOrders && isAskSide === (from === 1) ? openOrders + processedRest : 0n
      const price = (1 + binStep / 1e4) ** id
      const whole = atPrice(from === 0 ? price : 1 / price, Number((amounts[from === 0 ? 1 : 0] ?? 0n) + ofOrders))
      const fee = binFee(binFees, id)
      return pair.hasFeesInY && from === 0 ? withFees(whole, 0, fee) : withFees(whole, fee)
    })
  return withTransferFees(together(parts), transferFees, from, 1 - from)
}

/** Orders that one taker can match, expired ones included. */
const DEEPBOOK_FILLS_MAX = 100

/** The fee is 1.25 times the taker fee, on top of the input. Whole lots and the minimum size are left out: with them a swap pays less. */
function deepbook({ bids, asks, takerFee, nowMs }: Extract<Pool, { kind: 'deepbook' }>, from: number): Definition {
  const fee = (1.25 * Number(takerFee)) / 1e9
  const parts = (from === 0 ? bids : asks)
    .slice(0, DEEPBOOK_FILLS_MAX)
    .filter(({ expiresAtMs }) => nowMs <= expiresAtMs)
    .map(({ price, remaining }) => {
      const quotePerBase = Number(price) / 1e9
      return from === 0
        ? atPrice(quotePerBase, Number(remaining) * quotePerBase)
        : atPrice(1 / quotePerBase, Number(remaining))
    })
  return withFees(together(parts), fee / (1 + fee))
}

/** Fees are shares of the quote amount: on top of what a purchase pays, and off what a sale gets. */
function pumpSwap({ state }: Extract<Pool, { kind: 'pump-swap' }>, from: number): Definition {
  const { baseReserve, quoteReserve, baseSupply, isCanonical, hasCoinCreator, config } = state
  const marketCap = (quoteReserve * baseSupply) / baseReserve
  const tier = config.tiers.findLast(({ threshold }) => threshold <= marketCap) ?? config.tiers[0]
  const { lp, protocol, coinCreator } = (isCanonical ? tier?.fees : undefined) ?? config.flatFees
  const fee = Number(lp + protocol + (hasCoinCreator ? coinCreator : 0n)) / 1e4
  const [base, quote] = [Number(baseReserve), Number(quoteReserve)]
  return from === 0 ? withFees(hyperbola(base, quote), 0, fee) : withFees(hyperbola(quote, base), fee / (1 + fee))
}

/** Parts of 10^9: the cliff after the periods that have passed. */
function dammBaseRate({ state, unixTime, slot }: Extract<Pool, { kind: 'meteora-damm-v2' }>): number {
  const { baseFee, activation } = state.state
  const cliff = Number(baseFee.cliff)
  if (baseFee.kind !== 'time') throw new Error('the fee follows the price or the amount')
  const elapsed = Number((activation.isSlot ? slot : unixTime) - activation.point)
  const passed = baseFee.frequency === 0n ? 0 : Math.floor(elapsed / Number(baseFee.frequency))
  const periods = Math.min(passed, Number(baseFee.periods))
  const reduction = Number(baseFee.reduction)
  return baseFee.isExponential ? cliff * (1 - reduction / 1e4) ** periods : cliff - periods * reduction
}

/**
 * One range of liquidity, or x·y = k. The fee is a share of the output, except that purchases of A pay it of their input in B unless the
 * pool takes fees of outputs only. The part that follows the volatility is (accumulator · bin step)² · control ÷ 10¹¹.
 */
function meteoraDammV2(pool: Extract<Pool, { kind: 'meteora-damm-v2' }>, from: number): Definition {
  const { state, transferFees } = pool.state
  const { dynamicFee, volatility, feeMode, reserves } = state
  const variable =
    dynamicFee === null
      ? 0
      : (Number(dynamicFee.variableFeeControl) * Number(volatility.accumulator * dynamicFee.binStep) ** 2) / 1e11
  const fee = Math.min(dammBaseRate(pool) + variable, Number(state.feeRateMax)) / 1e9
  const [liquidity = 0, root = 0, low = 0, high = 0] = [
    ...[state.liquidity, state.sqrtPrice, state.sqrtPriceMin, state.sqrtPriceMax].map((one) => Number(one) / 2 ** 64),
  ]
  const [ofA, ofB] = [liquidity / root, liquidity * root]
  const range =
    from === 0 ? hyperbola(ofA, ofB, liquidity * (1 / low - 1 / root)) : hyperbola(ofB, ofA, liquidity * (high - root))
  const swap = feeMode === 'compounding' ? hyperbola(Number(reserves[from]), Number(reserves[1 - from])) : range
  const isInInput = from === 1 && feeMode !== 'output'
  return withTransferFees(isInInput ? withFees(swap, fee) : withFees(swap, 0, fee), transferFees, from, 1 - from)
}

/** What x pays: b·(1 − (a ÷ (a + x))^r), with r the weight of the input by that of the output. One swap takes at most 30 % of a. */
function weighted(
  { balances, weights, scales, swapFee }: Extract<Pool, { kind: 'balancer-weighted' }>,
  from: number,
  to: number,
): Definition {
  const scaleOf = (index: number) => Number(scales[index]?.factor) * (Number(scales[index]?.rate) / 1e18)
  const [a, b] = [Number(balances[from]) * scaleOf(from), Number(balances[to]) * scaleOf(to)]
  const ratio = Number(weights[from]) / Number(weights[to])
  const swap: Definition = (cost, worth) => {
    const sold = Math.min(0.3 * a, ((worth * b * ratio * a ** ratio) / cost) ** (1 / (ratio + 1)) - a)
    if (!(sold > 0)) return NOTHING
    const amountOut = b * (1 - (a / (a + sold)) ** ratio)
    return { profit: worth * amountOut - cost * sold, amountIn: sold, amountOut }
  }
  const inUnits: Definition = (cost, worth) => {
    const best = swap(cost / scaleOf(from), worth / scaleOf(to))
    return { ...best, amountIn: best.amountIn / scaleOf(from), amountOut: best.amountOut / scaleOf(to) }
  }
  return withFees(inUnits, Number(swapFee) / 1e18)
}

/** The provider's fee is of what the protocol's fee leaves, in whole millionths. */
const uniswapV4Fee = (protocolPpm: number, lpPpm: number): number =>
  (protocolPpm + lpPpm - Math.floor((protocolPpm * lpPpm) / 1e6)) / 1e6

/** Null for stable pools: they have no closed form. */
export function definitionOf(pool: Pool, from: number, to: number): Definition | null {
  const ofReserves = (reserves: readonly bigint[]) => hyperbola(Number(reserves[from]), Number(reserves[to]))
  switch (pool.kind) {
    case 'uniswap-v2':
      return withFees(ofReserves(pool.reserves), pool.feePpm / 1e6)
    case 'solidly':
      return pool.stable ? null : withFees(ofReserves(pool.reserves), pool.feePpm / 1e6)
    case 'uniswap-v3':
    case 'algebra':
    case 'uniswap-v4': {
      const ofDirection = (fees: readonly [number, number]) => fees[from === 0 ? 0 : 1]
      const fee =
        pool.kind === 'uniswap-v3'
          ? pool.feePpm / 1e6
          : pool.kind === 'algebra'
            ? ofDirection(pool.feePpm) / 1e6
            : uniswapV4Fee(ofDirection(pool.protocolFeePpm), pool.lpFeePpm)
      return withFees(concentrated({ ...pool, root: Number(pool.sqrtPrice) / 2 ** 96 }, from), fee)
    }
    case 'balancer-weighted':
      return weighted(pool, from, to)
    case 'liquidity-book':
      return liquidityBook(pool, from)
    case 'cetus':
      return withFees(concentrated(ofQ64(pool), from), Number(pool.feeRate) / 1e6)
    case 'turbos':
      return withFees(concentrated(ofQ64(pool), from, false), Number(pool.feeRate) / 1e6)
    case 'deepbook':
      return deepbook(pool, from)
    case 'raydium-cpmm': {
      const { vaults, protocolFees, fundFees, config, transferFees } = pool.state
      const reserves = vaults.map((units, index) => units - (protocolFees[index] ?? 0n) - (fundFees[index] ?? 0n))
      const swap = withFees(ofReserves(reserves), Number(config.tradeFeeRate) / 1e6)
      return withTransferFees(swap, transferFees, from, to)
    }
    case 'raydium-amm-v4': {
      const { vaults, needTakePnl, feeNumerator, feeDenominator } = pool.state
      const reserves = vaults.map((units, index) => units - (needTakePnl[index] ?? 0n))
      return withFees(ofReserves(reserves), Number(feeNumerator) / Number(feeDenominator))
    }
    case 'raydium-clmm': {
      const { state, tickArrays, config, transferFees } = pool.state
      // A swap ends at the last tick of the arrays that it names.
      const ticks = pool.arrays.flatMap(({ start }) =>
        (tickArrays.get(start)?.ticks ?? []).map(({ tick, liquidityNet }) => ({ index: tick, net: liquidityNet })),
      )
      const swap = withFees(concentrated(ofQ64({ ...state, ticks }), from), Number(config.tradeFeeRate) / 1e6)
      return withTransferFees(swap, transferFees, from, to)
    }
    case 'meteora-dlmm':
      return meteoraDlmm(pool, from)
    case 'meteora-damm-v2':
      return meteoraDammV2(pool, from)
    case 'pump-swap':
      return pumpSwap(pool, from)
    default:
      return null
  }
}
