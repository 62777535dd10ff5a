/* Transfer fees of Token-2022 mints (extension TransferFeeConfig). The mint withholds the fee from what the recipient gets. */
import { divideUp } from '../../bigint.ts'

export type TransferFeeConfig = Readonly<{
  /** 0 to 10,000. */
  basisPoints: bigint
  /** Base units of the token. */
  maximumFee: bigint
}>

const BASIS_POINTS_MAX = 10_000n

/** The fee of a transfer of `units` (base units, with the fee), rounded up, at most the maximum. */
export function transferFee(units: bigint, { basisPoints, maximumFee }: TransferFeeConfig): bigint {
  const fee = divideUp(units * basisPoints, BASIS_POINTS_MAX)
  return fee < maximumFee ? fee : maximumFee
}

/** The units to send (base units, rounded up) so that the recipient gets at least `net`; null = a mint without the extension. */
export function grossOf(net: bigint, config: TransferFeeConfig | null): bigint {
  if (config === null || net === 0n || config.basisPoints === 0n) return net
  const { basisPoints, maximumFee } = config
  if (basisPoints === BASIS_POINTS_MAX) return net + maximumFee
  const rest = BASIS_POINTS_MAX - basisPoints
  const gross = divideUp(net * BASIS_POINTS_MAX, rest)
  return gross - net >= maximumFee ? net + maximumFee : gross
}

/** What the recipient gets of a transfer of `units`; null = a mint without the extension. */
export const netOf = (units: bigint, config: TransferFeeConfig | null): bigint =>
  config === null ? units : units - transferFee(units, config)
