import Type, { type Static, type TSchema } from 'typebox'
import { ExchangeStatusAnswer } from './cross-chain.ts'
import { LIMIT_PATTERN } from './cross-chain-requests.ts'
import { DexExchange } from './defi.ts'
import { FeeAddressList } from './fee-addresses.ts'
import { dateTime, dateTimeOrNull, integerOrNull, textOrNull, wordOf, wordOrNull } from './scalars.ts'

/** What a webhook can subscribe to. */
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
type EventType = (typeof eventTypes)[number]
const typesOf = <Prefix extends string>(prefix: Prefix) =>
  eventTypes.filter((type): type is Extract<EventType, `${Prefix}.${string}`> => type.startsWith(`${prefix}.`))
export const exchangeEventTypes = typesOf('exchange')
export const swapEventTypes = typesOf('swap')
export const disabledByValues = ['partner', 'operator', 'failures'] as const
export const deliveryStates = ['pending', 'delivered'] as const

const webhookId = '01936b2e-7d1c-7a34-9d5e-6c0f3b1a2d4e'
const eventId = '5f0d6c1e-93f4-4a86-8a1b-2f7d0c9e4b35'
const created = '2026-01-02T03:04:05.000Z'
const url = 'https://partner.example/swapyard'

const eventType = (description: string) => wordOf(eventTypes, { description, examples: ['exchange.finished'] })
const id = (description: string, example: string) => Type.String({ description, examples: [example] })

export const CreateWebhookBody = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'Where events are sent: `https`, without credentials, at a public address.',
      examples: [url],
    }),
    events: Type.Optional(
      Type.Array(eventType('Event type.'), {
        maxItems: eventTypes.length,
        description: 'Event types to send. Absent or empty: all, those of later versions too.',
        examples: [['exchange.finished', 'exchange.refund_address_required']],
      }),
    ),
  },
  { description: 'A webhook to create.' },
)
export type CreateWebhookBody = Static<typeof CreateWebhookBody>

const webhook = {
  id: id('Id of the webhook.', webhookId),
  url: Type.String({ description: 'Where events are sent.', examples: [url] }),
  events: Type.Array(eventType('Event type.'), {
    description: 'Event types that are sent; empty = all.',
    examples: [['exchange.finished', 'exchange.refund_address_required']],
  }),
  enabled: Type.Boolean({
    description: 'Whether events are sent. Those of a disabled webhook wait.',
    examples: [true],
  }),
  disabledBy: wordOrNull(disabledByValues, {
    description: 'Who disabled it; `failures`: its receiver failed for three days. Null while it is enabled.',
    examples: [null],
  }),
  created: dateTime({ description: 'Time of the create.', examples: [created] }),
}
const secret = Type.String({
  description: 'Signs the deliveries. It is shown only here.',
  examples: ['whsec_3q2-7wABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijk'],
})

export const Webhook = Type.Object(webhook, { description: 'A webhook.' })
export type Webhook = Static<typeof Webhook>
export const CreatedWebhook = Type.Object({ ...webhook, secret }, { description: 'A webhook with its secret.' })
export const WebhookList = Type.Object(
  { data: Type.Array(Webhook, { description: 'All webhooks, the oldest first.' }) },
  { description: 'The webhooks of the partner.' },
)
export const DeletedWebhook = Type.Object(
  {
    id: id('Id of the webhook.', webhookId),
    deleted: Type.Boolean({ description: 'Always `true`.', examples: [true] }),
  },
  { description: 'A webhook that was deleted.' },
)
export const WebhookSecret = Type.Object(
  { id: id('Id of the webhook.', webhookId), secret },
  { description: 'The new secret of a webhook.' },
)
export const WebhookTest = Type.Object(
  { eventId: id('Id of the event that is sent.', eventId) },
  { description: 'A test event.' },
)

export const Delivery = Type.Object(
  {
    id: id('Id of the delivery.', '4711'),
    eventId: id('Id of the event, the same in the body of every attempt.', eventId),
    type: Type.String({ description: 'Event type.', examples: ['exchange.finished'] }),
    state: wordOf(deliveryStates, { description: 'Whether the receiver has accepted it.', examples: ['pending'] }),
    attempts: Type.Integer({ minimum: 0, description: 'Attempts so far.', examples: [2] }),
    nextAttempt: dateTimeOrNull({
      description: 'When it is sent next. Null: delivered, or it waits for an earlier delivery of the same exchange.',
      examples: [created],
    }),
    lastAttempt: dateTimeOrNull({ description: 'Time of the last attempt.', examples: [created] }),
    lastStatus: integerOrNull({ description: 'Status of the last answer; null: none came.', examples: [500] }),
    lastError: textOrNull({ description: 'Why the last attempt failed.', examples: ['status 500'] }),
    created: dateTime({ description: 'Since when it waits.', examples: [created] }),
    delivered: dateTimeOrNull({ description: 'When the receiver accepted it.', examples: [null] }),
  },
  { description: 'An event on its way to a webhook.' },
)
export type Delivery = Static<typeof Delivery>
export const DeliveryList = Type.Object(
  { data: Type.Array(Delivery, { description: 'Deliveries, the newest first.' }) },
  { description: 'One page of deliveries.' },
)

export const WebhookParams = Type.Object({ id: id('Id of the webhook.', webhookId) })
export type WebhookParams = Static<typeof WebhookParams>
export const DeliveryParams = Type.Object({
  id: id('Id of the webhook.', webhookId),
  deliveryId: id('Id of the delivery.', '4711'),
})
export type DeliveryParams = Static<typeof DeliveryParams>

export const BEFORE_PATTERN = '^[1-9][0-9]{0,17}$'
export const DeliveriesQuery = Type.Object({
  before: Type.Optional(
    Type.String({
      pattern: BEFORE_PATTERN,
      maxLength: 18,
      description: 'The last id of the page before. Absent: the newest deliveries.',
      examples: ['4711'],
    }),
  ),
  limit: Type.Optional(Type.String({ pattern: LIMIT_PATTERN, description: 'Deliveries per page.', examples: ['100'] })),
})
export type DeliveriesQuery = Static<typeof DeliveriesQuery>

export const EventsQuery = Type.Object({
  lastEventId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'As the header `Last-Event-ID`, for clients that cannot send it.',
      examples: [eventId],
    }),
  ),
})
export type EventsQuery = Static<typeof EventsQuery>

const event = (data: TSchema, type: TSchema, description: string) =>
  Type.Object(
    {
      id: id('Id of the event, the same in every repeat.', eventId),
      type,
      created: dateTime({ description: 'Time of the change.', examples: [created] }),
      data,
    },
    { description },
  )
const typeOf = <Type extends EventType>(types: readonly Type[]) =>
  wordOf(types, { description: 'Event type.', examples: [types.at(-1)] })

/** The body of a delivery, and the data of a stream. */
export const ExchangeEvent = event(ExchangeStatusAnswer, typeOf(exchangeEventTypes), 'A change of an exchange.')
export const SwapEvent = event(DexExchange, typeOf(swapEventTypes), 'A change of a swap.')
export const TestedWebhook = Type.Object(
  { webhookId: id('Id of the webhook.', webhookId) },
  { description: 'The webhook that is tested.' },
)
export const WebhookTestEvent = event(
  TestedWebhook,
  wordOf(['webhook.test'], { description: 'Event type.', examples: ['webhook.test'] }),
  'A test event. No stream has it.',
)
export const PartnerChangeEvent = event(
  FeeAddressList,
  typeOf(['partner.fee_address_changed']),
  'A change of a fee address.',
)
