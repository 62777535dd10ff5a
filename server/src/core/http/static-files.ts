import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip as gzipCallback } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { negotiateEncoding } from './encoding.ts'
import { matchesEtag, weakEtag } from './etag.ts'

const compress = promisify(gzipCallback)

/** A file or page that stays the same while the process runs. `gzip` is null for what is compressed already. */
export type StaticBody = Readonly<{ plain: Buffer; gzip: Buffer | null; etag: string; contentType: string }>

/** Serves files of installed packages: read and compressed at the first request, then from memory. */
export type StaticFiles = (
  request: FastifyRequest,
  reply: FastifyReply,
  file: URL,
  contentType: string,
) => Promise<FastifyReply>

export function createStaticFiles(): StaticFiles {
  const files = new Map<string, Promise<StaticBody>>()
  return async (request, reply, file, contentType) => {
    let loading = files.get(file.href)
    if (loading === undefined) {
      loading = load(file, contentType)
      files.set(file.href, loading)
    }
    return sendStaticBody(await loading, request, reply, 'public, max-age=86400')
  }
}

const load = async (file: URL, contentType: string): Promise<StaticBody> =>
  createStaticBody(await readFile(file), contentType)

export async function createStaticBody(plain: Buffer, contentType: string): Promise<StaticBody> {
  return { plain, gzip: await compress(plain), etag: weakEtag(plain.toString('latin1')), contentType }
}

/** An archive, which is sent as it is. */
export const createArchiveBody = (plain: Buffer, contentType: string): StaticBody => ({
  plain,
  gzip: null,
  etag: weakEtag(plain.toString('latin1')),
  contentType,
})

/** A text that stays the same while the process runs, compressed at the first call. */
export function createStaticText(text: string, contentType: string): () => Promise<StaticBody> {
  let body: Promise<StaticBody> | null = null
  return () => {
    body ??= createStaticBody(Buffer.from(text), contentType)
    return body
  }
}

/** Sends the body, or 304 if the client has it. */
export function sendStaticBody(
  body: StaticBody,
  request: FastifyRequest,
  reply: FastifyReply,
  cacheControl: string,
): FastifyReply {
  reply.headers({
    etag: body.etag,
    'cache-control': cacheControl,
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'content-type': body.contentType,
  })
  if (matchesEtag(request.raw.headers['if-none-match'], body.etag)) return reply.code(304).send()
  const { gzip } = body
  if (gzip === null || negotiateEncoding(request.headers['accept-encoding'], ['gzip']) === 'identity')
    return reply.send(body.plain)
  return reply.header('content-encoding', 'gzip').send(gzip)
}
