import type { FastifyInstance } from 'fastify'
import { type StaticBody, sendStaticBody } from '../../core/http/static-files.ts'
import { present } from '../../lib/assert.ts'
import { mountPlayground } from '../playground.ts'
import { type Site, sitePolicy } from './layout.ts'
import { START_PATH } from './page-list.ts'
import type { Operation } from './search-index.ts'
import { ROOT_PATH, sitePaths } from './site-paths.ts'

/** RFC 9110 §15.4.9. */
const PERMANENT = 308

const headers = { 'content-security-policy': sitePolicy, 'referrer-policy': 'no-referrer' }

/** Mounts the page at `/` and the documentation. The first request renders them. */
export function mountSite(app: FastifyInstance, site: Site, operations: readonly Operation[]): void {
  let rendering: Promise<ReadonlyMap<string, StaticBody>> | null = null
  const render = async () => (await import('./site.ts')).renderSite(site, operations)
  if (site.isSandbox) mountPlayground(app)
  for (const path of site.isSandbox ? sitePaths : [ROOT_PATH, ...sitePaths]) {
    app.get(path, async (request, reply) => {
      request.operation = path
      rendering ??= render().catch((error) => {
        rendering = null
        throw error
      })
      const body = present((await rendering).get(path), `the page ${path}`)
      return sendStaticBody(body, request, reply.headers(headers), 'no-cache')
    })
  }
  app.get(`${START_PATH}/`, (request, reply) => {
    request.operation = START_PATH
    return reply.redirect(START_PATH, PERMANENT)
  })
  app.get('/robots.txt', (request, reply) => {
    request.operation = '/robots.txt'
    const rules = site.isSandbox ? 'Disallow: /' : 'Disallow: /v1/\nDisallow: /health/'
    return reply.type('text/plain; charset=utf-8').send(`User-agent: *\n${rules}\n`)
  })
}
