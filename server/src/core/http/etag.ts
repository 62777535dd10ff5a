import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Weak, because a proxy may compress the tagged body. */
export function weakEtag(body: string): string {
  return `W/"${hash('sha1', body, 'base64url')}"`
}

/** If-None-Match by the weak comparison of RFC 9110 §8.8.3.2. */
export function matchesEtag(header: string | undefined, ...etags: readonly string[]): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const opaque = etags.map(withoutWeak)
  return header.split(',').some((candidate) => opaque.includes(withoutWeak(candidate.trim())))
}

function withoutWeak(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}

/** Sends JSON text, or 304 if the client already has it. */
export function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string,
  etag = weakEtag(body),
): FastifyReply {
  reply.header('etag', etag)
  reply.header('cache-control', 'private, no-cache')
  if (matchesEtag(request.raw.headers['if-none-match'], etag)) return reply.code(304).send()
  reply.header('content-type', 'application/json; charset=utf-8')
  return reply.send(body)
}
