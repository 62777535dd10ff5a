import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Run } from './run.ts'

export type Restarted = Readonly<{ answered: number; failed: readonly string[]; created: readonly string[] }>

type Ask = Readonly<{ method: 'GET' | 'POST'; path: string; body: unknown; key: string }>
/** `again`: never begun, as far as the client may know. `reset`: the connection ended without a word. */
type Outcome = { body: { id: string } } | 'again' | 'reset' | { failed: string }

const TRIES_MAX = 40
const TIMEOUT_MS = 20_000
const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const RATE = `/v1/cross-chain/rate?${new URLSearchParams({ ...pair, amount: '0.01', flow: 'standard' })}`

/**
 * Asks at this rate while every process is stopped by SIGTERM and started again, one after the other. What a client may
 * meet: a refused connection, or one that the kernel had taken and the process had not, and then the other process; or a
 * 503 with `Retry-After`. Everything else has failed.
 */
export async function restartOneByOne({ fleet, customers }: Run, perSecond: number): Promise<Restarted> {
  const urls = fleet.apis.map(({ url }) => url ?? '')
  const failed: string[] = []
  const created: string[] = []
  const asking = new Set<Promise<void>>()
  let answered = 0
  let over = false

  const ask = async (n: number) => {
    const wanted = question(n, created.at(-1))
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const outcome = await attempt(urls[(n + tries) % urls.length] ?? '', wanted)
      if (typeof outcome === 'object' && 'failed' in outcome)
        return void failed.push(`${wanted.method} ${wanted.path}: ${outcome.failed}`)
      if (typeof outcome === 'object') {
        answered++
        if (wanted.method === 'POST') created.push(outcome.body.id)
        return
      }
      // The backlog of a socket that is closed is reset by the kernel. Only one that nobody had begun to serve may be.
      const done = 'select 1 from idempotency_keys where key = $1'
      if (outcome === 'reset' && tries === 0 && (await fleet.database.query(done, [wanted.key])).length > 0)
        return void failed.push(`${wanted.method} ${wanted.path}: done, and not answered`)
      await delay(100)
    }
    failed.push(`${wanted.method} ${wanted.path}: never answered`)
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
  await load
  await Promise.all(asking)
  await bought
  return { answered, failed, created }
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
    if (cause === 'ECONNREFUSED') return 'again'
    return cause === 'ECONNRESET' ? 'reset' : { failed: `no answer: ${String(cause)}` }
  }
  if (answer.status === 503 && answer.headers.has('retry-after')) return 'again'
  const text = await answer.text()
  if (answer.ok || (answer.status === 404 && method === 'GET')) return { body: JSON.parse(text) }
  return { failed: `${answer.status} ${text.slice(0, 200)}` }
}
