import { checkpoint } from '../core/services/checkpoint.ts'
import { present } from '../lib/assert.ts'
import type { UnpublishedEvent } from './domain/partner-event.ts'
import type { EventStore } from './ports/store.ts'

/** The current state as the status endpoint answers; null if it does not show it. */
export type RenderSubject = (partnerId: string, id: string) => Promise<object | null>

export type PublishEventsDeps = Readonly<{
  events: Pick<EventStore, 'readUnpublished' | 'publish' | 'postpone' | 'remove'>
  render: Readonly<Record<'exchange' | 'swap' | 'partner', RenderSubject>>
  onError(error: unknown, event: UnpublishedEvent): void
}>

const BATCH = 200
const POSTPONE_MS = 30_000

type Rendered = Readonly<{ event: UnpublishedEvent; body: string | null; error: unknown }>

/**
 * One turn of the publisher: renders what was recorded, once for all receivers. The state is read after the change was
 * committed, so it is never older than the event. An event that cannot be rendered holds back only those of its exchange.
 */
export function createPublishEvents({
  events,
  render,
  onError,
}: PublishEventsDeps): () => Promise<'again' | undefined> {
  const renderOne = async (event: UnpublishedEvent): Promise<Rendered> => {
    try {
      return { event, body: await toBody(event, render), error: null }
    } catch (error) {
      return { event, body: null, error: error ?? 'unknown' }
    }
  }
  return async () => {
    const unpublished = await events.readUnpublished(BATCH)
    if (unpublished.length === 0) return undefined
    const rendered = await Promise.all(unpublished.map(renderOne))
    const failed = new Set(rendered.filter(({ error }) => error !== null).map(({ event }) => event.subjectId))
    for (const { event, error } of rendered) if (error !== null) onError(error, event)
    const others = rendered.filter(({ event }) => !failed.has(event.subjectId))
    checkpoint('event.rendered')
    await events.publish(others.flatMap(({ event, body }) => (body === null ? [] : [{ id: event.id, body }])))
    checkpoint('event.published')
    await events.remove(others.flatMap(({ event, body }) => (body === null ? [event.id] : [])))
    await events.postpone(
      rendered.flatMap(({ event }) => (failed.has(event.subjectId) ? [event.id] : [])),
      POSTPONE_MS,
    )
    return unpublished.length === BATCH ? 'again' : undefined
  }
}

async function toBody(event: UnpublishedEvent, render: PublishEventsDeps['render']): Promise<string | null> {
  const { id, type, kind, createdAt } = event
  const data =
    kind === 'webhook'
      ? { webhookId: present(event.webhookId, 'the webhook of a test') }
      : await render[kind](event.partnerId, event.subjectId)
  return data === null ? null : JSON.stringify({ id, type, created: createdAt.toISOString(), data })
}
