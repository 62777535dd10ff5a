import type { FastifyReply } from 'fastify'

export function sendText(reply: FastifyReply, body: string, etag?: string): void {
  const headers = reply.getHeaders() as Record<string, string | number>
  reply.hijack()
  headers['content-type'] = 'application/json; charset=utf-8'
  headers['content-length'] = Buffer.byteLength(body)
  reply.raw.writeHead(200, headers)
  reply.raw.end(body)
}
