import { exampleOf, type Json, type JsonObject, toPlainJson } from './openapi-schemas.ts'
import type { RouteDefinition, RouteResponse } from './route-definition.ts'

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })
const count = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
})

/** Headers of responses, by name. */
export const componentHeaders: JsonObject = {
  'X-Request-Id': text('Identifies this request. Include it in support requests.', '3f1c9a0be7d24c55-1k'),
  RateLimit: text(
    'Remaining weight in this minute and seconds until it is full again. Absent if the request was refused before its weight was counted.',
    '"minute";r=5995;t=1',
  ),
  'RateLimit-Policy': text('Weight per minute and window in seconds.', '"minute";q=6000;w=60'),
  'RateLimit-Limit': count('Weight per minute, by the name of earlier drafts.', 6000),
  'RateLimit-Remaining': count('Remaining weight, by the name of earlier drafts.', 0),
  'RateLimit-Reset': count('Seconds until the weight is full again, by the name of earlier drafts.', 9),
  'Retry-After': count('Seconds after which the request may succeed.', 5),
  Allow: text('Methods of this path.', 'GET, HEAD'),
  ETag: text('Identifies this state of the resource; send it in `If-None-Match`.', 'W/"5hJ0oZ1kq8gVtXb2mYcN7w"'),
  'Last-Modified': text('Time of the last change.', 'Fri, 02 Jan 2026 03:04:05 GMT'),
  Link: text(
    'URLs of the first, previous, next and last page (RFC 8288), if a page was requested.',
    '</v1/cross-chain/exchange/list?page=2&limit=100>; rel="next"',
  ),
  'X-Accel-Buffering': text('Tells proxies to pass the stream on at once.', 'no'),
  'X-Total-Count': count('Number of all items.', 800),
}

type Failure = Readonly<{ description: string; phrase: string; code: string; message: string; field?: string }>

const failures: Readonly<Record<number, Failure>> = {
  400: {
    ...{ description: 'The request is invalid; `errors` lists every problem.', phrase: 'Bad Request' },
    ...{ code: 'VALIDATION_ERROR', message: 'flow is required', field: 'flow' },
  },
  401: {
    ...{ description: 'The API key is missing or invalid.', phrase: 'Unauthorized' },
    ...{ code: 'API_KEY_MISSING', message: 'the header x-api-key is missing' },
  },
  403: {
    ...{ description: 'The API key does not have the required permission.', phrase: 'Forbidden' },
    ...{ code: 'SCOPE_REQUIRED', message: 'this key lacks the scope exchange:create' },
  },
  404: {
    ...{ description: 'The requested object does not exist.', phrase: 'Not Found' },
    // Of the admin API. The operations of partners have examples of their own (`notFound`).
    ...{
      code: 'EXCHANGE_NOT_FOUND',
      message: 'there is no exchange 0190a5c4-7d1e-7c3a-9b55-2f6d1c0e8a11',
      field: 'id',
    },
  },
  405: {
    ...{
      description: 'The path does not accept this method; `Allow` lists those that it does.',
      phrase: 'Method Not Allowed',
    },
    ...{ code: 'METHOD_NOT_ALLOWED', message: 'this path takes GET and HEAD only' },
  },
  408: {
    ...{ description: 'The request took too long to arrive.', phrase: 'Request Timeout' },
    ...{ code: 'REQUEST_TIMEOUT', message: 'the request did not arrive in time' },
  },
  409: {
    ...{ description: 'The request conflicts with an earlier one.', phrase: 'Conflict' },
    ...{
      code: 'IDEMPOTENCY_CONFLICT',
      message:
        'this Idempotency-Key was used with another body or for another operation: use a new key for a new request',
    },
  },
  410: {
    ...{ description: 'The rateId has expired; a new quote is in `errors[0].requote`.', phrase: 'Gone' },
    ...{ code: 'RATE_ID_EXPIRED', message: 'rateId has expired: use the fresh quote in requote', field: 'rateId' },
  },
  413: {
    ...{ description: 'The body is too large.', phrase: 'Payload Too Large' },
    ...{ code: 'BODY_TOO_LARGE', message: 'the body is larger than 64 KiB' },
  },
  414: {
    ...{ description: 'The URL is too long.', phrase: 'URI Too Long' },
    ...{ code: 'URI_TOO_LONG', message: 'the URL is longer than 8192 characters' },
  },
  415: {
    ...{ description: 'The content type or encoding is not plain JSON.', phrase: 'Unsupported Media Type' },
    ...{ code: 'UNSUPPORTED_MEDIA_TYPE', message: 'the body must be sent as application/json' },
  },
  422: {
    ...{ description: 'The request is valid but cannot be fulfilled.', phrase: 'Unprocessable Entity' },
    ...{
      code: 'PAIR_UNAVAILABLE',
      message: 'XRP on xrp is not available: choose a currency with enabled: true',
      field: 'fromCurrency',
    },
  },
  429: {
    ...{ description: 'Too many requests.', phrase: 'Too Many Requests' },
    ...{ code: 'RATE_LIMIT_EXCEEDED', message: 'more than 6000 weighted requests a minute' },
  },
  431: {
    ...{ description: 'The headers are too large.', phrase: 'Request Header Fields Too Large' },
    ...{ code: 'HEADERS_TOO_LARGE', message: 'the headers are larger than 16 KiB' },
  },
  451: {
    ...{ description: 'Rejected by compliance screening.', phrase: 'Unavailable For Legal Reasons' },
    ...{
      code: 'RESTRICTED',
      message: 'address is rejected by address screening: use another address',
      field: 'address',
    },
  },
  500: {
    ...{ description: 'Internal error.', phrase: 'Internal Server Error' },
    ...{ code: 'INTERNAL', message: 'unexpected failure in request 3f1c9a0be7d24c55-1k' },
  },
  503: {
    ...{ description: 'Temporarily unavailable; retry after `Retry-After` seconds.', phrase: 'Service Unavailable' },
    ...{ code: 'RATES_UNAVAILABLE', message: 'the prices are older than 30 s: retry later' },
  },
}

