import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import { type RateQuery, routes } from '@swapyard/schema'
import type { Caller } from '../../domain/partner.ts'
import type { ThrottleVerdict } from '../../ports/throttle.ts'
import { answeredFields } from '../answered-fields.ts'
import { lacksHost } from '../arrival.ts'
import { mayAccess } from '../auth.ts'
import { URL_LENGTH_MAX } from '../errors.ts'
import { callerAddress } from '../forwarded.ts'
import type { ApiContext } from '../mount.ts'
import { rateQuoteText } from '../quote-text.ts'
import { rateLimitText } from '../throttle.ts'
import { compileValidator, knownKeys } from '../validation.ts'
import { quoteHeaders, toRateRequest } from './rate.ts'

type Parts = Readonly<{ state: Readonly<{ draining: boolean }>; nextRequestId(): string }>

const route = routes.quoteRate
const PREFIX = `${route.path}?`
const plainHeaders = Object.entries(quoteHeaders).flat()
/** Names and values with nothing to decode and nothing nested. */
const PLAIN_QUERY = /^(?:\w+=[\w.-]*(?:&|$))+$/
const EQUALS = 0x3d

/**
 * Partners poll quotes without end, and the framework costs more than the quote. A plain request whose answer is in memory
 * is answered before the framework sees it. What is not plain falls through: every refusal, every doubt, all that must be
 * waited for. The answer, its headers, its log line and its count are those of the route (docs/decisions/0061), which a
 * test holds it to. Returned are the quotes that were tried in vain, by their requests, so that none is tried twice.
 */
export function answerQuotesEarly(context: ApiContext, parts: Parts): WeakMap<IncomingMessage, unknown> {
  const { app } = context
  const refusals = new WeakMap<IncomingMessage, unknown>()
  const answer = createAnswer(context, parts, refusals)
  const framework = app.server.listeners('request') as RequestListener[]
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    if (!isQuote(request) || !answer(request, response)) for (const listener of framework) listener(request, response)
  })
  return refusals
}

function createAnswer(
  context: ApiContext,
  { state, nextRequestId }: Parts,
  refusals: WeakMap<IncomingMessage, unknown>,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { app, services, settings, log, metrics } = context
  const readQuery = createQueryReader()
  const isBusy = () => state.draining || (app.isUnderPressure?.() ?? false)

  const admit = (request: IncomingMessage): { caller: Caller; ip: string } | null => {
    const key = request.headers['x-api-key']
    const ip = callerAddress(request, settings.trustedProxies)
    if (typeof key !== 'string' || !ip) return null
    const caller = services.knownCaller(key, ip)
    return caller && !caller.partner.strict && mayAccess(caller, route.access) ? { caller, ip } : null
  }

  /** The body, where it can be had at once. */
  const quote = (request: IncomingMessage, { partner }: Caller, query: RateQuery): string | null => {
    try {
      return rateQuoteText(services.quoteRate(partner, toRateRequest(query)))
    } catch (error) {
      refusals.set(request, error)
      return null
    }
  }

  const look = (request: IncomingMessage): Found | null => {
    const query = isBodiless(request) && !lacksHost(request) ? readQuery(request.url ?? '') : null
    if (query === null || isBusy()) return null
    const admitted = admit(request)
    const text = admitted === null ? null : quote(request, admitted.caller, query)
    if (admitted === null || text === null) return null
    const { id, rateLimitPerMinute } = admitted.caller.partner
    const verdict = settings.throttle?.take(id, route.cost, rateLimitPerMinute) ?? null
    // Refusals cost nothing, so asking again does neither.
    return verdict?.allowed === false ? null : { ...admitted, text, verdict }
  }

  return (request, response) => {
    const startedAt = performance.now()
    const found = withoutFailing(() => look(request))
    if (found === null) return false
    const { caller, ip, text, verdict } = found
    const requestId = nextRequestId()
    response.writeHead(200, [
      'x-request-id',
      requestId,
      ...(verdict === null ? [] : ['ratelimit', rateLimitText(verdict)]),
      ...plainHeaders,
      'content-length',
      String(text.length),
    ])
    // Its length is its bytes, and no byte is looked at for being more than one.
    response.end(text, 'latin1')
    const elapsedMs = performance.now() - startedAt
    metrics.observeRequest(route.path, route.method, 200, elapsedMs / 1000)
    const answered = { requestId, method: route.method, path: route.path, status: 200, elapsedMs, ip, caller }
    log.info(answeredFields(answered), 'request answered')
    return true
  }
}

type Found = Readonly<{ caller: Caller; ip: string; text: string; verdict: ThrottleVerdict | null }>

/** Nobody catches what is thrown here. The framework meets the same bug, and answers and logs it. */
function withoutFailing(work: () => Found | null): Found | null {
  try {
    return work()
  } catch {
    return null
  }
}

/** All that other routes' requests are asked. */
const isQuote = ({ method, url }: IncomingMessage): boolean =>
  method === route.method && url?.startsWith(PREFIX) === true

const isBodiless = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] === undefined && headers['transfer-encoding'] === undefined

/** The query of a plain URL of this route, checked by the route's own schema; else null. */
function createQueryReader(): (url: string) => RateQuery | null {
  // The names as they are known: of one that is cut out of a URL the hash is made anew.
  const names = [...knownKeys(route).query]
  const check = compileValidator({
    schema: route.query,
    method: route.method,
    url: route.path,
    httpPart: 'querystring',
  })
  return (url) => {
    if (url.length > URL_LENGTH_MAX) return null
    if (!PLAIN_QUERY.test(url.slice(PREFIX.length))) return null
    const query: Record<string, string> = {}
    for (let at = PREFIX.length; at <= url.length; ) {
      const name = nameAt(names, url, at)
      if (name === undefined || query[name] !== undefined) return null
      const and = url.indexOf('&', at)
      const end = and === -1 ? url.length : and
      query[name] = url.slice(at + name.length + 1, end)
      at = end + 1
    }
    return check(query) === true ? (query as RateQuery) : null
  }
}

function nameAt(names: readonly string[], url: string, at: number): string | undefined {
  for (const name of names) if (url.charCodeAt(at + name.length) === EQUALS && url.startsWith(name, at)) return name
  return undefined
}
