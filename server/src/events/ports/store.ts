import type { ClaimedResponse, Keep } from '../../core/ports/store/idempotency.ts'
import type { EventType } from '../domain/event-types.ts'
import type { PublishedEvent, UnpublishedEvent } from '../domain/partner-event.ts'
import type { ClaimedDelivery, Delivery, DisabledBy, Webhook } from '../domain/webhook.ts'

export interface EventStore {
  /** In the order of the changes; none behind an event of the same exchange that is postponed. */
  readUnpublished(limit: number): Promise<readonly UnpublishedEvent[]>
  /** Assigns positions and creates the deliveries, in the given order. An event that is published already is left as it is. */
  publish(events: readonly Readonly<{ id: string; body: string }>[]): Promise<void>
  postpone(ids: readonly string[], delayMs: number): Promise<void>
  remove(ids: readonly string[]): Promise<void>
  lastPosition(): Promise<bigint>
  /** The newest event of the partner that streams have, even if it was deleted by age; null if it never had one. */
  lastOfPartner(partnerId: string): Promise<Readonly<{ id: string; position: bigint }> | null>
  /** Of all partners. */
  after(position: bigint, limit: number): Promise<readonly PublishedEvent[]>
  afterOfPartner(partnerId: string, position: bigint, limit: number): Promise<readonly PublishedEvent[]>
  /** Null if the partner has no such event, or if an event of its streams after this one was deleted by age. */
  findPosition(partnerId: string, eventId: string): Promise<bigint | null>
  /** The newest event of the partner's streams that was deleted by age; a stream can begin after it. Null if none was. */
  lastRemoved(partnerId: string): Promise<string | null>
  /** Deletes events older than `days`, and e-mails with them. Returns whether there are more. */
  removeOld(days: number, limit: number): Promise<boolean>
  /** For metrics. Ages in seconds, 0 without an event or a delivery. Deliveries of disabled webhooks are not counted. */
  measure(): Promise<QueueMeasures>
}

export type QueueMeasures = Readonly<{
  unpublished: number
  unpublishedSeconds: number
  undelivered: number
  undeliveredSeconds: number
}>

export type NewWebhook = Readonly<{
  id: string
  partnerId: string
  url: string
  events: readonly EventType[]
  secret: Buffer
}>

/** The response of `keep` is saved in the transaction of the act. */
export interface WebhookStore {
  /** Null if the partner has `most` webhooks. */
  add(webhook: NewWebhook, most: number, keep: Keep<Webhook>): Promise<Webhook | null>
  list(partnerId: string): Promise<readonly Webhook[]>
  find(partnerId: string, id: string): Promise<Webhook | null>
  remove(partnerId: string, id: string): Promise<boolean>
  /**
   * The old secret signs beside the new one for this time. Until it ends, nothing is replaced: its end is returned. Null if there
   * is no such webhook.
   */
  rotate(
    webhook: Pick<NewWebhook, 'id' | 'partnerId' | 'secret'>,
    overlapMs: number,
    response: ClaimedResponse | null,
  ): Promise<'rotated' | Date | null>
  /** Null enables it: what waits is due at once. `partnerId` null: the operator, of any partner. False if there is no such webhook, or, for a partner, if the operator has disabled it. */
  setDisabled(partnerId: string | null, id: string, by: DisabledBy | null): Promise<boolean>
  /** The id of a test event, which the publisher delivers to this webhook alone. Null if the partner has no such webhook, or disabled. */
  addTest(webhook: Pick<Webhook, 'id' | 'partnerId'>, keep: Keep<string>): Promise<string | null>
  /** The newest first, with smaller ids than `before`. None if the webhook belongs to another partner. */
  deliveries(partnerId: string, id: string, before: string | null, limit: number): Promise<readonly Delivery[]>
  /**
   * A delivered one is queued once more behind the pending ones of its exchange; a pending one is due at once. Null if it is
   * unknown, or if the webhook belongs to another partner. `partnerId` null: the operator, of any partner.
   */
  redeliver(partnerId: string | null, id: string, deliveryId: string, keep: Keep<Delivery>): Promise<Delivery | null>
}

/** The outcome of one attempt. `error` null = delivered. */
export type AttemptResult = Readonly<
  Pick<ClaimedDelivery, 'id' | 'webhookId' | 'attempts'> & { status: number | null; error: string | null }
>

/** Text of the e-mail that the partner gets; `url` is its webhook's. */
export type DisabledMail = (
  webhook: Readonly<{ id: string; url: string }>,
) => Readonly<{ subject: string; body: string }>

export type FailurePolicy = Readonly<{
  /** The time until the next attempt of a delivery that first failed `failingMs` ago. Null: its webhook is disabled. */
  nextAttemptMs(failingMs: number): number | null
  /** Null: no mail server. */
  mail: DisabledMail | null
}>

export interface DeliveryStore {
  /** Claims due deliveries for `leaseMs`, at most `limit`, and of each webhook at most what `capacity` leaves. */
  claim(
    limit: number,
    capacity: Readonly<{ each: number; others: ReadonlyMap<string, number> }>,
    leaseMs: number,
  ): Promise<readonly ClaimedDelivery[]>
  /**
   * Stores results. One of a claim that is no longer in force changes nothing. A webhook whose delivery failed for too long is
   * disabled in the same transaction, with the alarm and the e-mail.
   */
  finish(results: readonly AttemptResult[], policy: FailurePolicy): Promise<void>
}

export type QueuedMail = Readonly<{
  id: string
  recipient: string
  subject: string
  body: string
  attempts: number
  /** It waited for so long that what it says may be wrong by now. */
  isLate: boolean
}>

export interface MailStore {
  /** Claims due e-mails for `leaseMs`. */
  claim(limit: number, leaseMs: number): Promise<readonly QueuedMail[]>
  sent(id: string): Promise<void>
  failed(id: string, error: string, retryMs: number): Promise<void>
  /** It is not sent: raises the alarm. */
  giveUp(id: string, reason: string): Promise<void>
}
