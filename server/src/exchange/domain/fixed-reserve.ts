import type { FixedRatePolicy } from '../../core/domain/book.ts'
import { largest, smallest } from '../../lib/bigint.ts'

/** What an asset can promise at fixed rates, in its units. */
export type FixedReserve = Readonly<{
  /** The reserve without unpaid promises. */
  freeUnits: bigint
  /** Unpaid promises of all partners. */
  heldUnits: bigint
  /** Unpaid promises of the partner in question. */
  heldByPartnerUnits: bigint
}>

/**
 * Units that a partner can still have promised: a fixed rate reserves them before anybody has paid, so that without a limit
 * one customer could lock the whole reserve at no cost (M3).
 */
export function fixedReserveLeft(
  { freeUnits, heldUnits, heldByPartnerUnits }: FixedReserve,
  { reservePercent, partnerPercent }: Pick<FixedRatePolicy, 'reservePercent' | 'partnerPercent'>,
): bigint {
  const limit = (freeUnits * BigInt(reservePercent)) / 100n
  const ofPartner = (limit * BigInt(partnerPercent)) / 100n
  return largest(smallest(limit - heldUnits, ofPartner - heldByPartnerUnits), 0n)
}
