/**
 * What partners can subscribe to: every status of an exchange and of a swap, a refund that needs an address, and a change of
 * a fee address.
 */
export const eventTypes = [
  'exchange.pending',
  'exchange.confirming',
  'exchange.exchanging',
  'exchange.sending',
  'exchange.verifying',
  'exchange.refunding',
  'exchange.refunded',
  'exchange.finished',
  'exchange.failed',
  'exchange.refund_address_required',
  'swap.pending',
  'swap.confirming',
  'swap.finished',
  'swap.failed',
  'partner.fee_address_changed',
] as const
export type EventType = (typeof eventTypes)[number]

/** Events and their deliveries are deleted after this time. */
export const KEPT_DAYS = 30
