import type { ErrorCode } from '../../../src/core/domain/errors.ts'
import { goodOrder, goodRate, type TestApp } from './app-for-tests.ts'

export type Sent = {
  method?: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'TRACE' | 'HEAD'
  url: string
  headers?: Record<string, string>
  body?: string | Buffer
}
export type Answer = { status: number; headers: Record<string, string>; body: string }

/** One row of the corpus, made executable. `status` and `codes` are what the row expects, each answer one of them. */
export type BadInput =
  | {
      id: string
      requests: readonly Sent[] | ((scenario: TestApp) => Promise<readonly Sent[]>)
      status: readonly number[]
      codes?: readonly ErrorCode[]
      /** Further checks; may throw. */
      also?: (answers: readonly Answer[], scenario: TestApp) => void
    }
  /** Bytes on a real socket, for what no HTTP client would send. `{port}` stands for the port. */
  | { id: string; bytes: readonly string[]; status: readonly number[]; codes?: readonly ErrorCode[] }
  /** Set where the HTTP layer alone cannot decide: the file that tests it. */
  | { id: string; elsewhere: string }

/** Over the composed app, with its database, chains and keys. */
export const inTheApp = 'test/interface/bad-inputs.test.ts'
export const laterIssue = 'a later issue: private exchanges have no routes yet (their schemas are in schema/)'
/** The codecs come with their families; until then the app says PAIR_UNAVAILABLE, which `inTheApp` checks. */
export const laterFamily = 'a later issue: no adapter of this family yet'

export const key = { 'x-api-key': 'sandbox' }
export const json = { ...key, 'content-type': 'application/json' }
const rates = '/v1/cross-chain/rate'
const exchanges = '/v1/cross-chain/exchange'

/** The same good request, once with each of these changes. `null` takes a member away. */
export function rate(...changes: readonly Record<string, string | null>[]): Sent[] {
  return changes.map((change) => {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...goodRate, ...change })) if (value !== null) query.set(name, value)
    return { url: `${rates}?${query}`, headers: key }
  })
}

export function create(...changes: readonly Record<string, unknown>[]): Sent[] {
  return changes.map((change) => {
    const members = Object.entries({ ...goodOrder, ...change }).filter(([, value]) => value !== undefined)
    return { method: 'POST', url: exchanges, headers: json, body: JSON.stringify(Object.fromEntries(members)) }
  })
}

/** The create route with a body as it stands. */
export function createRaw(...bodies: readonly (string | Buffer)[]): Sent[] {
  return bodies.map((body) => ({ method: 'POST', url: exchanges, headers: json, body }))
}

export function status(...queries: readonly string[]): Sent[] {
  return queries.map((query) => ({ url: `${exchanges}/status?${query}`, headers: key }))
}

export function list(...queries: readonly string[]): Sent[] {
  return queries.map((query) => ({ url: `${exchanges}/list?${query}`, headers: key }))
}

/** Every keyed route, well-formed except for its headers. */
export const keyedRoutes: readonly Sent[] = [
  { url: '/v1/cross-chain/available-currencies' },
  { url: `${rates}?${new URLSearchParams(goodRate)}` },
  { url: `${exchanges}/status?id=x` },
  { url: `${exchanges}/status/standard?id=x` },
  { url: `${exchanges}/list` },
  { method: 'POST', url: exchanges, headers: { 'content-type': 'application/json' }, body: JSON.stringify(goodOrder) },
]

export function onEveryKeyedRoute(headers: Record<string, string>): Sent[] {
  return keyedRoutes.map((route) => ({ ...route, headers: { ...route.headers, ...headers } }))
}
