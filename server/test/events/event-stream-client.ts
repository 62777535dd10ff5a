import { get, type IncomingMessage } from 'node:http'

export type StreamedEvent = Readonly<{ id: string; type: string; data: string }>

export type StreamClient = Readonly<{
  status: number
  headers: IncomingMessage['headers']
  events: StreamedEvent[]
  comments: string[]
  /** The whole text, of a refusal. */
  text(): string
  isEnded(): boolean
  /** Stops and continues reading from the socket. */
  pause(): void
  resume(): void
  close(): void
}>

/** Reads server-sent events by the rules of the HTML standard, without reconnecting. */
export function openStream(
  url: string,
  { key = 'sandbox', lastEventId = null }: Readonly<{ key?: string; lastEventId?: string | null }> = {},
): Promise<StreamClient> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }) }
    const request = get(url, { headers, agent: false }, (response) => {
      const state = { text: '', rest: '', isEnded: false }
      const events: StreamedEvent[] = []
      const comments: string[] = []
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        if (response.statusCode !== 200) state.text += chunk
        const blocks = (state.rest + chunk).split('\n\n')
        state.rest = blocks.pop() ?? ''
        for (const block of blocks) readBlock(block, events, comments)
      })
      const ended = () => {
        state.isEnded = true
      }
      response.on('end', ended).on('close', ended).on('error', ended)
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        events,
        comments,
        text: () => state.text,
        isEnded: () => state.isEnded,
        pause: () => response.pause(),
        resume: () => response.resume(),
        close: () => request.destroy(),
      })
    })
    request.on('error', reject)
  })
}

function readBlock(block: string, events: StreamedEvent[], comments: string[]): void {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? []
    if (name === '') comments.push(value)
    else fields.set(name, value)
  }
  const data = fields.get('data')
  if (data !== undefined) events.push({ id: fields.get('id') ?? '', type: fields.get('event') ?? 'message', data })
}
