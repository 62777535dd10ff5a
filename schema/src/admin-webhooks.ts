import { type Group, objectOf, text, UUID } from './admin-action.ts'
import { at, list, text as optionalText } from './admin-read.ts'

const webhookId = text('Id of the webhook.', UUID)

export const webhookActions = {
  'webhooks-disable': {
    path: '/admin/v1/webhooks/disable',
    summary: 'Stop a webhook',
    description: 'Its events wait for 30 days, and its partner cannot enable it.',
    role: 'support',
    twoPersons: false,
    arguments: objectOf({ webhookId }),
  },
  'webhooks-enable': {
    path: '/admin/v1/webhooks/enable',
    summary: 'Enable a webhook',
    description: 'Sends what waits for it, and ends its alarm.',
    role: 'support',
    twoPersons: false,
    arguments: objectOf({ webhookId }),
  },
  'webhooks-redeliver': {
    path: '/admin/v1/webhooks/redeliver',
    summary: 'Deliver an event again',
    description:
      'A delivered one after those that wait for the same exchange; one that failed at once, if it is its turn.',
    role: 'support',
    twoPersons: false,
    arguments: objectOf({ webhookId, deliveryId: text('Id of the delivery.', '4711', 18) }),
  },
} as const satisfies Group

export const webhookReads = {
  webhooks: list(
    ['webhooks', 'List webhooks', 'The newest first, with what waits for them; never a secret.'],
    {
      id: ['text', 'Id.', UUID],
      partner: ['text', 'Name of the partner.', 'acme'],
      url: ['text', 'Where events are sent.', 'https://partner.example/swapyard'],
      events: ['list', 'Event types that are sent; empty = all.', ['exchange.finished']],
      disabledBy: ['text?', '`partner`, `operator` or `failures`; null = enabled.', null],
      waiting: ['whole', 'Deliveries that wait, at most 1000.', 0],
      lastError: ['text?', 'Why the attempt before the next one failed.', null],
      createdAt: at,
    },
    { pages: true, query: { partner: optionalText('Name of the partner.', 'acme', 64) } },
  ),
  webhookDeliveries: list(
    ['webhooks/deliveries', 'Deliveries of a webhook', 'Of the last 30 days, the newest first.'],
    {
      id: ['text', 'Id.', '4711'],
      eventId: ['text', 'Id of the event.', UUID],
      type: ['text', 'Event type.', 'exchange.finished'],
      subject: ['text', 'Id of its exchange, swap or partner.', UUID],
      state: ['text', '`pending` or `delivered`.', 'pending'],
      attempts: ['whole', 'Attempts so far.', 2],
      nextAttemptAt: ['time?', 'When it is sent next; null = delivered, or behind an earlier one.', null],
      lastAttemptAt: ['time?', 'Time of the last attempt.', '2026-11-26T11:00:00.000Z'],
      lastStatus: ['whole?', 'Status of the last answer; null = none came.', 500],
      lastError: ['text?', 'Why the last attempt failed.', 'status 500'],
      createdAt: at,
      deliveredAt: ['time?', 'When the receiver accepted it.', null],
    },
    { pages: true, query: { webhook: text('Id of the webhook.', UUID) } },
  ),
} as const
