import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Delivery, Webhook } from '../../src/events/domain/webhook.ts'
import type { EventServices } from '../../src/events/interfaces.ts'
import { createManageWebhooks } from '../../src/events/manage-webhooks.ts'
import type { WebhookStore } from '../../src/events/ports/store.ts'
import { createOutwardHttp } from '../../src/lib/outward-http.ts'

/** Webhooks over arrays, for tests of the HTTP layer. A stream ends after one event. */
export function createEventsInMemory(): EventServices {
  const webhooks: Webhook[] = [documented]
  const find = (partnerId: string | null, id: string) =>
    webhooks.find((one) => one.id === id && (partnerId === null || one.partnerId === partnerId))
  const store: WebhookStore = {
    add: async ({ secret: _, ...webhook }) => {
      const added: Webhook = { ...webhook, disabledBy: null, createdAt: new Date() }
      webhooks.push(added)
      return added
    },
    list: async (partnerId) => webhooks.filter((one) => one.partnerId === partnerId),
    find: async (partnerId, id) => find(partnerId, id) ?? null,
    remove: async (partnerId, id) => {
      const found = find(partnerId, id)
      if (found && found !== documented) webhooks.splice(webhooks.indexOf(found), 1)
      return found !== undefined
    },
    rotate: async ({ partnerId, id }) => (find(partnerId, id) === undefined ? null : 'rotated'),
    setDisabled: async (partnerId, id, disabledBy) => {
      const found = find(partnerId, id)
      if (found && found !== documented) webhooks[webhooks.indexOf(found)] = { ...found, disabledBy }
      return found !== undefined
    },
    addTest: async () => randomUUID(),
    deliveries: async () => [delivery],
    redeliver: async (_partnerId, _webhookId, id) => (id === delivery.id ? delivery : null),
  }
  const secrets = {
    seal: (_owner: string, secret: string) => Buffer.from(secret),
    open: (_owner: string, sealed: Buffer) => sealed.toString(),
  }
  return {
    webhooks: createManageWebhooks({ webhooks: store, http: createOutwardHttp({ allowsAll: true }), secrets }),
    streams: {
      open: async () => Readable.from([': open\n\n', 'id: 1\nevent: exchange.finished\ndata: {}\n\n']),
      wake: () => undefined,
      recheck: () => undefined,
      close: () => undefined,
      stop: async () => undefined,
    },
  }
}

/** The examples of the OpenAPI document. This webhook never changes. */
const documented: Webhook = {
  id: '01936b2e-7d1c-7a34-9d5e-6c0f3b1a2d4e',
  partnerId: 'p1',
  url: 'https://partner.example/swapyard',
  events: ['exchange.finished'],
  disabledBy: null,
  createdAt: new Date(),
}

const delivery: Delivery = {
  id: '4711',
  eventId: randomUUID(),
  type: 'exchange.finished',
  state: 'pending',
  attempts: 1,
  nextAttemptAt: new Date(),
  lastAttemptAt: new Date(),
  lastStatus: 500,
  lastError: 'status 500',
  createdAt: new Date(),
  deliveredAt: null,
}
