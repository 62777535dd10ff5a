import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Run } from './run.ts'

export type Restarted = Readonly<{ answered: number; failed: readonly string[]; created: readonly string[] }>

/**
 * Asks at this rate while every process is stopped by SIGTERM and started again, one after the other. What a client may
 * meet: a refused connection, and then the other process; or a 503 with `Retry-After`. Everything else has failed.
 */
export async function restartOneByOne({ fleet, customers }: Run, perSecond: number): Promise<Restarted> {
  const urls = fleet.apis.map(({ url }) => url ?? '')
  const failed: string[] = []
  const created: string[] = []
  const asking = new Set<Promise<void>>()
  let answered = 0
  let over = false

  const ask = async (n: number) => {
    const creates = n % 5 === 0
    const body = creates ? { ...order, address: privateKeyToAddress(generatePrivateKey()) } : undefined
    const [method, path] = creates ? ['POST', '/v1/cross-chain/exchange'] : ['GET', n % 2 === 0 ? RATE : `/v1/cross-chain/exchange/status?id=${created.at(-1) ?? randomUUID()}`]
    const key = randomUUID()
    for (let tries = 0; tries < 40; tries++) {
      const outcome = await attempt(urls[(n + tries) % urls.length] ?? '', method ?? '', path ?? '', body, key)
      if (typeof outcome !== 'string') {
        answered++
        if (creates) created.push(outcome.id)
        return
      }
      if (outcome !== 'again') return void failed.push(`${method} ${path}: ${outcome}`)
      await delay(100)
    }
    failed.push(`${method} ${path}: never answered`)
  }

  const load = (async () => {
    for (let n = 0; !over; n++) {
      const one: Promise<void> = ask(n).catch((error: Error) => void failed.push(error.message))
      asking.add(one)
      void one.finally(() => asking.delete(one))
      await delay(1_000 / perSecond)
    }
  })()
  const bought = Promise.all(Array.from({ length: 4 }, () => customers.buy({ from: 'btc@btc', to: 'eth@eth', amount: '0.004' })))
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

const order = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', fromAmount: '0.01', flow: 'standard' }
const RATE = `/v1/cross-chain/rate?${new URLSearchParams({ fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', amount: '0.01', flow: 'standard' })}`

/** A body that came, `again`, or what is wrong. */
async function attempt(url: string, method: string, path: string, body: unknown, key: string): Promise<{ id: string } | 'again' | string> {
  const headers: Record<string, string> = { 'x-api-key': 'sandbox', connection: 'close' }
  if (body !== undefined) Object.assign(headers, { 'content-type': 'application/json', 'idempotency-key': key })
  let answer: Response
  try {
    answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }), signal: AbortSignal.timeout(20_000) })
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : error
    return cause === 'ECONNREFUSED' ? 'again' : `no answer: ${String(cause)}`
  }
  if (answer.status === 503 && answer.headers.has('retry-after')) return 'again'
  const text = await answer.text()
  if (answer.ok || (answer.status === 404 && method === 'GET')) return JSON.parse(text) as { id: string }
  return `${answer.status} ${text.slice(0, 200)}`
}
