import type { Asset } from '../../core/domain/asset.ts'

/** A conversion asked of a venue. The id is ours, stored before the call, and makes a repeat the same order. */
export type VenueOrder = Readonly<{
  id: string
  exchangeId: string
  give: Asset
  giveUnits: bigint
  take: Asset
  /** What must come out; a venue that cannot give it rejects. */
  takeUnits: bigint
}>

export type VenueOutcome =
  | { kind: 'filled'; takeUnits: bigint }
  | { kind: 'rejected'; reason: string }
  | { kind: 'unknown' }

/** Where conversion happens. `place` may be repeated with the same order: it is the same conversion. */
export interface Venue<Tx> {
  readonly id: string
  place(order: VenueOrder, tx: Tx): Promise<VenueOutcome>
}
