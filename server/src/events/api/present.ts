import type { Delivery as WireDelivery, Webhook as WireWebhook } from '@swapyard/schema'
import type { Delivery, Webhook } from '../domain/webhook.ts'

export function presentWebhook({ id, url, events, disabledBy, createdAt }: Webhook): WireWebhook {
  return { id, url, events: [...events], enabled: disabledBy === null, disabledBy, created: createdAt.toISOString() }
}

export function presentDelivery(delivery: Delivery): WireDelivery {
  const { id, eventId, type, state, attempts, lastStatus, lastError } = delivery
  return {
    ...{ id, eventId, type, state, attempts, lastStatus, lastError },
    nextAttempt: toTime(delivery.nextAttemptAt),
    lastAttempt: toTime(delivery.lastAttemptAt),
    created: delivery.createdAt.toISOString(),
    delivered: toTime(delivery.deliveredAt),
  }
}

const toTime = (at: Date | null): string | null => (at === null ? null : at.toISOString())
