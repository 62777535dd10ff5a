import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { AppError } from '../domain/errors.ts'
import { URL_LENGTH_MAX } from './errors.ts'

type Arrival = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** The methods of every path, filled in while routes are mounted. */
export function allowedMethods(app: FastifyInstance): ReadonlyMap<string, readonly string[]> {
  const allowed = new Map<string, string[]>()
  app.addHook('onRoute', ({ path, method }) => {
    allowed.set(path, [...(allowed.get(path) ?? []), ...[method].flat()])
  })
  return allowed
}

/** First of all hooks: what can be refused before a key is looked at. */
export function createArrival(
  state: Readonly<{ draining: boolean }>,
  allowed: ReadonlyMap<string, readonly string[]>,
): Arrival {
  return (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (state.draining) reply.header('connection', 'close')
    const url = request.raw.url ?? ''
    if (url.length > URL_LENGTH_MAX) {
      done(new AppError('URI_TOO_LONG', `the URL is longer than ${URL_LENGTH_MAX} characters`))
    } else if (lacksHost(request.raw)) {
      done(new AppError('VALIDATION_ERROR', 'the header Host is missing'))
    } else if (request.is404) {
      done(noRoute(url, reply, allowed))
    } else {
      done()
    }
  }
}

/** RFC 9112 §3.2: refused by 400 from HTTP/1.1 on. */
const lacksHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined && httpVersion !== '1.0'

function noRoute(url: string, reply: FastifyReply, allowed: ReadonlyMap<string, readonly string[]>): AppError {
  const [path = ''] = url.split('?', 1)
  const methods = allowed.get(path)
  if (methods === undefined) return new AppError('ROUTE_NOT_FOUND', 'there is no such path')
  reply.header('allow', methods.join(', '))
  return new AppError('METHOD_NOT_ALLOWED', `this path takes ${methods.join(' and ')} only`)
}

/** RFC 8259 §8.1 knows UTF-8 alone, of which ASCII is a part; other names of the two are not in use. */
const charsets: readonly string[] = ['utf-8', 'utf8', 'us-ascii']
const CHARSET = /;\s*charset\s*=\s*("?)([^";]*)\1/gi

/** Every one that is named, and none is named as a rule. */
function isReadableCharset(contentType: string): boolean {
  return [...contentType.matchAll(CHARSET)].every(([, , name = '']) => charsets.includes(name.trim().toLowerCase()))
}

/** Bodies are plain UTF-8 JSON: no text, no forms, no compression, no bytes replaced on the way. */
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
      parse(request, body.toString('utf8'), done)
    }
  })
}
