import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { PATIENCE_MS } from '../support/patience.ts'
import type { Json } from '../support/until.ts'
import type { Interruptions, Symptom } from './interruptions.ts'

export type Reply = Readonly<{ status: number; body: Json; text: string; retryAfter: string | null }>

/**
 * A partner that follows the documentation: it sends an Idempotency-Key with every POST. While the suite interrupts a process, it
 * repeats a request at another one after a refused connection, a lost reply or a 503. It repeats nothing else.
 */
export type Client = Readonly<{
  call(method: string, path: string, body?: unknown, key?: string): Promise<Reply>
  /** One attempt at one process. Throws if no reply arrives. */
  once(url: string, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /**
   * What no partner may get: 5xx and requests without a reply, except a 503 with `Retry-After` and a connection that is refused or
   * reset, both of a process that the suite interrupts in this way.
   */
  unexpectedReplies(): readonly string[]
}>

/** The connection ended before the reply, as if the process was killed. */
const LOST = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE']
export const isLostConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && LOST.includes(String(error.code))

/** Longer than the server's own limits. */
const TIMEOUT_MS = PATIENCE_MS / 2

type Attempt = Readonly<{ outcome: Outcome; isExplained: boolean }>
type Outcome = Readonly<{ reply: Reply } | { error: Error }>

export function createClient(
  urls: readonly string[],
  {
    apiKey = 'sandbox',
    interruptions,
  }: Readonly<{ apiKey?: string; interruptions: Pick<Interruptions, 'explain' | 'countAnswer'> }>,
): Client {
  const unexpected: string[] = []
  let turn = 0

  /** Only what the suite explains may be repeated. `isRepeated`: an earlier attempt with this key was explained. */
  async function attempt(
    [url, method, path, body, headers = {}]: Parameters<Client['once']>,
    isRepeated = false,
  ): Promise<Attempt> {
    const since = Date.now()
    const outcome = await send(url, method, path, body, { 'x-api-key': apiKey, ...headers }).then(
      (reply): Outcome => ({ reply }),
      (error: Error): Outcome => ({ error }),
    )
    const symptom = symptomOf(outcome)
    if (symptom === null) interruptions.countAnswer()
    const isExplained =
      symptom !== null && ((isRepeated && isClaimed(outcome)) || interruptions.explain(url, since, symptom))
    const fault = faultOf(outcome)
    if (fault !== null && !isExplained) unexpected.push(`${method} ${path}: ${fault} (${url})`)
    return { outcome, isExplained }
  }

  return {
    unexpectedReplies: () => unexpected,
    once: async (...request) => replyOf((await attempt(request)).outcome),
    async call(method, path, body, key = randomUUID()) {
      const deadline = Date.now() + PATIENCE_MS
      for (let isRepeated = false; ; isRepeated = true) {
        const url = urls[turn++ % urls.length] ?? ''
        const headers = method === 'POST' ? { 'idempotency-key': key } : {}
        const { outcome, isExplained } = await attempt([url, method, path, body, headers], isRepeated)
        if (!isExplained || Date.now() > deadline) return replyOf(outcome)
        await delay(150)
      }
    },
  }
}

function replyOf(outcome: Outcome): Reply {
  if ('error' in outcome) throw outcome.error
  return outcome.reply
}

function symptomOf(outcome: Outcome): Symptom | null {
  if ('error' in outcome) return isLostConnection(outcome.error) ? 'lost' : null
  return outcome.reply.status === 503 && outcome.reply.retryAfter !== null ? '503' : null
}

/** A killed process leaves its claim of the key, until the lease of the claim ends. */
const isClaimed = (outcome: Outcome): boolean =>
  'reply' in outcome &&
  outcome.reply.status === 503 &&
  outcome.reply.text.includes('a request with this Idempotency-Key is still running')

function faultOf(outcome: Outcome): string | null {
  if ('error' in outcome) return outcome.error.message
  const { status, text } = outcome.reply
  return status >= 500 ? `${status} ${text.slice(0, 300)}` : null
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
