/* Account layouts of Meteora DLMM (build 0.12.0 of May 2026, with limit orders). Integers are little-endian. */
import { readBits, readU128 } from './account-bytes.ts'

export const DLMM_BINS_PER_ARRAY = 70
const BIN_BYTES = 144
/** The pair's own bitmap covers 512 bin arrays below bin 0 and 512 from it; each part of the extension covers 512 more. */
const ARRAYS_PER_BITMAP = 512
const EXTENSION_PARTS = 12
const BITMAP_BYTES = ARRAYS_PER_BITMAP / 8

export type DlmmVolatility = Readonly<{
  /** Bins crossed recently, times 10,000. */
  accumulator: number
  reference: number
  /** The bin from which crossed bins are counted. */
  indexReference: number
  /** Unix seconds of the last swap that left its bin. */
  lastUpdate: bigint
}>

/** The pair account's members that a swap reads or changes. */
export type DlmmPair = Readonly<{
  binStep: number
  baseFactor: number
  baseFeePowerFactor: number
  variableFeeControl: number
  maxVolatilityAccumulator: number
  /** Seconds. */
  filterPeriod: number
  /** Seconds. */
  decayPeriod: number
  /** Basis points of the accumulator that remain as reference. */
  reductionFactor: number
  /** Basis points of the fee. */
  protocolShare: number
  hasLimitOrders: boolean
  /** Whether fees are taken in Y in both directions; otherwise in the input. */
  hasFeesInY: boolean
  volatility: DlmmVolatility
  activeId: number
  isEnabled: boolean
  /** Swaps start at this slot or second; null = at once. */
  activation: Readonly<{ point: bigint; isSlot: boolean }> | null
  /** Base units of X and Y. */
  protocolFees: readonly [bigint, bigint]
  /** Indexes of bin arrays with liquidity by the pair's own bitmap, ascending. */
  arrayIndexes: readonly number[]
}>

/** Pairs are of X and Y, in base units. */
export type DlmmBin = Readonly<{
  id: number
  /** Of the market makers. */
  amounts: readonly [bigint, bigint]
  /** Q64.64, Y per X; 0 where nothing was ever deposited. */
  price: bigint
  /** Q64.64. */
  liquiditySupply: bigint
  fulfilledOrders: readonly [bigint, bigint]
  /** Fees of limit orders, by side: ask, bid. */
  orderFees: readonly [bigint, bigint]
  /** Q64.64 per unit of liquidity. */
  feeGrowth: readonly [bigint, bigint]
  /** Limit orders that no swap has reached. */
  openOrders: bigint
  /** Limit orders that a swap has reached, when it reached them, and what is left of them. */
  processingOrders: bigint
  processedRest: bigint
  orderAge: number
  /** Limit orders of the bin sell X; otherwise Y. */
  isAskSide: boolean
}>

export type DlmmBinArray = Readonly<{ index: number; bins: readonly DlmmBin[] }>

/** Reads an LbPair account of 904 bytes. */
export function decodeDlmmPair(data: Buffer): DlmmPair {
  const functionType = data.readUInt8(35)
  const pairType = data.readUInt8(75)
  return {
    binStep: data.readUInt16LE(80),
    baseFactor: data.readUInt16LE(8),
    baseFeePowerFactor: data.readUInt8(34),
    variableFeeControl: data.readUInt32LE(16),
    maxVolatilityAccumulator: data.readUInt32LE(20),
    filterPeriod: data.readUInt16LE(10),
    decayPeriod: data.readUInt16LE(12),
    reductionFactor: data.readUInt16LE(14),
    protocolShare: data.readUInt16LE(32),
    hasLimitOrders: functionType === 2 || (functionType === 0 && !hasRewards(data)),
    hasFeesInY: data.readUInt8(36) === 1,
    volatility: {
      accumulator: data.readUInt32LE(40),
      reference: data.readUInt32LE(44),
      indexReference: data.readInt32LE(48),
      lastUpdate: data.readBigInt64LE(56),
    },
    activeId: data.readInt32LE(76),
    isEnabled: data.readUInt8(82) === 0,
    // Permissioned and customizable pairs.
    activation:
      pairType === 1 || pairType === 2 ? { point: data.readBigUInt64LE(816), isSlot: data.readUInt8(86) === 0 } : null,
    protocolFees: [data.readBigUInt64LE(216), data.readBigUInt64LE(224)],
    arrayIndexes: readBits(data, 584, 2 * BITMAP_BYTES).map((bit) => bit - ARRAYS_PER_BITMAP),
  }
}

/** Reads a BinArray account of 10,136 bytes. */
export function decodeDlmmBinArray(data: Buffer): DlmmBinArray {
  // An i64; the program's bin ids need 32 bits.
  const index = data.readInt32LE(8)
  const bins = Array.from({ length: DLMM_BINS_PER_ARRAY }, (_, position) => {
    const offset = 56 + position * BIN_BYTES
    return decodeBin(data.subarray(offset, offset + BIN_BYTES), index * DLMM_BINS_PER_ARRAY + position)
  })
  return { index, bins }
}

function decodeBin(data: Buffer, id: number): DlmmBin {
  const u64 = (offset: number) => data.readBigUInt64LE(offset)
  return {
    id,
    amounts: [u64(0), u64(8)],
    price: readU128(data, 16),
    liquiditySupply: readU128(data, 32),
    fulfilledOrders: [u64(48), u64(56)],
    orderFees: [u64(64), u64(72)],
    feeGrowth: [readU128(data, 80), readU128(data, 96)],
    openOrders: u64(112),
    processingOrders: u64(120),
    processedRest: u64(128),
    orderAge: data.readUInt32LE(136),
    isAskSide: data.readUInt8(140) !== 0,
  }
}

/** Reads the indexes of bin arrays with liquidity in a BinArrayBitmapExtension account of 1,576 bytes, ascending. */
export function decodeDlmmExtension(data: Buffer): readonly number[] {
  const indexes: number[] = []
  for (let part = 0; part < EXTENSION_PARTS; part += 1) {
    const first = (part + 1) * ARRAYS_PER_BITMAP
    const above = readBits(data, 40 + part * BITMAP_BYTES, BITMAP_BYTES)
    // The bits below run away from 0.
    const below = readBits(data, 40 + (EXTENSION_PARTS + part) * BITMAP_BYTES, BITMAP_BYTES)
    indexes.push(...above.map((bit) => first + bit), ...below.map((bit) => -first - 1 - bit))
  }
  return indexes.sort((a, b) => a - b)
}

/** The index of the array that contains the bin. */
export const dlmmArrayIndex = (binId: number): number => Math.floor(binId / DLMM_BINS_PER_ARRAY)

/** Whether the pair's own bitmap covers the bin array; otherwise the extension does. */
export const isInPairBitmap = (index: number): boolean => index >= -ARRAYS_PER_BITMAP && index < ARRAYS_PER_BITMAP

/** Whether one of the two rewards has a mint. */
const hasRewards = (data: Buffer): boolean =>
  [264, 408].some((offset) => data.subarray(offset, offset + 32).some((byte) => byte !== 0))
