import { SwapyardError } from './errors.ts'
import type { ExchangeEvent, PartnerChangeEvent, SwapEvent } from './generated/types.ts'
import {
  type ClientOptions,
  createRequest,
  type Operation,
  parseJson,
  RESPONSE_BYTES_MAX,
  readAnswer,
  readReason,
  readText,
} from './http.ts'
import { isTemporary, readDelay } from './retry.ts'
import { sleep, TIMER_MAX_MS } from './sleep.ts'

/** A union by `type`. Later versions of the API add types: ignore those that you do not know. */
export type PartnerEvent = ExchangeEvent | SwapEvent | PartnerChangeEvent

export type EventsOptions = Readonly<{
  signal?: AbortSignal | undefined
  /** Begins after this event, if no later one is older than 30 days. Default: now. */
  lastEventId?: string | undefined
  /** Connects again after this time without a byte; the server sends one every 15 s. Default: 60 s. */
  idleTimeoutMs?: number | undefined
  /** Called after a connection that failed or ended, before the next one. */
  onError?: ((error: SwapyardError) => void) | undefined
}>

type State = {
  lastEventId: string
  /** The `retry:` of the server: the shortest pause before the next connection. */
  retryMs: number
  /** Connections since the last event. */
  attempt: number
}

const operation: Operation = ['GET', '/v1/events', 'none', 'json']

/** Reads events for ever, over as many connections as it takes. Rejects with a lasting failure. */
export async function* readEvents(
  client: ClientOptions,
  { signal, lastEventId = '', idleTimeoutMs = 60_000, onError }: EventsOptions,
): AsyncGenerator<PartnerEvent, never> {
  const state: State = { lastEventId, retryMs: 0, attempt: 0 }
  for (;;) {
    try {
      yield* readConnection(client, state, idleTimeoutMs, signal)
    } catch (error) {
      if (!isTemporary(error)) throw error
      onError?.(error)
      await sleep(Math.max(state.retryMs, readDelay(error, state.attempt++)), signal)
    }
  }
}

async function* readConnection(
  client: ClientOptions,
  state: State,
  idleTimeoutMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<PartnerEvent, never> {
  signal?.throwIfAborted()
  const { url, init } = createRequest(client, operation, undefined, {})
  const headers = new Headers(init.headers)
  if (state.lastEventId !== '') headers.set('last-event-id', state.lastEventId)
  const controller = new AbortController()
  const stop = () => controller.abort()
  signal?.addEventListener('abort', stop, { once: true })
  /** Time of the consumer does not count. */
  const wait = async <Result>(step: Promise<Result>): Promise<Result> => {
    const timer = setTimeout(stop, Math.min(idleTimeoutMs, TIMER_MAX_MS))
    try {
      return await step
    } catch (cause) {
      signal?.throwIfAborted()
      throw new SwapyardError('CONNECTION_FAILED', `GET /v1/events: ${readReason(cause)}`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }
  try {
    const response = await wait((client.fetch ?? fetch)(url, { ...init, headers, signal: controller.signal }))
    const bytesMax = client.maxResponseBytes ?? RESPONSE_BYTES_MAX
    if (!response.ok || !response.headers.get('content-type')?.includes('event-stream') || response.body === null) {
      readAnswer(operation, response, await wait(readText(response, bytesMax)), null)
      throw reject('no event stream')
    }
    const reader = response.body.getReader()
    yield* readBlocks(() => wait(reader.read()), state, bytesMax, signal)
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
  throw new SwapyardError('CONNECTION_FAILED', 'GET /v1/events: the stream ended')
}

const reject = (what: string) => new SwapyardError('INVALID_RESPONSE', `GET /v1/events: ${what}`)

/** By the rules of the HTML standard for event streams. The name of an event is in its data, too. */
async function* readBlocks(
  read: () => Promise<Readonly<{ done: boolean; value?: Uint8Array | undefined }>>,
  state: State,
  lengthMax: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<PartnerEvent, void> {
  const decoder = new TextDecoder()
  let [rest, id, data] = ['', state.lastEventId, '']
  for (;;) {
    const { done, value } = await read()
    if (done) return
    // A CR at the end may be the first half of a CRLF.
    const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [, name, text = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
      if (name === 'id') id = text
      if (name === 'data') data += `${text}\n`
      if (name === 'retry' && /^\d+$/.test(text)) state.retryMs = Number.parseInt(text, 10)
      if (line !== '') continue
      state.lastEventId = id
      if (data === '') continue
      const event = parseJson(data) as PartnerEvent | undefined
      if (event === undefined) throw reject('an event that is not JSON')
      data = ''
      state.attempt = 0
      yield event
      signal?.throwIfAborted()
    }
    if (rest.length + data.length > lengthMax) throw reject('an event above the limit')
  }
}
