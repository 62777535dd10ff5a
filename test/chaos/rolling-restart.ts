import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { createBody, pair } from '../support/create-body.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { until } from '../support/until.ts'
import type { Interruptions } from './interruptions.ts'
import type { Run } from './run.ts'

export type RestartResult = Readonly<{ answered: number; failed: readonly string[]; created: readonly string[] }>

type PartnerRequest = Readonly<{ method: 'GET' | 'POST'; path: string; body: unknown; key: string }>
type Outcome = { body: { id: string } } | { retryAfterMs: number } | { failed: string }

/** Interval of the load balancer's health checks; must be much shorter than `clocks.drain`. */
const READY_EVERY_MS = 100
const TIMEOUT_MS = PATIENCE_MS / 2
const RATE = `/v1/cross-chain/rate?${new URLSearchParams({ ...pair, amount: '0.01', flow: 'standard' })}`

/**
 * Stops every process with SIGTERM and starts it again, one after the other, while requests go to the ready processes in
 * turn, as behind a load balancer. A 503 of a process that ends or starts is repeated after its `Retry-After`. Every other error is a
 * failure, refused and reset connections included, because a draining process must still answer.
 */
export async function restartOneByOne({ fleet, customers }: Run, perSecond: number): Promise<RestartResult> {
  const { interruptions } = fleet
  const urls = fleet.apis.map(({ url }) => url ?? '')
  const failed: string[] = []
  const created: string[] = []
  const pending = new Set<Promise<void>>()
  let answered = 0
  let isOver = false
  let ready = urls

  const healthChecks = (async () => {
    while (!isOver) {
      const states = await Promise.all(urls.map(isReady))
      ready = urls.filter((_, n) => states[n])
      await delay(READY_EVERY_MS)
    }
  })()

  const sendWithRetries = async (n: number) => {
    const request = createRequest(n, created.at(-1))
    const deadline = performance.now() + PATIENCE_MS
    for (let attempts = 0; performance.now() < deadline; attempts++) {
      const url = ready[(n + attempts) % ready.length]
      const outcome = url === undefined ? { retryAfterMs: READY_EVERY_MS } : await sendOnce(url, request, interruptions)
      if ('failed' in outcome) return void failed.push(`${request.method} ${request.path}: ${outcome.failed}`)
      if ('body' in outcome) {
        answered++
        if (request.method === 'POST') created.push(outcome.body.id)
        return
      }
      await delay(outcome.retryAfterMs)
    }
    failed.push(`${request.method} ${request.path}: no answer within ${PATIENCE_MS} ms`)
  }

  const load = (async () => {
    for (let n = 0; !isOver; n++) {
      const one: Promise<void> = sendWithRetries(n).catch((error: Error) => void failed.push(error.message))
      pending.add(one)
      void one.finally(() => pending.delete(one))
      await delay(1_000 / perSecond)
    }
  })()
  const order = { from: 'btc@btc', to: 'eth@eth', amount: '0.004' }
  const purchases = Promise.all(Array.from({ length: 4 }, () => customers.buy(order)))
  await until('requests are answered', () => answered > 0)
  for (const one of fleet.all) {
    await one.end('SIGTERM')
    await one.start()
  }
  isOver = true
  await Promise.all([load, healthChecks])
  await Promise.all(pending)
  await purchases
  return { answered, failed, created }
}

async function isReady(url: string): Promise<boolean> {
  const init = { headers: { connection: 'close' }, signal: AbortSignal.timeout(TIMEOUT_MS) }
  return fetch(`${url}/health/ready`, init).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Of five requests one creates an exchange, two read a rate, and two read the status of the newest exchange. */
function createRequest(n: number, newest = randomUUID() as string): PartnerRequest {
  const key = randomUUID()
  if (n % 5 > 0) return { method: 'GET', path: n % 2 === 0 ? RATE : statusOf(newest), body: undefined, key }
  const body = { ...createBody, address: privateKeyToAddress(generatePrivateKey()) }
  return { method: 'POST', path: '/v1/cross-chain/exchange', body, key }
}

const statusOf = (id: string): string => `/v1/cross-chain/exchange/status?id=${id}`

async function sendOnce(
  url: string,
  { method, path, body, key }: PartnerRequest,
  interruptions: Interruptions,
): Promise<Outcome> {
  const since = Date.now()
  const headers: Record<string, string> = { 'x-api-key': 'sandbox', connection: 'close' }
  if (method === 'POST') Object.assign(headers, { 'content-type': 'application/json', 'idempotency-key': key })
  const payload = method === 'POST' ? { body: JSON.stringify(body) } : {}
  let answer: Response
  try {
    answer = await fetch(url + path, { method, headers, ...payload, signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : error
    return { failed: `no answer: ${String(cause)}` }
  }
  const retryAfter = answer.headers.get('retry-after')
  if (answer.status === 503 && retryAfter !== null && interruptions.explain(url, since, '503'))
    return { retryAfterMs: Number(retryAfter) * 1_000 }
  interruptions.countAnswer()
  const text = await answer.text()
  if (answer.ok || (answer.status === 404 && method === 'GET')) return { body: JSON.parse(text) }
  return { failed: `${answer.status} ${text.slice(0, 200)}` }
}
