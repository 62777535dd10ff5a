import type { Asset } from '../domain/asset.ts'

/** A conversion asked of a venue. The id is ours, stored before the call, and makes a repeat the same order. */
export type VenueOrder = Readonly<{
  id: string
  give: Asset
  giveUnits: bigint
  take: Asset
  /** What must come out; a venue that cannot give it rejects. */
  takeUnits: bigint
}>

export type VenueOutcome =
  | { kind: 'filled'; takeUnits: bigint }
  | { kind: 'rejected'; reason: string }
  | { kind: 'pending' }
  /** Nobody knows: only `find` may move it on. */
  | { kind: 'unknown' }

/** Where conversion happens. `place` may be repeated with the same order; `find` never creates one. */
export interface Venue<Tx> {
  readonly id: string
  /** Called inside the store's transaction where the venue is our own inventory, outside it for all others. */
  place(order: VenueOrder, tx: Tx): Promise<VenueOutcome>
  find(orderId: string, tx: Tx): Promise<VenueOutcome>
}
