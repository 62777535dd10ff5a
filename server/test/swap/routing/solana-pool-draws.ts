import type { DlmmPair } from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import type { PumpSwapConfig } from '@swapyard/lib/pools/solana/pump-swap.ts'
import { clmmSqrtPriceAtTick } from '@swapyard/lib/pools/solana/raydium-clmm-tick.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { base, LOG_TICK, oneOf, type PoolDraw, smallUnits, type Tier } from './pool-draws.ts'
import { concentratedOf } from './random-pools.ts'
import { clmmStateOf, dammStateOf, dlmmStateOf, emptyBin } from './solana-pool-states.ts'

/* Drawn pools of Solana, with only those tick and bin arrays that the server reads. Amounts have 64 bits. */

const accounts = { programs: ['program', 'program'], decimals: [9, 9], vaults: ['vault 0', 'vault 1'] } as const

/** A third of the pools have a token with a transfer fee. */
function drawTransferFees(draw: () => number) {
  const transferFee = { basisPoints: 100n, maximumFee: 2n ** 64n - 1n }
  const kind = draw()
  return kind < 1 / 6
    ? ([transferFee, null] as const)
    : kind < 1 / 3
      ? ([null, transferFee] as const)
      : ([null, null] as const)
}

export function raydiumCpmm(sample: PoolDraw): Pool {
  const tradeFeeRate = oneOf([100, 2_500, 10_000], sample.draw)
  const price = sample.price * (1 + ((sample.draw() - 0.5) * tradeFeeRate) / 1e6)
  const vaults = [smallUnits(sample.value), smallUnits(sample.value * price)] as const
  const transferFees = drawTransferFees(sample.draw)
  return {
    ...{ ...base(sample), ...accounts, kind: 'raydium-cpmm', reserves: vaults },
    ...{ config: 'config', observation: 'observation' },
    state: {
      ...{ status: 0, openTime: 0n, recentEpoch: 0n, vaults, protocolFees: [0n, 0n], fundFees: [0n, 0n] },
      config: { tradeFeeRate: BigInt(tradeFeeRate), protocolFeeRate: 120_000n, fundFeeRate: 40_000n },
      ...{ isToken2022: [true, true], transferFees },
    },
  }
}

/** The vaults include a profit that the owner may take. */
export function raydiumAmmV4(sample: PoolDraw): Pool {
  const price = sample.price * (1 + (sample.draw() - 0.5) * 0.0025)
  const reserves = [smallUnits(sample.value), smallUnits(sample.value * price)] as const
  const needTakePnl = [reserves[0] / 1_000n, reserves[1] / 2_000n] as const
  const vaults = [reserves[0] + needTakePnl[0], reserves[1] + needTakePnl[1]] as const
  return {
    ...{ ...base(sample), ...accounts, kind: 'raydium-amm-v4', reserves },
    state: { status: 6n, openTime: 0n, feeNumerator: 25n, feeDenominator: 10_000n, vaults, needTakePnl },
  }
}

const flatFees = { lp: 20n, protocol: 5n, coinCreator: 5n }
/** Fees of the pools of pump's coins: they fall as the coin is worth more. */
const tiers: PumpSwapConfig['tiers'] = [
  { threshold: 0n, fees: { lp: 2n, protocol: 93n, coinCreator: 30n } },
  { threshold: 10n ** 14n, fees: { lp: 20n, protocol: 5n, coinCreator: 60n } },
  { threshold: 10n ** 16n, fees: { lp: 20n, protocol: 5n, coinCreator: 5n } },
]

export function pumpSwap(sample: PoolDraw): Pool {
  const isCanonical = sample.draw() < 0.5
  const price = sample.price * (1 + (sample.draw() - 0.5) * 0.003)
  const reserves = [smallUnits(sample.value), smallUnits(sample.value * price)] as const
  return {
    ...{ ...base(sample), ...accounts, kind: 'pump-swap', reserves },
    ...{ feeRecipient: 'fee recipient', buybackRecipient: 'buyback recipient', coinCreator: 'coin creator' },
    state: {
      ...{ baseReserve: reserves[0], quoteReserve: reserves[1], baseSupply: 10n * reserves[0] },
      ...{ isCanonical, hasCoinCreator: sample.draw() < 0.7, isCashbackCoin: false },
      config: { disableFlags: 0, buybackBps: 5_000n, flatFees, tiers },
    },
  }
}

const CLMM_TIERS: readonly [Tier, ...Tier[]] = [
  { feePpm: 100, tickSpacing: 1 },
  { feePpm: 500, tickSpacing: 10 },
  { feePpm: 2_500, tickSpacing: 60 },
]
const CLMM_TICK_MAX = 443_636

/** One full-range position and four narrow positions around the price. Only the narrow ones end within the arrays that are read. */
export function raydiumClmm(sample: PoolDraw): Pool {
  const { feePpm, tickSpacing } = oneOf(CLMM_TIERS, sample.draw)
  const price = sample.price * (1 + ((sample.draw() - 0.5) * feePpm) / 1e6)
  const tick = Math.floor(Math.log(price) / LOG_TICK)
  const low = clmmSqrtPriceAtTick(tick)
  const exact = BigInt(Math.floor(Math.sqrt(price) * 2 ** 40)) << 24n
  const tickIndex = Math.floor(tick / tickSpacing)
  const outermost = Math.floor(CLMM_TICK_MAX / tickSpacing)
  const liquidity = (share: number) => smallUnits(sample.value * Math.sqrt(sample.price) * share)
  const narrow = Array.from({ length: 4 }, () => ({
    lower: (tickIndex - Math.floor(sample.draw() * 80)) * tickSpacing,
    upper: (tickIndex + 1 + Math.floor(sample.draw() * 80)) * tickSpacing,
    liquidity: liquidity(sample.draw() * 10),
  }))
  const fullRange = { lower: -outermost * tickSpacing, upper: outermost * tickSpacing, liquidity: liquidity(0.2) }
  const sqrtPrice = exact > low ? exact : low
  const concentrated = concentratedOf({ sqrtPrice, tick, tickSpacing, positions: [fullRange, ...narrow] })
  const { state, ...rest } = clmmStateOf(concentrated, feePpm)
  return { ...base(sample), ...accounts, ...rest, state: { ...state, transferFees: drawTransferFees(sample.draw) } }
}

