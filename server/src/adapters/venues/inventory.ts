import type { StoreTx } from '../../exchange/ports/store/store.ts'
import type { Venue } from '../../exchange/ports/venue.ts'

/** Trades against the operator's own wallets: an order is a reservation, made in the transaction of the step. */
export function createInventoryVenue(): Venue<StoreTx> {
  return {
    id: 'inventory',
    hasFunds: (order, ownUnits, tx) => tx.inventory.covers(order.take.id, order.takeUnits - ownUnits),
    place: async (order, tx) =>
      (await tx.inventory.reserve(order.id, order.take.id, order.takeUnits, order.exchangeId, null))
        ? { kind: 'filled', takeUnits: order.takeUnits }
        : { kind: 'rejected', reason: 'the reserve does not cover the order' },
  }
}
