/** A recorded change that is not published yet. */
export type UnpublishedEvent = Readonly<{
  id: string
  partnerId: string
  kind: 'exchange' | 'swap' | 'webhook' | 'partner'
  /** The exchange, the swap or the partner. */
  subjectId: string
  type: string
  webhookId: string | null
  createdAt: Date
}>

export type PublishedEvent = Readonly<{
  id: string
  partnerId: string
  type: string
  /** Ascending in the order of publication; no later transaction publishes a smaller one. */
  position: bigint
  /** JSON text, the same in every delivery and stream. */
  body: string
}>