/** Of every request whose weight was counted. */
const limits = ['RateLimit', 'RateLimit-Policy']
/** Failures without a counted weight: the server refuses these requests before. */
const uncounted: ReadonlySet<number> = new Set([401, 405, 408, 414, 431])
/** The 400 of a public operation without input comes from the HTTP parser. */
const uncountedWithoutInput: ReadonlySet<number> = new Set([...uncounted, 400])
/** Further headers of an error response. */
const failureHeaders: Readonly<Record<number, readonly string[]>> = {
  405: ['Allow'],
  422: ['Retry-After'],
  429: ['Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  503: ['Retry-After'],
}

const headersOf = (names: readonly string[]): JsonObject =>
  Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]))

function failureOf(status: number): Failure {
  const failure = failures[status]
  if (failure === undefined) throw new Error(`status ${status} has no description`)
  return failure
}

const headersOfFailure = (status: number, isCounted: boolean): JsonObject =>
  headersOf([...(isCounted ? limits : []), ...(failureHeaders[status] ?? [])])

/** Error responses by name: `Error400`, … */
export function componentResponses(statuses: readonly number[]): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [`Error${status}`, toErrorResponse(status, !uncounted.has(status))]),
  )
}

function toErrorResponse(status: number, isCounted: boolean, example = failureOf(status)): JsonObject {
  const { description, phrase, code, message, field } = example
  const problem = { code, ...(field === undefined ? {} : { field }), message }
  const body = {
    ...{ message, error: phrase, statusCode: status, code },
    ...{ requestId: '3f1c9a0be7d24c55-1k', errors: [problem] },
  }
  const schema = { $ref: '#/components/schemas/ErrorBody' }
  return {
    description,
    headers: headersOfFailure(status, isCounted),
    content: { 'application/json': { schema, example: body } },
  }
}

/** All responses of an operation. A response to HEAD has no body. */
export function toResponses(route: RouteDefinition): JsonObject {
  const { method, access, cost, query, success, errors } = route
  const without = access === 'public' && query === undefined ? uncountedWithoutInput : uncounted
  const responses: Record<string, Json> = {}
  for (const [status, response] of Object.entries(success)) responses[status] = toSuccess(response, cost > 0)
  for (const status of errors) {
    const isCounted = cost > 0 && !without.has(status)
    const { description } = failureOf(status)
    if (method === 'HEAD') responses[status] = { description, headers: headersOfFailure(status, isCounted) }
    else if (status === 404) responses[status] = toErrorResponse(status, isCounted, notFoundOf(route))
    else if (isCounted === !uncounted.has(status)) responses[status] = { $ref: `#/components/responses/Error${status}` }
    else responses[status] = toErrorResponse(status, isCounted)
  }
  return responses
}

/** Without the members of the general example. */
function notFoundOf({ method, path, notFound }: RouteDefinition): Failure {
  if (notFound === undefined) throw new Error(`${method} ${path} has no example of its 404`)
  const { description, phrase } = failureOf(404)
  return { description, phrase, ...notFound }
}

function toSuccess(response: RouteResponse, isCounted: boolean): JsonObject {
  const { description, schema, alternatives = [], contentType, csv, headers = [], example } = response
  const head = { description, headers: headersOf([...(isCounted ? limits : []), ...headers]) }
  if (schema === undefined && contentType === undefined) return head
  const plain: Json = schema === undefined ? { type: 'string' } : toPlainJson(schema, false)
  const forms = alternatives.map((one) => toPlainJson(one, false))
  const body = {
    schema: forms.length === 0 ? plain : { oneOf: [plain, ...forms] },
    example: example ?? exampleOf(schema),
  }
  const table: JsonObject = csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' }, example: csv } }
  return { ...head, content: { [contentType ?? 'application/json']: body, ...table } }
}
