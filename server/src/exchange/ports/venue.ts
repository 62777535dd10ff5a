import type { Asset } from '../../core/domain/asset.ts'

/** A conversion order. We choose and store the id before the call, so a repeat is the same order (I-22). */
export type VenueOrder = Readonly<{
  id: string
  exchangeId: string
  give: Asset
  giveUnits: bigint
  take: Asset
  /** Units to receive; a venue that cannot fill them rejects the order. */
  takeUnits: bigint
}>

export type VenueOutcome =
  | { kind: 'filled'; takeUnits: bigint }
  | { kind: 'rejected'; reason: string }
  | { kind: 'unknown' }

/** Converts assets. `place` is idempotent by order id. */
export interface Venue<Tx> {
  readonly id: string
  /**
   * Whether it can fill the order now. `ownUnits` are reserved for the same exchange and free for the order: an order that they
   * cover is filled, whatever else the wallet owes.
   */
  hasFunds(order: VenueOrder, ownUnits: bigint, tx: Tx): Promise<boolean>
  /** `ownUnits` were reserved for the order, and are released. */
  place(order: VenueOrder, ownUnits: bigint, tx: Tx): Promise<VenueOutcome>
}
