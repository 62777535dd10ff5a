import type { StoreTx } from '../../exchange/ports/store/store.ts'
import type { Venue } from '../../exchange/ports/venue.ts'

/** Trades against the operator's own wallets: an order is a reservation, made in the transaction of the step. */
export function createInventoryVenue(): Venue<StoreTx> {
  return {
    id: 'inventory',
    hasFunds: async ({ take, takeUnits }, ownUnits, tx) =>
      takeUnits <= ownUnits || (await tx.inventory.covers(take.id, takeUnits - ownUnits)),
    place: async ({ id, exchangeId, take, takeUnits }, ownUnits, tx) =>
      (await tx.inventory.reserve(id, take.id, takeUnits, exchangeId, null, ownUnits))
        ? { kind: 'filled', takeUnits }
        : { kind: 'rejected', reason: 'the reserve does not cover the order' },
  }
}
