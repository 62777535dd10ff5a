import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { negotiateEncoding } from './encoding.ts'
import { matchesEtag, weakEtag } from './etag.ts'

const compress = promisify(gzip)

type StaticFile = Readonly<{ plain: Buffer; gzip: Buffer; etag: string; contentType: string }>

/** Serves files of installed packages: read and compressed at the first request, then from memory. */
export type StaticFiles = (
  request: FastifyRequest,
  reply: FastifyReply,
  file: URL,
  contentType: string,
) => Promise<FastifyReply>

export function createStaticFiles(): StaticFiles {
  const files = new Map<string, Promise<StaticFile>>()
  return async (request, reply, file, contentType) => {
    let loading = files.get(file.href)
    if (loading === undefined) {
      loading = load(file, contentType)
      files.set(file.href, loading)
    }
    return send(await loading, request, reply)
  }
}

async function load(file: URL, contentType: string): Promise<StaticFile> {
  const plain = await readFile(file)
  return { plain, gzip: await compress(plain), etag: weakEtag(plain.toString('latin1')), contentType }
}

function send(file: StaticFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    etag: file.etag,
    'cache-control': 'public, max-age=86400',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'content-type': file.contentType,
  })
  if (matchesEtag(request.raw.headers['if-none-match'], file.etag)) return reply.code(304).send()
  if (negotiateEncoding(request.headers['accept-encoding'], ['gzip']) === 'identity') return reply.send(file.plain)
  return reply.header('content-encoding', 'gzip').send(file.gzip)
}
