import type { ErrorCode } from '../../../src/core/domain/errors.ts'
import type { Family } from '../../../src/core/domain/network.ts'
import { goodOrder, goodRate, type TestApp } from './app-for-tests.ts'

export type Sent = {
  method?: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'TRACE' | 'HEAD'
  url: string
  headers?: Record<string, string>
  body?: string | Buffer
}
export type Answer = { status: number; headers: Record<string, string>; body: string }

/** An executable row of the corpus. Each answer must have one of `status` and one of `codes`. */
export type BadInput =
  | {
      id: string
      requests: readonly Sent[] | ((scenario: TestApp) => Promise<readonly Sent[]>)
      status: readonly number[]
      codes?: readonly ErrorCode[]
      /** Additional assertions. */
      also?: (answers: readonly Answer[], scenario: TestApp) => void
    }
  /** Raw bytes for a socket: requests that no HTTP client sends. */
  | { id: string; bytes: readonly string[]; status: readonly number[]; codes?: readonly ErrorCode[] }
  /**
   * For a row that the HTTP layer alone cannot test: the file that tests it. A test of that file has the id in its title.
   * `missing`: the input is rejected, but with another answer than the corpus expects, because the row's chain family has no
   * adapter. The test fails as soon as it has one.
   */
  | { id: string; elsewhere: string; missing?: Missing }

/** The chain family without an adapter in the half of the row's endpoint. */
export type Missing = Readonly<{ reason: string; family: Family }>

/** Tests the whole app with database, chains and keys. */
export const inTheApp = 'test/interface/bad-inputs.test.ts'
/** Tests swaps with pools, a router contract and a node. */
export const inSwaps = 'server/test/swap/api/bad-inputs.test.ts'
/** Tests rows about chain families without an adapter. */
export const inUnserved = 'test/interface/unserved-inputs.ts'
/** The answer to a create is PAIR_UNAVAILABLE for each input of this family, valid or not. */
export const noAdapter = (family: Family): { missing: Missing } => ({
  missing: { family, reason: 'exchanges have no adapter that parses its addresses' },
})

export const key = { 'x-api-key': 'sandbox' }
export const json = { ...key, 'content-type': 'application/json' }
const rates = '/v1/cross-chain/rate'
const exchanges = '/v1/cross-chain/exchange'

/** Rate requests: the valid request, once with each change. `null` removes a parameter. */
export function requestRate(...changes: readonly Record<string, string | null>[]): Sent[] {
  return changes.map((change) => {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...goodRate, ...change })) if (value !== null) query.set(name, value)
    return { url: `${rates}?${query}`, headers: key }
  })
}

/** Private rate requests: the valid request, once with each change. `null` removes a parameter. */
export function requestPrivateRate(...changes: readonly Record<string, string | null>[]): Sent[] {
  return requestRate(...changes.map((change) => ({ privateType: 'efficient', ...change }))).map((sent) => ({
    ...sent,
    url: sent.url.replace(rates, `${rates}/private`),
  }))
}

export function requestCreate(...changes: readonly Record<string, unknown>[]): Sent[] {
  return changes.map((change) => {
    const members = Object.entries({ ...goodOrder, ...change }).filter(([, value]) => value !== undefined)
    return { method: 'POST', url: exchanges, headers: json, body: JSON.stringify(Object.fromEntries(members)) }
  })
}

export function requestPrivateCreate(...changes: readonly Record<string, unknown>[]): Sent[] {
  return requestCreate(...changes.map((change) => ({ flow: undefined, ...change }))).map((sent) => ({
    ...sent,
    url: `${exchanges}/private`,
  }))
}

/** Creates with raw bodies. */
export function requestRawCreate(...bodies: readonly (string | Buffer)[]): Sent[] {
  return bodies.map((body) => ({ method: 'POST', url: exchanges, headers: json, body }))
}

export function requestStatus(...queries: readonly string[]): Sent[] {
  return queries.map((query) => ({ url: `${exchanges}/status?${query}`, headers: key }))
}

export function requestList(...queries: readonly string[]): Sent[] {
  return queries.map((query) => ({ url: `${exchanges}/list?${query}`, headers: key }))
}

/** A valid request to every route that needs an API key, but without the key. */
export const keyedRoutes: readonly Sent[] = [
  { url: '/v1/cross-chain/available-currencies' },
  { url: `${rates}?${new URLSearchParams(goodRate)}` },
  { url: `${exchanges}/status?id=x` },
  { url: `${exchanges}/status/standard?id=x` },
  { url: `${exchanges}/list` },
  { method: 'POST', url: exchanges, headers: { 'content-type': 'application/json' }, body: JSON.stringify(goodOrder) },
]

export function requestKeyedRoutes(headers: Record<string, string>): Sent[] {
  return keyedRoutes.map((route) => ({ ...route, headers: { ...route.headers, ...headers } }))
}
