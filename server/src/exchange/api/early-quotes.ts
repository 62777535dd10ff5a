import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { performance } from 'node:perf_hooks'
import { type RateQuery, routes } from '@swapyard/schema'
import type { Caller } from '../../core/domain/partner.ts'
import { kindAnswered, oneAnswered } from '../../core/http/answered-fields.ts'
import { mayAccess } from '../../core/http/auth.ts'
import { callerAddress } from '../../core/http/client-ip.ts'
import { URL_LENGTH_MAX } from '../../core/http/errors.ts'
import type { ApiContext } from '../../core/http/mount.ts'
import { answerPlainRequests } from '../../core/http/plain-requests.ts'
import { lacksHost } from '../../core/http/request-guards.ts'
import { rateLimitText } from '../../core/http/throttle.ts'
import { compileValidator, knownKeys } from '../../core/http/validation.ts'
import type { ThrottleVerdict } from '../../core/ports/throttle.ts'
import type { ExchangeServices } from '../interfaces.ts'
import { rateQuoteText } from './quote-text.ts'
import { quoteHeaders, toRateRequest } from './rate.ts'

type Parts = Readonly<{ state: Readonly<{ draining: boolean }>; nextRequestId(): string }>

const route = routes.quoteRate
const PREFIX = `${route.path}?`
const plainHeaders = Object.entries(quoteHeaders).flat()
/** Names and values with nothing to decode and nothing nested. */
const PLAIN_QUERY = /^(?:\w+=[\w.-]*(?:&|$))+$/
const EQUALS = 0x3d

/**
 * Partners poll quotes without end, and the framework, and Node's HTTP below it, cost more than the quote. A plain request
 * whose answer is in memory is answered before either sees it: on a connection where nothing else was asked yet before
 * Node's HTTP, on the others before the framework. What is not plain falls through: every refusal, every doubt, all that must
 * be waited for. The answer, its headers, its log line and its count are those of the route (docs/decisions/0061), which a
 * test holds it to. Returned are the quotes that were tried in vain, by their requests: the framework does not try again.
 */
export function answerQuotesEarly(context: ApiContext<ExchangeServices>, parts: Parts): WeakMap<object, unknown> {
  const { app } = context
  const refusals = new WeakMap<object, unknown>()
  const answer = createAnswer(context, parts, refusals)
  const framework = app.server.listeners('request') as RequestListener[]
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    const found = isQuote(request) ? answer(request) : null
    if (found === null) for (const listener of framework) listener(request, response)
    // Its length is its bytes, and no byte is looked at for being more than one.
    else response.writeHead(200, headersOf(found)).end(found.text, 'latin1')
  })
  const headEnd = createHeadEnd(app.server)
  const door = answerPlainRequests(app.server, PREFIX, (request) => {
    const found = answer(request)
    return found === null ? null : wholeAnswer(found, headEnd())
  })
  app.addHook('preClose', async () => door.close())
  return refusals
}

/** `limit`: what the header of the caller's budget says, where there is one. */
type Answered = Readonly<{ requestId: string; limit: string | null; text: string }>
type Asked = Pick<IncomingMessage, 'url' | 'headers' | 'httpVersion' | 'socket'>

function createAnswer(
  context: ApiContext<ExchangeServices>,
  { state, nextRequestId }: Parts,
  refusals: WeakMap<object, unknown>,
): (request: Asked) => Answered | null {
  const { app, services, settings, log, metrics } = context
  const readQuery = createQueryReader()
  const writeLine = createLineWriter(log)
  const isBusy = () => state.draining || (app.isUnderPressure?.() ?? false)

  const admit = (request: Asked): { caller: Caller; ip: string } | null => {
    const key = request.headers['x-api-key']
    const ip = callerAddress(request, settings.trustedProxies)
    if (typeof key !== 'string' || !ip) return null
    const caller = services.knownCaller(key, ip)
    return caller && !caller.partner.strict && mayAccess(caller, route.access) ? { caller, ip } : null
  }

  /** The body, where it can be had at once. */
  const quote = (request: Asked, { partner }: Caller, query: RateQuery): string | null => {
    try {
      return rateQuoteText(services.quoteRate(partner, toRateRequest(query)))
    } catch (error) {
      refusals.set(request, error)
      return null
    }
  }

  const look = (request: Asked): Found | null => {
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

  return (request) => {
    const startedAt = performance.now()
    const found = withoutFailing(() => look(request))
    if (found === null) return null
    const { caller, ip, text, verdict } = found
    const requestId = nextRequestId()
    const elapsedMs = performance.now() - startedAt
    metrics.observeRequest(route.path, route.method, 200, elapsedMs / 1000)
    writeLine(caller, ip, { requestId, elapsedMs })
    return { requestId, limit: verdict === null ? null : rateLimitText(verdict), text }
  }
}

type Found = Readonly<{ caller: Caller; ip: string; text: string; verdict: ThrottleVerdict | null }>

/** The line of an answered quote. Who polls has the same one each time, but for two fields. */
function createLineWriter(log: ApiContext<ExchangeServices>['log']) {
  type Line = Readonly<{ ip: string; write: (fields: object) => void }>
  const lines = new WeakMap<Caller, Line>()
  const { method, path } = route
  const add = (caller: Caller, ip: string): Line => {
    const line = {
      ip,
      write: log.recurring(kindAnswered({ method, path, status: 200, ip, caller }), 'request answered'),
    }
    lines.set(caller, line)
    return line
  }
  return (caller: Caller, ip: string, one: Parameters<typeof oneAnswered>[0]) => {
    const known = lines.get(caller)
    const { write } = known?.ip === ip ? known : add(caller, ip)
    write(oneAnswered(one))
  }
}

const headersOf = ({ requestId, limit, text }: Answered): string[] => [
  'x-request-id',
  requestId,
  ...(limit === null ? [] : ['ratelimit', limit]),
  ...plainHeaders,
  'content-length',
  String(text.length),
]

const plainLines = Object.entries(quoteHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** The same, as it goes to the socket. */
const wholeAnswer = ({ requestId, limit, text }: Answered, headEnd: string): string =>
  `HTTP/1.1 200 OK\r\nx-request-id: ${requestId}\r\n${limit === null ? '' : `ratelimit: ${limit}\r\n`}${plainLines}content-length: ${text.length}\r\n${headEnd}${text}`

/** The headers that Node adds to every answer, and what ends them. */
function createHeadEnd({ keepAliveTimeout }: Server): () => string {
  const connection = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeout / 1_000)}\r\n\r\n`
  let second = 0
  let text = ''
  return () => {
    const now = Math.floor(Date.now() / 1_000)
    if (now !== second) {
      second = now
      text = `Date: ${new Date(now * 1_000).toUTCString()}\r\n${connection}`
    }
    return text
  }
}

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

const isBodiless = ({ headers }: Asked): boolean =>
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
