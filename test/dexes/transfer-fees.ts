import { readTransferFeeConfig } from '@swapyard/lib/pools/solana/mint-extensions.ts'
import type { TransferFeeConfig } from '@swapyard/lib/pools/solana/transfer-fee.ts'
import fc from 'fast-check'

/** Of a Token-2022 mint; null = without the extension. */
export type DrawnTransferFee = TransferFeeConfig | null

export const drawnTransferFee: fc.Arbitrary<DrawnTransferFee> = fc.option(
  fc.record({
    basisPoints: fc.bigInt(0n, 1_000n),
    maximumFee: fc.oneof(fc.bigInt(0n, 10_000n), fc.constant(10n ** 18n)),
  }),
  { nil: null, freq: 2 },
)

/** The epoch of Solana in which the mints are read. */
export const MINT_TIME = 500

/** Type, length and value of the extension, with another fee until the epoch before. */
function extensionOf({ basisPoints, maximumFee }: TransferFeeConfig): Buffer {
  const data = Buffer.alloc(4 + 108)
  data.writeUInt16LE(1, 0)
  data.writeUInt16LE(108, 2)
  for (const [offset, epoch, maximum, points] of [
    [72, MINT_TIME - 2, 77n, 9_999n],
    [90, MINT_TIME - 1, maximumFee, basisPoints],
  ] as const) {
    data.writeBigUInt64LE(BigInt(epoch), 4 + offset)
    data.writeBigUInt64LE(maximum, 4 + offset + 8)
    data.writeUInt16LE(Number(points), 4 + offset + 16)
  }
  return data
}

/** The mint as the packages read it. */
export const mintOf = (fee: DrawnTransferFee) => ({ tlvData: fee === null ? Buffer.alloc(0) : extensionOf(fee) })

/** The fee as we read it from the mint's account: 82 bytes, padding, the type of the account, the extension. */
export function transferFeeOf(fee: DrawnTransferFee): TransferFeeConfig | null {
  if (fee === null) return null
  const account = Buffer.concat([Buffer.alloc(165), Buffer.from([1]), extensionOf(fee)])
  return readTransferFeeConfig(account, BigInt(MINT_TIME))
}
