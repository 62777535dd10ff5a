import type { EventType } from './event-types.ts'

/** Who disabled a webhook: its partner, the operator, or three days of failures. */
export type DisabledBy = 'partner' | 'operator' | 'failures'

export type Webhook = Readonly<{
  id: string
  partnerId: string
  url: string
  /** Empty = all types, those of later versions too. */
  events: readonly EventType[]
  disabledBy: DisabledBy | null
  createdAt: Date
}>

export type Delivery = Readonly<{
  id: string
  eventId: string
  type: string
  state: 'pending' | 'delivered'
  /** So far. */
  attempts: number
  /** Null = delivered, or it waits for an earlier delivery of the same exchange. */
  nextAttemptAt: Date | null
  lastAttemptAt: Date | null
  lastStatus: number | null
  lastError: string | null
  createdAt: Date
  deliveredAt: Date | null
}>

/** A delivery that this process has claimed and must send now. */
export type ClaimedDelivery = Readonly<{
  id: string
  webhookId: string
  url: string
  /** Encrypted. The second one is in force until the end of a rotation. */
  secrets: readonly Buffer[]
  body: string
  /** With this one. It only grows, so that with the id it names the claim. */
  attempts: number
}>
