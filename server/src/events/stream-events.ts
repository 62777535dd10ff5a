import type { Readable } from 'node:stream'
import { AppError } from '../core/domain/errors.ts'
import type { Caller } from '../core/domain/partner.ts'
import { isUuid } from '../lib/id.ts'
import { startLoop } from '../lib/loop.ts'
import { createEventStream, type EventStream, type StreamStart } from './event-stream.ts'
import type { EventStore } from './ports/store.ts'

export type EventStreamsDeps = Readonly<{
  events: Pick<
    EventStore,
    'lastPosition' | 'lastOfPartner' | 'after' | 'afterOfPartner' | 'findPosition' | 'lastRemoved'
  >
  onCount(streams: number): void
  onError(error: unknown): void
}>

export type EventStreams = Readonly<{
  /**
   * Opens a stream of the events of the caller's partner: after `lastEventId`, or from now on. `isAllowed` is asked again
   * while the stream is open; the stream ends when it answers false.
   */
  open(caller: Caller, lastEventId: string | null, isAllowed: () => Promise<boolean>): Promise<Readable>
  /** Events may have been published. */
  wake(): void
  /** Keys or partners may have changed. */
  recheck(): void
  /** Ends all streams and refuses new ones. */
  close(): void
  stop(): Promise<void>
}>

const STREAMS_MAX = 5_000
const STREAMS_PER_PARTNER_MAX = 200
const PAGE = 500
const BEAT_MS = 15_000
const POLL_MS = 1_000
/** Stands before the first event: where a stream of a partner without events begins. */
const NO_EVENT = '00000000-0000-0000-0000-000000000000'

type OpenStream = EventStream & Readonly<{ isAllowed(): Promise<boolean> }>

/** The open streams of this process. */
function createStreamSet(deps: EventStreamsDeps) {
  const byPartner = new Map<string, Set<OpenStream>>()
  let count = 0
  const of = (partnerId: string): ReadonlySet<OpenStream> => byPartner.get(partnerId) ?? new Set()
  return {
    all: () => [...byPartner.values()].flatMap((some) => [...some]),
    of,
    size: () => count,
    checkLimits(partnerId: string): void {
      if (count >= STREAMS_MAX) throw refused()
      if (of(partnerId).size < STREAMS_PER_PARTNER_MAX) return
      throw new AppError('RATE_LIMIT_EXCEEDED', `more than ${STREAMS_PER_PARTNER_MAX} event streams at a time`, {
        retryAfterSeconds: 60,
        extra: { limit: String(STREAMS_PER_PARTNER_MAX) },
      })
    },
    add(
      {
        partnerId,
        start,
        isAllowed,
      }: Readonly<{ partnerId: string; start: StreamStart }> & Pick<OpenStream, 'isAllowed'>,
      dispatched: () => bigint | null,
    ): Readable {
      const streams = byPartner.get(partnerId) ?? new Set()
      byPartner.set(partnerId, streams)
      const onEnd = () => {
        if (!streams.delete(stream)) return
        if (streams.size === 0) byPartner.delete(partnerId)
        count -= 1
        deps.onCount(count)
      }
      const readAfter = (after: bigint, limit: number) => deps.events.afterOfPartner(partnerId, after, limit)
      const stream: OpenStream = {
        isAllowed,
        ...createEventStream({ partnerId, start, readAfter, dispatched, onEnd, onError: deps.onError }),
      }
      streams.add(stream)
      count += 1
      deps.onCount(count)
      return stream.readable
    },
  }
}

const refused = () =>
  new AppError('OVERLOADED', 'this process opens no further event stream now', { retryAfterSeconds: 5 })

/** The event streams of one process. It reads each new event once and gives it to the streams of its partner. */
export function createEventStreams(deps: EventStreamsDeps): EventStreams {
  const streams = createStreamSet(deps)
  let dispatched: bigint | null = null
  let isClosed = false

  const loop = startLoop({
    paceMs: POLL_MS,
    backoffMs: 10_000,
    onError: deps.onError,
    turn: async () => {
      if (streams.size() === 0) {
        dispatched = null
        return undefined
      }
      dispatched ??= await deps.events.lastPosition()
      const events = await deps.events.after(dispatched, PAGE)
      for (const event of events) {
        for (const stream of streams.of(event.partnerId)) stream.give(event)
        dispatched = event.position
      }
      for (const stream of streams.all()) stream.catchUp()
      return events.length === PAGE ? 'again' : undefined
    },
  })
  const recheck = () => {
    for (const stream of streams.all())
      stream.isAllowed().then((isAllowed) => {
        if (!isAllowed) stream.end()
      }, deps.onError)
  }
  const timer = setInterval(() => {
    for (const stream of streams.all()) stream.beat()
    // A notification of a change may be lost.
    recheck()
  }, BEAT_MS).unref()

  function close(): void {
    isClosed = true
    for (const stream of streams.all()) stream.end()
  }

  return {
    open: async ({ partner: { id } }, lastEventId, isAllowed) => {
      streams.checkLimits(id)
      const start = await findStart(deps, id, lastEventId)
      if (isClosed) throw refused()
      // Others may have been opened meanwhile.
      streams.checkLimits(id)
      const readable = streams.add({ partnerId: id, start, isAllowed }, () => dispatched)
      loop.wake()
      return readable
    },
    wake: loop.wake,
    recheck,
    close,
    stop: async () => {
      close()
      clearInterval(timer)
      await loop.stop()
    },
  }
}

async function findStart(
  { events }: EventStreamsDeps,
  partnerId: string,
  lastEventId: string | null,
): Promise<StreamStart> {
  const beginning = { id: NO_EVENT, position: 0n }
  if (lastEventId === null) return (await events.lastOfPartner(partnerId)) ?? beginning
  if (lastEventId === NO_EVENT && (await events.lastRemoved(partnerId)) === null) return beginning
  const position = isUuid(lastEventId) ? await events.findPosition(partnerId, lastEventId) : null
  if (position !== null) return { id: lastEventId, position }
  const message =
    'Last-Event-ID is no event of yours, or events after it were deleted after 30 days: open a stream after resumeAfter, then read the statuses of your exchanges and swaps'
  const resumeAfter = (await events.lastRemoved(partnerId)) ?? NO_EVENT
  throw new AppError('EVENT_NOT_FOUND', message, { field: 'Last-Event-ID', extra: { resumeAfter } })
}
