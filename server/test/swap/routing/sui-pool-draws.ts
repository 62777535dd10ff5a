import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { base, LOG_TICK, oneOf, type PoolDraw, smallUnits, type Tier } from './pool-draws.ts'
import { concentratedOf } from './random-pools.ts'

/* Drawn pools of Sui. Prices of ticks are in Q64.64, and amounts have 64 bits. */

const CETUS_TIERS: readonly [Tier, ...Tier[]] = [
  { feePpm: 100, tickSpacing: 2 },
  { feePpm: 500, tickSpacing: 10 },
  { feePpm: 2_500, tickSpacing: 60 },
]
const TURBOS_TIERS: readonly [Tier, ...Tier[]] = [
  { feePpm: 100, tickSpacing: 1 },
  { feePpm: 500, tickSpacing: 10 },
  { feePpm: 3_000, tickSpacing: 60 },
]

/** Four positions around the price and, if asked for, one over all prices. */
function positioned(sample: PoolDraw, { feePpm, tickSpacing }: Tier, hasFullRange: boolean) {
  const price = sample.price * (1 + ((sample.draw() - 0.5) * feePpm) / 1e6)
  const tick = Math.floor(Math.log(price) / LOG_TICK)
  const tickIndex = Math.floor(tick / tickSpacing)
  const outermost = Math.floor(443_636 / tickSpacing)
  const liquidity = (share: number) => smallUnits(sample.value * Math.sqrt(sample.price) * share)
  const narrow = Array.from({ length: 4 }, () => ({
    lower: (tickIndex - Math.floor(sample.draw() * 50)) * tickSpacing,
    upper: (tickIndex + 1 + Math.floor(sample.draw() * 50)) * tickSpacing,
    liquidity: liquidity(sample.draw() * 10),
  }))
  const fullRange = { lower: -outermost * tickSpacing, upper: outermost * tickSpacing, liquidity: liquidity(0.2) }
  const sqrtPrice = BigInt(Math.floor(Math.sqrt(price) * 2 ** 40)) << 24n
  const positions = hasFullRange ? [fullRange, ...narrow] : narrow
  return {
    ...concentratedOf({ sqrtPrice, tick, tickSpacing, positions }),
    ...{ feeRate: BigInt(feePpm), feeGrowth: [0n, 0n] as const, protocolFees: [0n, 0n] as const },
  }
}

export function cetus(sample: PoolDraw): Pool {
  return {
    ...{ ...base(sample), ...positioned(sample, oneOf(CETUS_TIERS, sample.draw), true) },
    ...{ kind: 'cetus', package: '0xce', config: '0xc0', protocolFeeRate: 2_000n },
  }
}

/** Half of the pools end where their narrow positions end: a swap of Turbos crosses no range without liquidity. */
export function turbos(sample: PoolDraw): Pool {
  const tier = oneOf(TURBOS_TIERS, sample.draw)
  return {
    ...{ ...base(sample), ...positioned(sample, tier, sample.draw() < 0.5) },
    ...{ kind: 'turbos', package: '0x7b', config: '0x7c', feeType: '0x7b::fee::FEE', protocolFeeRate: 200_000n },
  }
}

const DEEPBOOK_SCALE = 1e9
/** Of the taker, scaled by 10^9: of volatile and of stable pairs. */
const TAKER_FEES = [1_000_000n, 100_000n] as const

/**
 * Thirty prices on each side, one to three orders at each, one order in twenty expired. A lot is a ten-millionth of the value of the pool or
 * less, and ten lots are the least trade.
 */
export function deepbook(sample: PoolDraw): Pool {
  const { price, value, draw } = sample
  const takerFee = oneOf(TAKER_FEES, draw)
  const fee = Number(takerFee) / DEEPBOOK_SCALE
  const middle = price * (1 + (draw() - 0.5) * fee)
  const lot = 10 ** Math.max(0, Math.floor(Math.log10(value * 1e9 * 1e-7)))
  const nowMs = 1_800_000_000_000n
  const side = (direction: 1 | -1) => {
    let distance = fee * draw()
    return Array.from({ length: 30 }, () => {
      distance += 2e-4 + draw() * 1e-3
      return Array.from({ length: 1 + Math.floor(draw() * 3) }, () => ({
        price: BigInt(Math.round(middle * (1 + direction * distance) * DEEPBOOK_SCALE)),
        remaining: BigInt(Math.ceil((value * 1e9 * draw()) / 30 / lot) * lot),
        expiresAtMs: draw() < 0.05 ? nowMs - 1n : nowMs + 60_000n,
      }))
    }).flat()
  }
  return {
    ...{ ...base(sample), kind: 'deepbook', package: '0xdb', feeCoin: '0xde::deep::DEEP', objectVersion: 1n },
    ...{ takerFee, stakeRequired: 10n ** 18n, gasPricePenalty: 0n, isWhitelisted: false, deepPrice: null, nowMs },
    ...{ lotSize: BigInt(lot), minSize: BigInt(10 * lot), asks: side(1), bids: side(-1) },
  }
}
