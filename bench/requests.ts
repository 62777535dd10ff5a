import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Request } from './load.ts'
import { API_KEY, exchangeId } from './seed-database.ts'

export const RATE_PATH = '/v1/cross-chain/rate'
export const EXCHANGE_PATH = '/v1/cross-chain/exchange'
export const STATUS_PATH = '/v1/cross-chain/exchange/status/standard'

const QUOTE_VARIANTS = 2_000
/** Requests for rateIds that run at once. */
const RATE_CONNECTIONS = 16

type Pair = readonly [fromCurrency: string, fromNetwork: string, toCurrency: string, toNetwork: string]

export const onePair: Pair = ['eth', 'eth', 'btc', 'btc']
/** Within the limits of the example: at most $50,000, 20 ETH and 1 BTC. */
const directions: readonly Readonly<{ pair: Pair; amount: string }>[] = [
  { pair: onePair, amount: '1.' },
  { pair: ['btc', 'btc', 'eth', 'eth'], amount: '0.1' },
  { pair: ['bnb', 'bsc', 'eth', 'base'], amount: '1.' },
  { pair: ['eth', 'base', 'btc', 'btc'], amount: '1.' },
  { pair: ['bnb', 'bsc', 'eth', 'eth'], amount: '1.' },
  { pair: ['usdc', 'eth', 'eth', 'base'], amount: '1000.' },
  { pair: ['btc', 'btc', 'usdt', 'bsc'], amount: '0.1' },
  { pair: ['eth', 'base', 'bnb', 'bsc'], amount: '1.' },
]

const HEADERS = `host: 127.0.0.1\r\nx-api-key: ${API_KEY}\r\n`

