/* Account layout of Meteora DAMM v2 (main net of March 2026, release 0.2.0). Integers are little-endian. */
import { readU128 } from './account-bytes.ts'

/** Rates are parts of 10^9, time is in the pool's unit: slots or seconds. */
export type DammBaseFee = Readonly<{ cliff: bigint }> &
  (
    | Readonly<{ kind: 'time'; isExponential: boolean; periods: bigint; frequency: bigint; reduction: bigint }>
    /** Sales of B only. The rate increases by `increment` with each further `reference` of input (base units of B). */
    | Readonly<{ kind: 'rateLimiter'; increment: bigint; duration: bigint; rateMax: bigint; reference: bigint }>
    /** One period per `stepBps` of square root price above the first one. */
    | Readonly<{
        kind: 'marketCap'
        isExponential: boolean
        periods: bigint
        stepBps: bigint
        expiration: bigint
        reduction: bigint
      }>
  )

/** The fee that follows the price's volatility. */
export type DammDynamicFee = Readonly<{
  accumulatorMax: bigint
  variableFeeControl: bigint
  binStep: bigint
  /** Q64.64. */
  binStepRatio: bigint
  /** Seconds. */
  filterPeriod: bigint
  /** Seconds. */
  decayPeriod: bigint
  /** Basis points of the accumulator that remain as reference. */
  reductionFactor: bigint
}>

export type DammVolatility = Readonly<{
  accumulator: bigint
  reference: bigint
  /** Q64.64; 0 = none yet. */
  sqrtPriceReference: bigint
  /** Unix seconds. */
  lastUpdate: bigint
}>

/** The pool account's members that a swap reads or changes. Pairs are of A and B, in base units. */
export type DammPoolState = Readonly<{
  baseFee: DammBaseFee
  dynamicFee: DammDynamicFee | null
  volatility: DammVolatility
  /** Parts of 10^9. */
  feeRateMax: bigint
  /** Percent of the fee. */
  protocolShare: bigint
  /** Percent of the protocol's fee. */
  referralShare: bigint
  /** Basis points of the liquidity providers' fee that stay in the reserve. */
  compoundingBps: bigint
  /** Where the fee is taken; a compounding pool takes it in B and trades on x·y = k. */
  feeMode: 'output' | 'b' | 'compounding'
  isEnabled: boolean
  activation: Readonly<{ point: bigint; isSlot: boolean }>
  /** Q64.64. */
  initialSqrtPrice: bigint
  sqrtPrice: bigint
  sqrtPriceMin: bigint
  sqrtPriceMax: bigint
  /** Q64.64. */
  liquidity: bigint
  /** Without fees. */
  reserves: readonly [bigint, bigint]
  protocolFees: readonly [bigint, bigint]
  /** Sums over all swaps. */
  lpFees: readonly [bigint, bigint]
  /** Q128 per unit of liquidity. */
  feeGrowth: readonly [bigint, bigint]
}>

/** 99 % since fee version 1, 50 % before. Recorded fees do not reach it. */
const FEE_RATE_MAX = 990_000_000n
const OLD_FEE_RATE_MAX = 500_000_000n
/** Parts of 10^9 per basis point. */
const RATE_PER_BPS = 100_000n

/** Reads a Pool account. */
export function decodeDammPool(data: Buffer): DammPoolState {
  const u64 = (offset: number) => data.readBigUInt64LE(offset)
  const u128 = (offset: number) => readU128(data, offset)
  const u256 = (offset: number) => (u128(offset + 16) << 128n) | u128(offset)
  return {
    baseFee: decodeBaseFee(data),
    dynamicFee: data.readUInt8(56) === 0 ? null : decodeDynamicFee(data, u128(88)),
    volatility: {
      accumulator: u128(120),
      reference: u128(136),
      sqrtPriceReference: u128(104),
      lastUpdate: u64(80),
    },
    feeRateMax: data.readUInt8(486) === 0 ? OLD_FEE_RATE_MAX : FEE_RATE_MAX,
    protocolShare: BigInt(data.readUInt8(48)),
    referralShare: BigInt(data.readUInt8(50)),
    compoundingBps: BigInt(data.readUInt16LE(54)),
    feeMode: decodeFeeMode(data.readUInt8(484)),
    isEnabled: data.readUInt8(481) === 0,
    activation: { point: u64(472), isSlot: data.readUInt8(480) === 0 },
    initialSqrtPrice: u128(152),
    sqrtPrice: u128(456),
    sqrtPriceMin: u128(424),
    sqrtPriceMax: u128(440),
    liquidity: u128(360),
    reserves: [u64(680), u64(688)],
    protocolFees: [u64(392), u64(400)],
    lpFees: [u128(568), u128(584)],
    feeGrowth: [u256(488), u256(520)],
  }
}

function decodeFeeMode(mode: number): DammPoolState['feeMode'] {
  const feeMode = (['output', 'b', 'compounding'] as const)[mode]
  if (feeMode === undefined) throw new Error(`Fee mode ${mode} of a DAMM v2 pool is unknown; this build knows 0 to 2`)
  return feeMode
}

function decodeBaseFee(data: Buffer): DammBaseFee {
  const u16 = (offset: number) => BigInt(data.readUInt16LE(offset))
  const u32 = (offset: number) => BigInt(data.readUInt32LE(offset))
  const u64 = (offset: number) => data.readBigUInt64LE(offset)
  const mode = data.readUInt8(16)
  if (mode > 4) throw new Error(`Base fee mode ${mode} of a DAMM v2 pool is unknown; this build knows 0 to 4`)
  const cliff = u64(8)
  const isExponential = mode === 1 || mode === 4
  if (mode === 2)
    return {
      ...{ kind: 'rateLimiter', cliff, increment: u16(22) * RATE_PER_BPS, duration: u32(24) },
      ...{ rateMax: u32(28) * RATE_PER_BPS, reference: u64(32) },
    }
  if (mode > 2)
    return {
      ...{ kind: 'marketCap', cliff, isExponential, periods: u16(22), stepBps: u32(24), expiration: u32(28) },
      reduction: u64(32),
    }
  return { kind: 'time', cliff, isExponential, periods: u16(22), frequency: u64(24), reduction: u64(32) }
}

function decodeDynamicFee(data: Buffer, binStepRatio: bigint): DammDynamicFee {
  const u16 = (offset: number) => BigInt(data.readUInt16LE(offset))
  return {
    accumulatorMax: BigInt(data.readUInt32LE(64)),
    variableFeeControl: BigInt(data.readUInt32LE(68)),
    binStep: u16(72),
    binStepRatio,
    filterPeriod: u16(74),
    decayPeriod: u16(76),
    reductionFactor: u16(78),
  }
}
