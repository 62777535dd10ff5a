import type { exchangeStatuses as wireStatuses } from '@swapyard/schema'

/** As the schema has them, by their type. */
export const exchangeStatuses: typeof wireStatuses = [
  'pending',
  'confirming',
  'verifying',
  'exchanging',
  'sending',
  'refunding',
  'finished',
  'failed',
  'refunded',
]