/** Parts of the fee of pairs whose price changes by 0.05, 0.1 and 0.25 percent from bin to bin. */
type DlmmPreset = Pick<DlmmPair, 'binStep' | 'baseFactor' | 'variableFeeControl'>
const DLMM_PRESETS: readonly [DlmmPreset, ...DlmmPreset[]] = [
  { binStep: 5, baseFactor: 10_000, variableFeeControl: 120_000 },
  { binStep: 10, baseFactor: 10_000, variableFeeControl: 40_000 },
  { binStep: 25, baseFactor: 8_000, variableFeeControl: 30_000 },
]

/** 81 bins around the price. A third of the bins have limit orders too. After recent swaps the fee increases from bin to bin. */
export function meteoraDlmm(sample: PoolDraw): Pool {
  const { draw, price, value } = sample
  const preset = oneOf(DLMM_PRESETS, draw)
  const activeId = Math.round(Math.log(price) / Math.log(1 + preset.binStep / 1e4))
  const [hasRecentSwaps, hasLimitOrders] = [draw() < 0.5, draw() < 0.5]
  const filled = Array.from({ length: 81 }, (_, place) => {
    const id = activeId - 40 + place
    const [x, y, orders] = [draw() / 40, draw() / 40, draw() / 40]
    const isAskSide = id > activeId || (id === activeId && draw() < 0.5)
    const hasOrders = hasLimitOrders && draw() < 1 / 3
    const amountX = id >= activeId ? smallUnits(value * x) : 0n
    const amountY = id <= activeId ? smallUnits(value * price * y) : 0n
    const openOrders = hasOrders ? smallUnits(value * orders * (isAskSide ? 1 : price)) : 0n
    return { ...emptyBin, id, amounts: [amountX, amountY] as const, openOrders, isAskSide }
  })
  const unixTime = 1_800_000_000n
  const pair = {
    ...{ ...preset, baseFeePowerFactor: 0, maxVolatilityAccumulator: 350_000, filterPeriod: 30, decayPeriod: 600 },
    ...{ reductionFactor: 5_000, protocolShare: 1_000, hasLimitOrders, hasFeesInY: draw() < 0.3, activeId },
    ...{ isEnabled: true, activation: null, protocolFees: [0n, 0n] as const },
    volatility: {
      ...{ accumulator: hasRecentSwaps ? 60_000 : 0, reference: hasRecentSwaps ? 30_000 : 0 },
      // Between the filter period and the decay period, or within the filter period with a reference below the price.
      ...{ indexReference: activeId - 2, lastUpdate: unixTime - (draw() < 0.5 ? 100n : 10n) },
    },
  }
  const { state, ...rest } = dlmmStateOf(pair, filled)
  return {
    ...{ ...base(sample), ...accounts, ...rest, unixTime, slot: 1n },
    state: { ...state, transferFees: drawTransferFees(draw) },
  }
}

/** Fees of 0.25 to 2 percent. Half of them fall with time; in half of the pools a part follows the volatility. */
export function meteoraDammV2(sample: PoolDraw): Pool {
  const { draw, value } = sample
  const cliff = oneOf([2_500_000n, 10_000_000n, 20_000_000n], draw)
  const isExponential = draw() < 0.5
  const reduction = isExponential ? 100n : cliff / 200n
  const feeMode = oneOf(['output', 'b', 'compounding'] as const, draw)
  const hasVariableFee = draw() < 0.5
  const root = Math.sqrt(sample.price * (1 + (draw() - 0.5) * 0.0025))
  const sqrtPrice = BigInt(Math.floor(root * 2 ** 40)) << 24n
  const width = feeMode === 'compounding' ? null : oneOf([null, 0.05, 0.3], draw)
  const { state, ...rest } = dammStateOf({
    ...{ sqrtPrice, width, feeMode, compoundingBps: 5_000n },
    // The same amounts for each width.
    liquidity: smallUnits((value * root * (1 + (width ?? 1e9))) / (width ?? 1e9)),
    baseFee: { kind: 'time', cliff, isExponential, periods: 144n, frequency: draw() < 0.5 ? 0n : 600n, reduction },
    dynamicFee: hasVariableFee
      ? {
          ...{ accumulatorMax: 14_460_000n, variableFeeControl: 7_000n, binStep: 1n, filterPeriod: 10n },
          ...{ binStepRatio: 1_844_674_407_370_955n, decayPeriod: 120n, reductionFactor: 5_000n },
        }
      : null,
    volatility: { accumulator: 5_000_000n, reference: 2_500_000n, sqrtPriceReference: sqrtPrice, lastUpdate: 19_950n },
  })
  const transferFees = drawTransferFees(draw)
  return { ...base(sample), ...accounts, ...rest, unixTime: 20_000n, slot: 1n, state: { ...state, transferFees } }
}
