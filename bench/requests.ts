import { createHash, randomUUID } from 'node:crypto'
import type { Request } from './load.ts'
import { exchangeId } from './seed-database.ts'

export const RATE_PATH = '/v1/cross-chain/rate'
export const EXCHANGE_PATH = '/v1/cross-chain/exchange'
export const STATUS_PATH = '/v1/cross-chain/exchange/status/standard'

const QUOTE_VARIANTS = 2_000
/** Requests for rateIds that run at once. */
const RATE_CONNECTIONS = 16

const pairs = [
  ['eth', 'eth', 'btc', 'btc'],
  ['btc', 'btc', 'eth', 'eth'],
  ['ltc', 'ltc', 'eth', 'arbitrum'],
  ['eth', 'base', 'btc', 'btc'],
  ['bnb', 'bsc', 'eth', 'eth'],
  ['avax', 'cchain', 'ltc', 'ltc'],
  ['doge', 'doge', 'eth', 'eth'],
  ['eth', 'op', 'bnb', 'bsc'],
] as const

type Pair = readonly [fromCurrency: string, fromNetwork: string, toCurrency: string, toNetwork: string]

const HEADERS = 'host: 127.0.0.1\r\nx-api-key: sandbox\r\n'

export function get(path: string, { isTimed = false }: { isTimed?: boolean } = {}): Request {
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\n${HEADERS}accept: application/json\r\n\r\n`)
  return { bytes, status: 200, isTimed }
}

function post(path: string, body: object, idempotencyKey: string): Request {
  const text = JSON.stringify(body)
  const head = `POST ${path} HTTP/1.1\r\n${HEADERS}idempotency-key: ${idempotencyKey}\r\ncontent-type: application/json\r\n`
  const bytes = Buffer.from(`${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  return { bytes, status: 201, isTimed: false }
}

export const fetchFrom = (port: number, path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': 'sandbox' } })

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
export const onePair = pairs[0]

/** Quotes in eight directions, each with a different amount. */
export const quoteRequests: readonly Request[] = Array.from({ length: QUOTE_VARIANTS }, (_, n) =>
  get(quotePath(pairs[n % pairs.length] ?? onePair, `1.${String(n + 1).padStart(6, '0')}`), { isTimed: true }),
)

/** Deposits in a UTXO family and in an account family, with small amounts, so that the reserve covers every fixed rate. */
const createPairs = [
  { pair: ['btc', 'btc', 'eth', 'eth'], whole: '0.01', refundAddress: 'bcrt1qq2yshcmzdlznnpxx258xswqlmqcxjs4dssfxt2' },
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
        const response = await fetchFrom(port, create.ratePath)
        const { rateId } = (await response.json()) as { rateId?: string | null }
        if (!rateId) throw new Error(`no rateId for ${create.ratePath}: status ${response.status}`)
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
