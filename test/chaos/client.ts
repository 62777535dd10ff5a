import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { PATIENCE_MS } from '../support/patience.ts'
import type { Json } from '../support/until.ts'

export type Reply = Readonly<{ status: number; body: Json; text: string; retryAfter: string | null }>

/**
 * A partner that follows the documentation: it sends an Idempotency-Key with every POST. If the suite interrupts the service, it
 * repeats a request at another process after a refused connection, a lost reply or a 503. It repeats nothing else.
 */
export type Client = Readonly<{
  call(method: string, path: string, body?: unknown, key?: string): Promise<Reply>
  /** One attempt at one process. Throws if no reply arrives. */
  once(url: string, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /**
   * What no partner may get: 5xx, except 503 with `Retry-After` while the suite interrupts the service, and a request without a
   * reply, except a connection that is refused or reset then.
   */
  unexpectedReplies(): readonly string[]
}>

/** The connection ended before the reply, as if the process was killed. */
const LOST = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE']
export const isLostConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && LOST.includes(String(error.code))

/** Longer than the server's own limits. */
const TIMEOUT_MS = PATIENCE_MS / 2

export function createClient(
  urls: readonly string[],
  { apiKey = 'sandbox', isInterrupted }: Readonly<{ apiKey?: string; isInterrupted: boolean }>,
): Client {
  const unexpected: string[] = []
  let turn = 0

  const once: Client['once'] = async (url, method, path, body, headers = {}) => {
    const reply = await send(url, method, path, body, { 'x-api-key': apiKey, ...headers }).catch((error: Error) => {
      if (!(isInterrupted && isLostConnection(error))) unexpected.push(`${method} ${path}: ${error.message}`)
      throw error
    })
    if (reply.status >= 500 && !(isInterrupted && reply.status === 503 && reply.retryAfter !== null))
      unexpected.push(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 300)}`)
    return reply
  }

  return {
    once,
    unexpectedReplies: () => unexpected,
    async call(method, path, body, key = randomUUID()) {
      const deadline = Date.now() + PATIENCE_MS
      for (;;) {
        const url = urls[turn++ % urls.length] ?? ''
        try {
          const reply = await once(url, method, path, body, method === 'POST' ? { 'idempotency-key': key } : {})
          if (!isInterrupted || reply.status !== 503 || Date.now() > deadline) return reply
        } catch (error) {
          if (!isInterrupted || !isLostConnection(error) || Date.now() > deadline) throw error
        }
        await delay(150)
      }
    },
  }
}

/** Opens a connection per request. On a reused one, a refused request looks like a lost reply. */
function send(
  url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Reply> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const allHeaders = {
    connection: 'close',
    ...headers,
    ...(text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url + path,
      { method, headers: allHeaders, timeout: TIMEOUT_MS, agent: false },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const received = Buffer.concat(chunks).toString('utf8')
          resolve({
            status: incoming.statusCode ?? 0,
            text: received,
            body: parse(received),
            retryAfter: incoming.headers['retry-after'] ?? null,
          })
        })
      },
    )
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS} ms to ${method} ${path}`)))
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
