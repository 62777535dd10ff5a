import { routes } from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Encoding, negotiateEncoding } from '../../core/http/encoding.ts'
import { matchesEtag } from '../../core/http/etag.ts'
import { type ApiContext, mount } from '../../core/http/mount.ts'
import type { ExchangeServices, Feed } from '../interfaces.ts'

const OFFERED = ['br', 'gzip', 'identity'] as const

export function mountRates(context: ApiContext<ExchangeServices>): void {
  // Also answers HEAD.
  mount(context, routes.getRates, (request, reply) => sendFeed(context.services.ratesFeed(), request, reply))
}

/** Sends the stored buffers: the feed is compressed once, when it is rendered. */
function sendFeed(feed: Feed, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { headers } = request.raw
  const encoding = negotiateEncoding(headers['accept-encoding'], OFFERED)
  reply.headers({
    etag: etagOf(feed, encoding),
    'last-modified': feed.lastModified.toUTCString(),
    'cache-control': 'public, no-cache',
    vary: 'accept-encoding',
  })
  if (isNotModified(feed, headers['if-none-match'], headers['if-modified-since'])) return reply.code(304).send()
  reply.header('content-type', 'application/xml; charset=utf-8')
  if (encoding === 'identity') return reply.send(feed.xml)
  return reply.header('content-encoding', encoding).send(encoding === 'br' ? feed.brotli : feed.gzip)
}

/** A strong ETag identifies exact bytes, so each encoding has its own. */
function etagOf({ etag }: Feed, encoding: Encoding): string {
  return encoding === 'identity' ? etag : `${etag.slice(0, -1)}-${encoding}"`
}

/** If-Modified-Since counts only without If-None-Match (RFC 9110 §13.2.2), and has a resolution of one second. */
function isNotModified(feed: Feed, noneMatch: string | undefined, modifiedSince: string | undefined): boolean {
  if (noneMatch !== undefined) return matchesEtag(noneMatch, ...OFFERED.map((encoding) => etagOf(feed, encoding)))
  if (modifiedSince === undefined) return false
  const since = Date.parse(modifiedSince)
  return Math.floor(feed.lastModified.getTime() / 1000) * 1000 <= since
}
