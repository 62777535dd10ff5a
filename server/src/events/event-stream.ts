import { Readable } from 'node:stream'
import type { PublishedEvent } from './domain/partner-event.ts'

/** An event of the partner; `NO_EVENT` at position 0 stands before its first one. */
export type StreamStart = Readonly<{ id: string; position: bigint }>

export type EventStreamDeps = Readonly<{
  partnerId: string
  /** The stream begins after this event. */
  start: StreamStart
  readAfter(position: bigint, limit: number): Promise<readonly PublishedEvent[]>
  /** Position up to which events were given to live streams; null = no events are given now. */
  dispatched(): bigint | null
  onEnd(): void
  onError(error: unknown): void
}>

/** One stream of server-sent events. Each event is pushed once, in the order of positions. */
export type EventStream = Readonly<{
  partnerId: string
  readable: Readable
  /** A new event. Ignored by a stream that is not live, because it will read it from the table. */
  give(event: PublishedEvent): void
  /** Reads what it lacks from the table. */
  catchUp(): void
  /** Keeps proxies from closing a quiet connection. Ends a stream whose client does not read. */
  beat(): void
  /** What is buffered is still sent. */
  end(): void
}>

const PAGE = 200
/** Unsent text. Above it the stream is not live: it reads on from the table when its client has read what it holds. */
const UNSENT_CHARACTERS = 64 * 1024
/** Beats after which a client with a full buffer that has read nothing is given up. */
const STALLED_BEATS = 4

type State = {
  /** Everything up to here was pushed. */
  position: bigint
  /** It is given new events; otherwise it reads pages of the table. */
  isLive: boolean
  isReading: boolean
  isEnded: boolean
  beats: number
}

export function createEventStream(deps: EventStreamDeps): EventStream {
  const state: State = { position: deps.start.position, isLive: false, isReading: false, isEnded: false, beats: 0 }
  const readable = new Readable({
    highWaterMark: UNSENT_CHARACTERS,
    encoding: 'utf8',
    read: () => {
      state.beats = 0
      catchUp()
    },
    destroy: (error, done) => {
      state.isEnded = true
      deps.onEnd()
      done(error)
    },
  })
  const isFull = () => readable.readableLength >= UNSENT_CHARACTERS

  function push(event: PublishedEvent): void {
    if (event.position <= state.position || state.isEnded) return
    state.position = event.position
    if (!readable.push(toText(event))) state.isLive = false
  }

  function end(): void {
    if (state.isEnded) return
    state.isEnded = true
    readable.push(null)
    deps.onEnd()
  }

  function catchUp(): void {
    if (state.isLive || state.isReading || state.isEnded || isFull()) return
    state.isReading = true
    readPages(deps, state, { push, isFull })
      .catch((error: unknown) => {
        deps.onError(error)
        // The client opens another stream, which begins after its last event.
        end()
      })
      .finally(() => {
        state.isReading = false
      })
  }

  // Proxies and clients see at once that the stream is open. By the id alone, a client whose connection breaks before the
  // first event resumes where the stream began.
  readable.push(`: open\nid: ${deps.start.id}\n\n`)
  return {
    partnerId: deps.partnerId,
    readable,
    give: (event) => {
      if (state.isLive) push(event)
    },
    catchUp,
    beat: () => {
      state.beats += 1
      if (state.isEnded) return
      if (!isFull()) readable.push(': beat\n\n')
      else if (state.beats > STALLED_BEATS) readable.destroy()
    },
    end,
  }
}

/** Reads on until the stream has everything that was dispatched, or its buffer is full. */
async function readPages(
  deps: EventStreamDeps,
  state: State,
  { push, isFull }: Readonly<{ push(event: PublishedEvent): void; isFull(): boolean }>,
): Promise<void> {
  while (!state.isEnded && !isFull()) {
    const dispatched = deps.dispatched()
    const page = await deps.readAfter(state.position, PAGE)
    for (const event of page) push(event)
    if (page.length === PAGE) continue
    if (dispatched === null) return
    // The page has all that was dispatched before its query. Nothing was dispatched since: the next event will be given.
    if (dispatched === deps.dispatched()) {
      state.isLive = !isFull()
      return
    }
  }
}

/** The body is JSON without line breaks. */
const toText = ({ id, type, body }: PublishedEvent): string => `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`
