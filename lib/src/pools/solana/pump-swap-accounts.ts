/* Accounts of PumpSwap's settings: the global config (main net of June 2026) and the fee config of pump's fee program. */
import { readU128 } from './account-bytes.ts'
import type { PumpSwapConfig, PumpSwapFees } from './pump-swap.ts'

/** Offsets in the global config. */
const DISABLE_FLAGS = 56
const BUYBACK_BPS = 899
/** Offsets in the fee config: three rates of 64 bits, then the tiers with their number before them. */
const FLAT_FEES = 41
const TIER_COUNT = 65
const TIERS = 69
const TIER_BYTES = 40

/** Reads a GlobalConfig account and a FeeConfig account. Null if one is cut off. */
export function decodePumpSwapConfig(globalConfig: Buffer, feeConfig: Buffer): PumpSwapConfig | null {
  if (globalConfig.length < BUYBACK_BPS + 8 || feeConfig.length < TIERS) return null
  const count = feeConfig.readUInt32LE(TIER_COUNT)
  if (feeConfig.length < TIERS + count * TIER_BYTES) return null
  const feesAt = (offset: number): PumpSwapFees => ({
    lp: feeConfig.readBigUInt64LE(offset),
    protocol: feeConfig.readBigUInt64LE(offset + 8),
    coinCreator: feeConfig.readBigUInt64LE(offset + 16),
  })
  return {
    disableFlags: globalConfig.readUInt8(DISABLE_FLAGS),
    buybackBps: globalConfig.readBigUInt64LE(BUYBACK_BPS),
    flatFees: feesAt(FLAT_FEES),
    tiers: Array.from({ length: count }, (_, index) => {
      const offset = TIERS + index * TIER_BYTES
      return { threshold: readU128(feeConfig, offset), fees: feesAt(offset + 16) }
    }),
  }
}
