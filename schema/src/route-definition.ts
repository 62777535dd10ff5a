import type { TSchema } from 'typebox'
import type { NotFoundExample } from './not-found.ts'

export type RouteScope =
  | 'rates:read'
  | 'exchange:read'
  | 'exchange:create'
  | 'defi:build'
  | 'defi:send'
  | 'partner:read'
  | 'webhooks:manage'
  | 'fees:manage'

/** Headers that only some responses have; see `responseHeaders`. */
export type ResponseHeader = 'ETag' | 'Last-Modified' | 'Link' | 'X-Accel-Buffering' | 'X-Total-Count'

export type RouteResponse = Readonly<{
  description: string
  schema?: TSchema
  /** Other schemas of this response, for other forms of the request. */
  alternatives?: readonly TSchema[]
  contentType?: string
  /** Example of the same rows as CSV, where `format=csv` or `Accept: text/csv` asks for it. */
  csv?: string
  headers?: readonly ResponseHeader[]
  /** For bodies without a schema. */
  example?: string
}>

/** One API operation. The server, the documentation and the tests use the same table. */
export type RouteDefinition = Readonly<{
  method: 'GET' | 'HEAD' | 'POST' | 'DELETE'
  /** Parameters are in braces, as in OpenAPI. */
  path: string
  tag: 'Cross-chain' | 'DeFi' | 'Events' | 'Rates' | 'Service' | 'Sandbox' | 'Partner'
  summary: string
  description: string
  /** `public`: no key. `any`: any valid key. Otherwise a key with this scope. */
  access: 'public' | 'any' | RouteScope
  /** Publishable keys may call it. */
  isPublishable?: true
  /** Public, and pages of every origin may read the answers. */
  isOpenToPages?: true
  /** Cost in the rate limit: status 1, quote 5, create 50. */
  cost: number
  /** Parameters of the path. The service checks them: a wrong one is not found. */
  params?: TSchema
  query?: TSchema
  body?: TSchema
  success: Readonly<Record<number, RouteResponse>>
  /** Statuses that answer with `ErrorBody`. */
  errors: readonly number[]
  /** Example of its 404; required if it has one. */
  notFound?: NotFoundExample
}>

export const publicErrors = [400, 405, 408, 414, 429, 431, 500, 503] as const
export const keyedErrors = [400, 401, 403, 405, 408, 414, 429, 431, 500, 503] as const
export const notModified: RouteResponse = {
  description: 'Not modified: the ETag sent in `If-None-Match` is current.',
  headers: ['ETag'],
}
export const xml = 'application/xml'
