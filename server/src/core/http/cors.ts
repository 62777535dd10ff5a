import type { RouteDefinition } from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../domain/errors.ts'
import { type Caller, isOriginAllowed } from '../domain/partner.ts'

/** Headers of ours that pages may read. */
const EXPOSED = 'ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Total-Count'
/** Headers that pages may send. */
const ACCEPTED = 'content-type, idempotency-key, if-none-match, x-api-key'
const PREFLIGHT_AGE_SECONDS = 600

/**
 * CORS for publishable keys alone. A preflight has no key, so it is answered for every origin; the request itself is answered
 * for the origins of its key. There are no cookies, so credentials are never allowed.
 */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply, paths: ReadonlySet<string>): boolean {
  const [path = ''] = (request.raw.url ?? '').split('?', 1)
  const isPreflight =
    request.method === 'OPTIONS' &&
    request.headers.origin !== undefined &&
    request.headers['access-control-request-method'] !== undefined
  if (!isPreflight || !paths.has(path)) return false
  reply
    .code(204)
    .headers({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': ACCEPTED,
      'access-control-max-age': PREFLIGHT_AGE_SECONDS,
      vary: 'Origin',
    })
    .send()
  return true
}

/** Lets pages of every origin read the answer. */
export function openToPages(reply: FastifyReply): void {
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED })
}

/**
 * Lets pages read that the server is busy or refuses for now, where no key was read: a browser would report a broken
 * connection, as for a refused key. Such an answer says nothing about a key.
 */
export function openFailure(
  { kind }: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  paths: ReadonlySet<string>,
): void {
  const isTemporary = kind === 'unavailable' || kind === 'throttled'
  const isOfPage = request.headers.origin !== undefined && paths.has(request.routeOptions.url ?? '')
  if (isTemporary && isOfPage && request.caller === null) openToPages(reply)
}

/**
 * Browsers send no `Origin` with a GET of a page to its own origin, which is that of the public URL. `Sec-Fetch-Site`, which no page
 * can set, says so; `Host` is not checked.
 */
function originOf({ headers }: FastifyRequest, ownOrigin: string): string | undefined {
  return headers.origin ?? (headers['sec-fetch-site'] === 'same-origin' ? ownOrigin : undefined)
}

/** Admits a publishable key from the pages of its origins, to the routes that are marked. Throws ORIGIN_NOT_ALLOWED and SCOPE_REQUIRED. */
export function admitPage(
  { origins }: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
  { isPublishable, access }: RouteDefinition,
  ownOrigin: string,
): void {
  if (origins === undefined) return
  const origin = originOf(request, ownOrigin)
  reply.header('vary', 'Origin')
  if (origin === undefined || !isOriginAllowed(origins, origin))
    throw new AppError('ORIGIN_NOT_ALLOWED', 'this publishable key is not used from this origin')
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED })
  if (isPublishable !== true)
    throw new AppError(
      'SCOPE_REQUIRED',
      'a publishable key may quote and create; GET /v1/track, which needs no key, has the status',
      { extra: { scope: access } },
    )
}
