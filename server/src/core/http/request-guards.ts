import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { AppError } from '../domain/errors.ts'
import { answerPreflight } from './cors.ts'
import { URL_LENGTH_MAX } from './errors.ts'
import { noteRoundedNumbers } from './rounded-numbers.ts'

type RequestGuards = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** The methods of a path; undefined if it is unknown. */
type AllowedMethods = (path: string) => readonly string[] | undefined

/** The methods of each path, collected while routes are mounted. */
export function allowedMethods(app: FastifyInstance): AllowedMethods {
  const allowed = new Map<string, string[]>()
  const patterns = new Map<string, RegExp>()
  app.addHook('onRoute', ({ path, method }) => {
    allowed.set(path, [...(allowed.get(path) ?? []), ...[method].flat()])
    if (/[:*]/.test(path)) patterns.set(path, toExpression(path))
  })
  return (path) => {
    const exact = allowed.get(path)
    if (exact !== undefined) return exact
    const [pattern = ''] = [...patterns].find(([, regex]) => regex.test(path)) ?? []
    return allowed.get(pattern)
  }
}

/** `:name` is a part of a path, `*` is the rest. */
const toExpression = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replaceAll('*', '.*')}$`)

/** The first hook: refuses what can be refused before the key check. */
export function createRequestGuards(
  state: Readonly<{ draining: boolean }>,
  allowed: AllowedMethods,
  pagePaths: ReadonlySet<string> = new Set(),
): RequestGuards {
  return (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (state.draining) reply.header('connection', 'close')
    const url = request.raw.url ?? ''
    if (url.length > URL_LENGTH_MAX) {
      done(new AppError('URI_TOO_LONG', `the URL is longer than ${URL_LENGTH_MAX} characters`))
    } else if (lacksHost(request.raw)) {
      done(new AppError('VALIDATION_ERROR', 'the header Host is missing'))
    } else if (request.is404 && answerPreflight(request, reply, pagePaths)) {
      return
    } else if (request.is404) {
      done(noRoute(url, reply, allowed))
    } else {
      done()
    }
  }
}

/** RFC 9112 §3.2: since HTTP/1.1, refused with 400. */
const lacksHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined && httpVersion !== '1.0'

function noRoute(url: string, reply: FastifyReply, allowed: AllowedMethods): AppError {
  const [path = ''] = url.split('?', 1)
  const methods = allowed(path)
  if (methods === undefined) return new AppError('ROUTE_NOT_FOUND', 'there is no such path')
  reply.header('allow', methods.join(', '))
  return new AppError('METHOD_NOT_ALLOWED', `this path takes ${methods.join(' and ')} only`)
}

/** RFC 8259 §8.1 allows only UTF-8, which includes ASCII. Other names of the two are not in use. */
const charsets: readonly string[] = ['utf-8', 'utf8', 'us-ascii']
const CHARSET = /;\s*charset\s*=\s*("?)([^";]*)\1/gi

/** Every named encoding must be `identity`; most requests name none. */
function isReadableCharset(contentType: string): boolean {
  return [...contentType.matchAll(CHARSET)].every(([, , name = '']) => charsets.includes(name.trim().toLowerCase()))
}

/** Accepts only uncompressed UTF-8 JSON bodies. Invalid UTF-8 is refused, not replaced. */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'the body must not be compressed'))
    } else if (!isReadableCharset(request.headers['content-type'] ?? '')) {
      done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'the body must be UTF-8: another charset is named'))
    } else if (!isUtf8(body as Buffer)) {
      done(new AppError('VALIDATION_ERROR', 'the body is not UTF-8'))
    } else {
      const text = body.toString('utf8')
      parse(request, text, (error, parsed) => {
        if (error === null) noteRoundedNumbers(text, parsed)
        done(error, parsed)
      })
    }
  })
}
