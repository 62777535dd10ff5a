import { type RouteDefinition, sandboxRoutes } from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { present } from '../../lib/assert.ts'
import { createHttp, type Http } from '../../lib/http.ts'
import { canonicalNetwork, canonicalTicker } from '../domain/catalogue.ts'
import { AppError, type ErrorCode, errorCodes } from '../domain/errors.ts'
import { readIdempotency } from './idempotency.ts'
import { type ApiContext, callerOf, mount } from './mount.ts'

const TIMEOUT_MS = 10_000
const ANSWER_BYTES_MAX = 1024 * 1024
const PREFIX_LENGTH = '/sandbox'.length
/** The chains know no exchanges. */
const { expireSandboxExchange: _, ...controls } = sandboxRoutes

/** Forwards the sandbox controls to the process that runs the chains. Not mounted in production. */
export function mountSandbox(context: ApiContext): void {
  const { sandboxControlUrl } = context.settings
  if (sandboxControlUrl === null) return
  const http = createHttp()
  context.app.addHook('onClose', () => http.close())
  for (const route of Object.values<RouteDefinition>(controls)) {
    mount(context, route, async (request, reply) => {
      const idempotency = route.method === 'POST' ? readIdempotency(request, route) : null
      const text = await context.services.withIdempotency(callerOf(request).partner, idempotency, () =>
        callControl(http, sandboxControlUrl, route, request),
      )
      return send(reply, route, text)
    })
  }
}

function send(reply: FastifyReply, route: RouteDefinition, text: string): FastifyReply {
  reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
  return reply.code(route.method === 'POST' ? 201 : 200).send(text)
}

async function callControl(
  http: Http,
  controlUrl: string,
  route: RouteDefinition,
  request: FastifyRequest,
): Promise<string> {
  const url = new URL(route.path.slice(PREFIX_LENGTH), controlUrl)
  const known = present(request.known, 'the members of the route')
  for (const [name, value] of Object.entries(inOurWords(request.query, known.query))) url.searchParams.set(name, value)
  const answer = await http.call({
    url: url.href,
    method: route.method === 'POST' ? 'POST' : 'GET',
    timeoutMs: TIMEOUT_MS,
    replyBytesMax: ANSWER_BYTES_MAX,
    ...(route.body
      ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(inOurWords(request.body, known.body)) }
      : {}),
  })
  if (answer.kind === 'unknown') throw silent(answer.cause)
  const text = answer.body.toString('utf8')
  const body = parse(text)
  if (answer.status >= 200 && answer.status < 300) return text === '' ? '{}' : text
  throw toFailure(answer.status, body)
}

/** As in every route: tickers in any case and by alias; unknown members are dropped. */
function inOurWords(sent: unknown, known: ReadonlySet<string>): Record<string, string> {
  const members = Object.entries(sent as Record<string, string>).filter(([name]) => known.has(name))
  return Object.fromEntries(members.map(([name, value]) => [name, canonical[name]?.(value) ?? value]))
}

const canonical: Readonly<Record<string, (text: string) => string>> = {
  network: canonicalNetwork,
  currency: canonicalTicker,
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch (cause) {
    throw silent(cause)
  }
}

function silent(cause: unknown): AppError {
  return new AppError('NETWORK_UNAVAILABLE', "the sandbox's chains do not answer", { cause })
}

/** Keeps a code that is one of ours; the message is for the developer who uses the sandbox. */
function toFailure(status: number, body: unknown): AppError {
  const { code, message, error } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const sentence = [message, error].find((text) => typeof text === 'string' && text !== '') as string | undefined
  const known = typeof code === 'string' && Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : codeOf(status)
  return new AppError(known, (sentence ?? 'the sandbox refused the request').slice(0, 300))
}

function codeOf(status: number): ErrorCode {
  if (status === 404) return 'NETWORK_NOT_FOUND'
  if (status === 409 || status === 422) return 'INSUFFICIENT_BALANCE'
  return status >= 400 && status < 500 ? 'VALIDATION_ERROR' : 'NETWORK_UNAVAILABLE'
}
