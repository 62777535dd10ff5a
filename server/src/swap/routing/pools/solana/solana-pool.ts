import type { TransferFeeConfig } from '@swapyard/lib/pools/solana/transfer-fee.ts'
import type { Curve } from '../../curve.ts'
import type { PoolIdentity } from '../../pool.ts'

export type Pair<T> = readonly [T, T]

/** What pools of all DEXes of Solana have. Pairs are in the order of `tokens`. */
export type SolanaPoolIdentity = PoolIdentity &
  Readonly<{
    /** Token programs of the mints. */
    programs: Pair<string>
    decimals: Pair<number>
    vaults: Pair<string>
  }>

const BASIS_POINTS = 10_000

/**
 * The curve with the transfer fees of the mints. The greatest fee of a transfer is ignored: the curve then pays too little, and the search
 * decides only by it. Null if a fee takes everything.
 */
export function withTransferFees(
  curve: Curve | null,
  fees: Pair<TransferFeeConfig | null>,
  tokenIn: number,
): Curve | null {
  const restOf = (token: number) => 1 - Number(fees[token === 0 ? 0 : 1]?.basisPoints ?? 0n) / BASIS_POINTS
  const [restIn, restOut] = [restOf(tokenIn), restOf(1 - tokenIn)]
  if (curve === null || restIn <= 0 || restOut <= 0) return null
  if (restIn === 1 && restOut === 1) return curve
  const scale = (numbers: Float64Array, factor: number) => numbers.map((one) => one * factor)
  return {
    feeFactor: curve.feeFactor * restIn,
    price: scale(curve.price, restIn * restOut),
    reserveIn: scale(curve.reserveIn, 1 / restIn),
    reserveOut: scale(curve.reserveOut, restOut),
    root: scale(curve.root, Math.sqrt(restIn * restOut)),
    startIn: scale(curve.startIn, 1 / restIn),
    startOut: scale(curve.startOut, restOut),
    gas: curve.gas,
  }
}
