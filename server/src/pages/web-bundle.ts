import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../core/domain/errors.ts'
import { createStaticBody, type StaticBody, sendStaticBody } from '../core/http/static-files.ts'

/** What web/build.ts wrote. */
const distFolder = new URL('../../../web/dist/', import.meta.url)
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
/** Names of assets contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
const NONCE = '__NONCE__'

/** `connect-src 'self'`: the page calls this server alone. The nonce is for the styles that the component library inserts. */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

type Bundle = Readonly<{ index: string; assets: ReadonlyMap<string, StaticBody> }>

async function readBundle(name: string): Promise<Bundle> {
  const folder = new URL(`${name}/`, distFolder)
  const index = await readFile(new URL('index.html', folder), 'utf8').catch(() => {
    throw new AppError(
      'ROUTE_NOT_FOUND',
      `The pages of web/${name} are not built. Run "node web/build.ts" in the installation and restart.`,
    )
  })
  const names = await readdir(new URL('assets/', folder))
  const assets = names.map(async (file): Promise<[string, StaticBody]> => {
    const body = await readFile(new URL(`assets/${file}`, folder))
    return [file, await createStaticBody(body, contentTypes[extname(file)] ?? 'application/octet-stream')]
  })
  return { index, assets: new Map(await Promise.all(assets)) }
}

/**
 * Serves the assets of a bundle of web/ at `/<name>/assets`, and returns what sends its index page. The files are read and
 * compressed at the first request.
 */
export function mountWebBundle(
  app: FastifyInstance,
  name: string,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  let reading: Promise<Bundle> | null = null
  const load = (): Promise<Bundle> => {
    reading ??= readBundle(name).catch((error) => {
      reading = null
      throw error
    })
    return reading
  }
  app.get<{ Params: { file: string } }>(`/${name}/assets/:file`, async (request, reply) => {
    request.operation = `/${name}/assets`
    const body = (await load()).assets.get(request.params.file)
    if (body === undefined) throw new AppError('ROUTE_NOT_FOUND', 'This file is not part of the page. Reload the page.')
    return sendStaticBody(body, request, reply, IMMUTABLE)
  })
  return async (_request, reply) => {
    const { index } = await load()
    const nonce = randomBytes(16).toString('base64')
    return reply
      .headers({
        'content-security-policy': policyWith(nonce),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      })
      .type('text/html; charset=utf-8')
      .send(index.replace(NONCE, nonce))
  }
}
