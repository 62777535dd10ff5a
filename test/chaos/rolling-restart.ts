import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Run } from './run.ts'

export type Restarted = Readonly<{ answered: number; failed: readonly string[]; created: readonly string[] }>

type Ask = Readonly<{ method: 'GET' | 'POST'; path: string; body: unknown; key: string }>
type Outcome = { body: { id: string } } | { againMs: number } | { failed: string }

/** How long one request is repeated. */
const PATIENCE_MS = 60_000
/** How often the balancer asks who is ready: several times within what a process drains. */
const READY_EVERY_MS = 100
const TIMEOUT_MS = 20_000
const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const RATE = `/v1/cross-chain/rate?${new URLSearchParams({ ...pair, amount: '0.01', flow: 'standard' })}`

/**
 * Asks at this rate, as a balancer does: processes that say they are ready, in turn, while every one is stopped by SIGTERM
 * and started again, one after the other. After a 503 with `Retry-After` it is asked again, when that says. Everything else
 * has failed, a refused or reset connection too: who drains takes what comes until nothing does.
 */
export async function restartOneByOne({ fleet, customers }: Run, perSecond: number): Promise<Restarted> {
  const urls = fleet.apis.map(({ url }) => url ?? '')
  const failed: string[] = []
  const created: string[] = []
  const asking = new Set<Promise<void>>()
  let answered = 0
  let over = false
  let ready = urls

  const balance = (async () => {
    while (!over) {
      const states = await Promise.all(urls.map(isReady))
      ready = urls.filter((_, n) => states[n])
      await delay(READY_EVERY_MS)
    }
  })()

  const ask = async (n: number) => {
    const request = question(n, created.at(-1))
    const until = performance.now() + PATIENCE_MS
    for (let tries = 0; performance.now() < until; tries++) {
      const url = ready[(n + tries) % ready.length]
      const outcome = url === undefined ? { againMs: READY_EVERY_MS } : await attempt(url, request)
      if ('failed' in outcome) return void failed.push(`${request.method} ${request.path}: ${outcome.failed}`)
      if ('body' in outcome) {
        answered++
        if (request.method === 'POST') created.push(outcome.body.id)
        return
      }
      await delay(outcome.againMs)
    }
    failed.push(`${request.method} ${request.path}: never answered`)
  }

  const load = (async () => {
    for (let n = 0; !over; n++) {
      const one: Promise<void> = ask(n).catch((error: Error) => void failed.push(error.message))
      asking.add(one)
      void one.finally(() => asking.delete(one))
      await delay(1_000 / perSecond)
    }
  })()
  const order = { from: 'btc@btc', to: 'eth@eth', amount: '0.004' }
  const bought = Promise.all(Array.from({ length: 4 }, () => customers.buy(order)))
  await delay(1_000)
  for (const one of fleet.all) {
    await one.end('SIGTERM')
    await one.start()
  }
  over = true
  await Promise.all([load, balance])
  await Promise.all(asking)
  await bought
  return { answered, failed, created }
}

async function isReady(url: string): Promise<boolean> {
  const asked = { headers: { connection: 'close' }, signal: AbortSignal.timeout(TIMEOUT_MS) }
  return fetch(`${url}/health/ready`, asked).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** One of five creates an exchange, two ask for a rate, two for the status of the newest. */
function question(n: number, newest = randomUUID() as string): Ask {
  const key = randomUUID()
  if (n % 5 > 0) return { method: 'GET', path: n % 2 === 0 ? RATE : statusOf(newest), body: undefined, key }
  const body = { ...pair, fromAmount: '0.01', flow: 'standard', address: privateKeyToAddress(generatePrivateKey()) }
  return { method: 'POST', path: '/v1/cross-chain/exchange', body, key }
}

const statusOf = (id: string): string => `/v1/cross-chain/exchange/status?id=${id}`

async function attempt(url: string, { method, path, body, key }: Ask): Promise<Outcome> {
  const headers: Record<string, string> = { 'x-api-key': 'sandbox', connection: 'close' }
  if (method === 'POST') Object.assign(headers, { 'content-type': 'application/json', 'idempotency-key': key })
  const sent = method === 'POST' ? { body: JSON.stringify(body) } : {}
  let answer: Response
  try {
    answer = await fetch(url + path, { method, headers, ...sent, signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : error
    return { failed: `no answer: ${String(cause)}` }
  }
  const retryAfter = answer.headers.get('retry-after')
  if (answer.status === 503 && retryAfter !== null) return { againMs: Number(retryAfter) * 1_000 }
  const text = await answer.text()
  if (answer.ok || (answer.status === 404 && method === 'GET')) return { body: JSON.parse(text) }
  return { failed: `${answer.status} ${text.slice(0, 200)}` }
}
