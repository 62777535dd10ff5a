import { reasonOf } from '@swapyard/lib/transport-error.ts'
import { Agent, request } from 'undici'

/** The outcome of a call. `unknown`: no answer, or one that could not be read to its end. Nothing throws. */
export type HttpAnswer =
  | Readonly<{ kind: 'answer'; status: number; headers: Readonly<Record<string, string>>; body: Buffer }>
  | Readonly<{ kind: 'unknown'; reason: string; cause: unknown }>

export type HttpCall = Readonly<{
  url: string
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  body?: string
  /** Time from the call to the last byte of the reply, in ms. */
  timeoutMs?: number
  /** A longer reply is cut off and counts as unknown. */
  replyBytesMax?: number
}>

export type Http = Readonly<{
  /** Sends one request; follows no redirect. */
  call(call: HttpCall): Promise<HttpAnswer>
  close(): Promise<void>
}>

const TIMEOUT_MS = 10_000
const REPLY_BYTES_MAX = 1024 * 1024
const CONNECTIONS = 16

/** The client for outgoing HTTP that is not JSON-RPC. `connections` per host; 1 where each connection has its own login. */
export function createHttp({ connections = CONNECTIONS }: { connections?: number } = {}): Http {
  // Undici's own limits of five minutes would end longer calls; the limit of each call is `timeoutMs`.
  const agent = new Agent({ connections, connect: { timeout: TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 })
  return { call: (call) => send(agent, call), close: () => agent.destroy() }
}

async function send(agent: Agent, call: HttpCall): Promise<HttpAnswer> {
  const bytesMax = call.replyBytesMax ?? REPLY_BYTES_MAX
  try {
    const reply = await request(call.url, {
      dispatcher: agent,
      method: call.method ?? 'GET',
      headers: { ...call.headers },
      body: call.body ?? null,
      signal: AbortSignal.timeout(call.timeoutMs ?? TIMEOUT_MS),
    })
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of reply.body) {
      length += (chunk as Buffer).length
      // Leaving the loop destroys the body and the connection.
      if (length > bytesMax) return { kind: 'unknown', reason: 'the reply is too long', cause: null }
      chunks.push(chunk as Buffer)
    }
    return { kind: 'answer', status: reply.statusCode, headers: flatten(reply.headers), body: Buffer.concat(chunks) }
  } catch (cause) {
    return { kind: 'unknown', reason: reasonOf(cause), cause }
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
