import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../core/domain/errors.ts'
import { createStaticBody, type StaticBody, sendStaticBody } from '../core/http/static-files.ts'

/** What web/build.ts wrote. */
const file = new URL('../../../web/dist/widget/widget.js', import.meta.url)
/** The name is stable, so a copy is short-lived. A proxy that changed the content would break the integrity check of pages. */
const CACHE = 'public, max-age=300, no-transform'
/** Every page may load it, also one that demands permission of what it embeds, and check it by Subresource Integrity. */
const headers = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }

async function readWidget(): Promise<StaticBody> {
  const script = await readFile(file).catch(() => {
    throw new AppError(
      'ROUTE_NOT_FOUND',
      'The widget is not built. Run "node web/build.ts" in the installation and restart.',
    )
  })
  return createStaticBody(script, 'text/javascript; charset=utf-8')
}

/** Serves the script that partners' sites embed. It is read and compressed at the first request. */
export function mountWidget(app: FastifyInstance): void {
  let reading: Promise<StaticBody> | null = null
  app.get('/widget.js', async (request, reply) => {
    request.operation = '/widget.js'
    reading ??= readWidget().catch((error) => {
      reading = null
      throw error
    })
    return sendStaticBody(await reading, request, reply.headers(headers), CACHE)
  })
}
