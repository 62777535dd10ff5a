import type { Partner } from '../core/domain/partner.ts'
import type { Keep } from '../core/ports/store/idempotency.ts'
import type { EventType } from './domain/event-types.ts'
import type { Delivery, Webhook } from './domain/webhook.ts'
import type { EventStreams } from './stream-events.ts'

/** The encrypted secret of a webhook; `openSecret` decrypts it. */
export type SealedSecret = Readonly<{ id: string; sealed: string }>

/** Webhooks and streams as the HTTP layer calls them. Failures are `AppError`s. */
export type EventServices = Readonly<{
  webhooks: WebhookServices
  streams: EventStreams
}>

export type CreatedWebhook = Readonly<{ webhook: Webhook; sealed: string }>

/** `keep`: the response for the transaction of the act. */
export type WebhookServices = Readonly<{
  create(
    partner: Partner,
    request: Readonly<{ url: string; events: readonly EventType[] }>,
    keep?: Keep<CreatedWebhook>,
  ): Promise<CreatedWebhook>
  list(partner: Partner): Promise<readonly Webhook[]>
  find(partner: Partner, id: string): Promise<Webhook>
  remove(partner: Partner, id: string): Promise<void>
  /** The old secret stays in force beside the new one for 24 hours. */
  rotate(partner: Partner, id: string, keep?: Keep<SealedSecret>): Promise<SealedSecret>
  /** Stored responses must not contain a secret, so that they hold it sealed. */
  openSecret(secret: SealedSecret): string
  setEnabled(partner: Partner, id: string, isEnabled: boolean): Promise<Webhook>
  /** The id of the test event. */
  test(partner: Partner, id: string, keep?: Keep<string>): Promise<string>
  /** The newest first. `before`: the last id of the page before. */
  deliveries(partner: Partner, id: string, before: string | null, limit: number): Promise<readonly Delivery[]>
  redeliver(partner: Partner, id: string, deliveryId: string, keep?: Keep<Delivery>): Promise<Delivery>
}>