/** `client`: the address that the proxy names, where the limit is one of clients. */
export function get(path: string, { isTimed = false, client }: { isTimed?: boolean; client?: string } = {}): Request {
  const named = client === undefined ? '' : `x-forwarded-for: ${client}\r\n`
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\n${HEADERS}${named}accept: application/json\r\n\r\n`)
  return { bytes, status: 200, isTimed }
}

function post(path: string, body: object, idempotencyKey: string): Request {
  const text = JSON.stringify(body)
  const head = `POST ${path} HTTP/1.1\r\n${HEADERS}idempotency-key: ${idempotencyKey}\r\ncontent-type: application/json\r\n`
  const bytes = Buffer.from(`${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  return { bytes, status: 201, isTimed: false }
}

export const fetchFrom = (port: number, path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': API_KEY } })

/** Returns the requests in turn, without end. */
export function cycle(requests: readonly Request[]): () => Request | null {
  let next = Math.floor(Math.random() * requests.length)
  return () => requests[next++ % requests.length] ?? null
}

/** Returns each request once. */
export function once(requests: readonly Request[]): () => Request | null {
  let next = 0
  return () => requests[next++] ?? null
}

export const quotePath = (
  [fromCurrency, fromNetwork, toCurrency, toNetwork]: Pair,
  amount: string,
  flow = 'standard',
): string => `${RATE_PATH}?${new URLSearchParams({ fromCurrency, fromNetwork, toCurrency, toNetwork, amount, flow })}`

/** Quotes in eight directions, each with a different amount. */
export const quoteRequests: readonly Request[] = Array.from({ length: QUOTE_VARIANTS }, (_, n) => {
  const { pair, amount } = directions[n % directions.length] ?? { pair: onePair, amount: '1.' }
  return get(quotePath(pair, `${amount}${String(n + 1).padStart(5, '0')}`), { isTimed: true })
})

/** Public routes have a limit for each client address, 600 a minute. So many clients may ask 5000 times a second. */
const CLIENTS = 500
export const feedRequests: readonly Request[] = Array.from({ length: CLIENTS }, (_, n) =>
  get('/v1/rates', { client: `198.18.${n >> 8}.${n & 255}` }),
)

/** Deposits in a UTXO family and in an account family, with small amounts, so that the reserve covers every fixed rate. */
const createPairs = [
  { pair: ['btc', 'btc', 'eth', 'eth'], whole: '0.01', refundAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' },
  { pair: ['bnb', 'bsc', 'eth', 'eth'], whole: '0.5', refundAddress: `0x${'5e'.repeat(20)}` },
] as const

/** A create as a careful partner sends it. */
type Create = Readonly<{ body: Readonly<Record<string, string>>; ratePath: string }>

function createBody(n: number): Create {
  const { pair, whole, refundAddress } = createPairs[n % 2 === 0 ? 0 : 1]
  const amount = `${whole}${String((n % 9_000) + 1).padStart(4, '0')}`
  const recipient = createHash('sha256').update(`recipient ${n}`).digest('hex').slice(0, 40)
  const [fromCurrency, fromNetwork, toCurrency, toNetwork] = pair
  return {
    ratePath: quotePath(pair, amount, 'fixed-rate'),
    body: {
      ...{ fromCurrency, fromNetwork, toCurrency, toNetwork },
      ...{ fromAmount: amount, flow: 'fixed-rate', address: `0x${recipient}`, refundAddress },
    },
  }
}

const RATE_TRIES = 10

/** This is not measured, so a server that is overloaded for a moment is asked again. */
async function readRateId(port: number, path: string): Promise<string> {
  for (let left = RATE_TRIES; ; left--) {
    const response = await fetchFrom(port, path)
    const text = await response.text()
    const { rateId } = JSON.parse(text) as { rateId?: string | null }
    if (rateId) return rateId
    if (response.status !== 503 || left === 1)
      throw new Error(`no rateId for ${path}: ${response.status} ${text.slice(0, 300)}`)
    await delay(500)
  }
}

let created = 0

/** Creates with an Idempotency-Key, a rateId that was just issued by the server at `port`, and a refund address. */
export async function createRequests(port: number, count: number): Promise<readonly Request[]> {
  const creates = Array.from({ length: count }, () => createBody(created++))
  const requests: Request[] = []
  const remaining = creates.values()
  await Promise.all(
    Array.from({ length: RATE_CONNECTIONS }, async () => {
      // The connections share one iterator.
      for (const create of remaining) {
        const rateId = await readRateId(port, create.ratePath)
        requests.push(post(EXCHANGE_PATH, { ...create.body, rateId }, randomUUID()))
      }
    }),
  )
  return requests
}

/** The same creates for a bare route, which ignores the rateId. */
export function bareCreateRequests(path: string, count: number): readonly Request[] {
  const rateId = 'A'.repeat(96)
  return Array.from({ length: count }, () => post(path, { ...createBody(created++).body, rateId }, randomUUID()))
}

/** Status polls of `count` exchanges, spread evenly over a table of `rows`, in shuffled order. Another `part` polls other exchanges. */
export function pollRequests(path: string, rows: number, count: number, part = 0): readonly Request[] {
  const step = rows / count
  return Array.from({ length: count }, (_, n) => {
    const number = 1 + Math.floor(((n * 619) % count) * step + (part % step))
    return get(`${path}?id=${exchangeId(number)}`)
  })
}

/** Of each `quotes + polls + creates` requests of a connection. Partners quote more often than they poll or create. */
export const MIX = { quotes: 100, polls: 4, creates: 1 } as const

/** Quotes, polls and creates in the proportion of `MIX`, evenly mixed. Ends when there are no more creates. */
export function mix(polls: readonly Request[], creates: readonly Request[]): () => Request | null {
  const [nextQuote, nextPoll, nextCreate] = [cycle(quoteRequests), cycle(polls), once(creates)]
  const cycleLength = MIX.quotes + MIX.polls + MIX.creates
  const pollEvery = Math.floor(cycleLength / MIX.polls)
  let sent = 0
  return () => {
    const at = sent++ % cycleLength
    if (at < MIX.creates) return nextCreate()
    return at % pollEvery === pollEvery - 1 ? nextPoll() : nextQuote()
  }
}
