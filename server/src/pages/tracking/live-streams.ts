import { PassThrough, type Readable } from 'node:stream'

/** Time between two looks at an exchange, in ms. */
const LOOK_MS = 2_000
/** Time after which a browser connects again whose exchange changes rarely, in ms. */
const SLOW_MS = 30_000
/** Looks between two comments, which keep proxies from closing a silent connection: 14 s. */
const HEARTBEAT_LOOKS = 7
/** Looks after which a stream ends: 10 min. The browser opens another one. */
const LOOKS_MAX = 300
/** Bytes that a slow client may leave unread. */
const UNREAD_MAX = 256 * 1024

/**
 * What a stream shows now. `version` is the same while nothing changed. `slow`: the stream ends, and the browser opens another
 * one later, so that it occupies none in between.
 */
export type Snapshot = Readonly<{ version: string; render(): string; pace: 'live' | 'slow' | 'final' }>

export type LiveStreams = Readonly<{
  /**
   * Server-sent events from the first snapshot on, which is sent unless the client has its version. Null if this network
   * address or this process has too many streams.
   */
  open(network: string, seen: string, first: Snapshot, look: () => Promise<Snapshot>): Readable | null
  /** Ends all streams. */
  close(): void
}>

export type LiveStreamOptions = Readonly<{
  perNetwork: number
  total: number
  isDraining(): boolean
  lookMs?: number
  slowMs?: number
}>

type Stream = {
  readonly network: string
  readonly output: PassThrough
  readonly look: () => Promise<Snapshot>
  readonly slowMs: number
  version: string
  looks: number
}

/** Streams of server-sent events. One timer serves them all; the reads of one look share the queries of the poll cache. */
export function createLiveStreams(options: LiveStreamOptions): LiveStreams {
  const { perNetwork, total, isDraining, lookMs = LOOK_MS, slowMs = SLOW_MS } = options
  const streams = new Set<Stream>()
  let timer: NodeJS.Timeout | null = null
  let isLooking = false

  const lookAtAll = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    await Promise.all([...streams].map((stream) => lookOnce(stream, isDraining())))
    isLooking = false
  }
  const remove = (stream: Stream): void => {
    streams.delete(stream)
    if (streams.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  return {
    open: (network, seen, first, look) => {
      const sameNetwork = [...streams].filter((stream) => stream.network === network).length
      if (streams.size >= total || sameNetwork >= perNetwork || isDraining()) return null
      const stream: Stream = { network, output: new PassThrough(), look, slowMs, version: seen, looks: 0 }
      streams.add(stream)
      stream.output.on('close', () => remove(stream))
      stream.output.write(`retry: ${lookMs}\n\n`)
      send(stream, first)
      timer ??= setInterval(lookAtAll, lookMs).unref()
      return stream.output
    },
    close: () => {
      for (const { output } of streams) output.end()
    },
  }
}

async function lookOnce(stream: Stream, isDraining: boolean): Promise<void> {
  const { output, look } = stream
  stream.looks += 1
  if (isDraining || stream.looks >= LOOKS_MAX) return void output.end()
  if (output.writableLength > UNREAD_MAX) return void output.destroy()
  // A failed look is repeated; the connection stays.
  const snapshot = await look().catch(() => null)
  if (output.writableEnded || output.destroyed) return
  if (stream.looks % HEARTBEAT_LOOKS === 0) output.write(':\n\n')
  if (snapshot !== null) send(stream, snapshot)
}

function send(stream: Stream, { version, render, pace }: Snapshot): void {
  const { output } = stream
  if (version !== stream.version) {
    stream.version = version
    output.write(toEvent('page', version, render()))
  }
  if (pace === 'slow') output.end(`retry: ${stream.slowMs}\n\n`)
  if (pace === 'final') output.end(toEvent('end', version, ''))
}

/** One event (HTML Living Standard §9.2.6). Every line of its data has a field. */
function toEvent(name: string, id: string, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `event: ${name}\nid: ${id}\n${lines.join('')}\n`
}
