/* Account layouts of Raydium CLMM (main net before limit orders and dynamic fees of May 2026). Integers are little-endian. */
import { readBits, readU128 } from './account-bytes.ts'

const TICKS_PER_ARRAY = 60
const TICK_BYTES = 168
/** The pool's own bitmap covers 512 tick arrays below tick 0 and 512 from it; each part of the extension covers 512 more. */
const ARRAYS_PER_BITMAP = 512
const EXTENSION_PARTS = 14
const BITMAP_BYTES = ARRAYS_PER_BITMAP / 8

export type ClmmConfig = Readonly<{
  /** Parts per million of the input. */
  tradeFeeRate: bigint
  /** Parts per million of the trade fee. */
  protocolFeeRate: bigint
  /** Parts per million of the trade fee. */
  fundFeeRate: bigint
}>

/** The pool account's members that a swap reads or changes. Fees are base units; fee growth is Q64.64 per unit of liquidity. */
export type ClmmPoolState = Readonly<{
  tickSpacing: number
  liquidity: bigint
  /** Q64.64. */
  sqrtPrice: bigint
  tickCurrent: number
  feeGrowthGlobal: readonly [bigint, bigint]
  protocolFees: readonly [bigint, bigint]
  fundFees: readonly [bigint, bigint]
  /** Sums of input and output amounts over all swaps, by token. */
  swapIn: readonly [bigint, bigint]
  swapOut: readonly [bigint, bigint]
  /** Sums of the liquidity providers' fees. */
  totalFees: readonly [bigint, bigint]
  status: number
  /** Unix seconds. */
  openTime: bigint
  /** Start ticks of initialised tick arrays by the pool's own bitmap, ascending. */
  arrayStarts: readonly number[]
}>

export type ClmmTick = Readonly<{
  tick: number
  liquidityNet: bigint
  liquidityGross: bigint
  /** `fee_growth_outside` of the program, per token. */
  feeGrowthBeyond: readonly [bigint, bigint]
}>

export type ClmmTickArray = Readonly<{
  startTick: number
  /** Initialised ticks, ascending. */
  ticks: readonly ClmmTick[]
}>

/** Reads an AmmConfig account. */
export function decodeClmmConfig(data: Buffer): ClmmConfig {
  const rate = (offset: number) => BigInt(data.readUInt32LE(offset))
  return { protocolFeeRate: rate(43), tradeFeeRate: rate(47), fundFeeRate: rate(53) }
}

/** Reads a PoolState account. */
export function decodeClmmPool(data: Buffer): ClmmPoolState {
  const u64 = (offset: number) => data.readBigUInt64LE(offset)
  const tickSpacing = data.readUInt16LE(235)
  return {
    tickSpacing,
    liquidity: readU128(data, 237),
    sqrtPrice: readU128(data, 253),
    tickCurrent: data.readInt32LE(269),
    feeGrowthGlobal: [readU128(data, 277), readU128(data, 293)],
    protocolFees: [u64(309), u64(317)],
    fundFees: [u64(1064), u64(1072)],
    swapIn: [readU128(data, 325), readU128(data, 357)],
    swapOut: [readU128(data, 373), readU128(data, 341)],
    totalFees: [u64(1032), u64(1048)],
    status: data.readUInt8(389),
    openTime: u64(1080),
    arrayStarts: readBits(data, 904, 2 * BITMAP_BYTES).map(
      (bit) => (bit - ARRAYS_PER_BITMAP) * ticksPerArray(tickSpacing),
    ),
  }
}

/** Reads a TickArrayState account. A tick is initialised if it has liquidity. */
export function decodeClmmTickArray(data: Buffer): ClmmTickArray {
  const ticks = Array.from({ length: TICKS_PER_ARRAY }, (_, index) => {
    const offset = 44 + index * TICK_BYTES
    return {
      tick: data.readInt32LE(offset),
      liquidityNet: BigInt.asIntN(128, readU128(data, offset + 4)),
      liquidityGross: readU128(data, offset + 20),
      feeGrowthBeyond: [readU128(data, offset + 36), readU128(data, offset + 52)] as const,
    }
  })
  return { startTick: data.readInt32LE(40), ticks: ticks.filter(({ liquidityGross }) => liquidityGross > 0n) }
}

/** Offsets in a tick of the limit orders that no swap, and that only some swaps have filled (`tick_array.rs` of the program, May 2026). */
const ORDERS_AT = [124, 132] as const

/** Whether a TickArrayState account has limit orders. Swaps fill them, and the tick counts as initialised without any liquidity. */
export function hasClmmOrders(data: Buffer): boolean {
  return Array.from({ length: TICKS_PER_ARRAY }, (_, index) => 44 + index * TICK_BYTES).some((offset) =>
    ORDERS_AT.some((at) => data.readBigUInt64LE(offset + at) > 0n),
  )
}

/** Reads the start ticks of initialised tick arrays in a TickArrayBitmapExtension account. */
export function decodeClmmExtension(data: Buffer, tickSpacing: number): readonly number[] {
  const starts: number[] = []
  for (let part = 0; part < EXTENSION_PARTS; part += 1) {
    const first = (part + 1) * ARRAYS_PER_BITMAP
    const above = readBits(data, 40 + part * BITMAP_BYTES, BITMAP_BYTES)
    const below = readBits(data, 936 + part * BITMAP_BYTES, BITMAP_BYTES)
    starts.push(...above.map((bit) => first + bit), ...below.map((bit) => bit - first - ARRAYS_PER_BITMAP))
  }
  return starts.map((index) => index * ticksPerArray(tickSpacing)).sort((a, b) => a - b)
}

/** The start of the tick array that contains `tick`. */
export function clmmArrayStart(tick: number, tickSpacing: number): number {
  return Math.floor(tick / ticksPerArray(tickSpacing)) * ticksPerArray(tickSpacing)
}

/** Whether the pool's own bitmap covers the tick array; otherwise the extension does. */
export function isInPoolBitmap(startTick: number, tickSpacing: number): boolean {
  const index = startTick / ticksPerArray(tickSpacing)
  return index >= -ARRAYS_PER_BITMAP && index < ARRAYS_PER_BITMAP
}

function ticksPerArray(tickSpacing: number): number {
  return TICKS_PER_ARRAY * tickSpacing
}
