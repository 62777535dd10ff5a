import type { FastifyInstance } from 'fastify'
import { servedRoutes } from '../../server/src/app/http.ts'
import { mountSite } from '../../server/src/pages/docs/mount.ts'
import { mountSdkPackage } from '../../server/src/pages/docs/sdk-package.ts'
import { createTestApp } from '../../server/test/core/http/app-for-tests.ts'

/** The HTTP server with the documentation, over services in memory. */
export function createDocsApp(site: { publicUrl: string; isSandbox: boolean }): FastifyInstance {
  const { app } = createTestApp({ publicUrl: site.publicUrl })
  const operations = Object.entries(servedRoutes({ sandboxControlUrl: null })).map(([id, route]) => ({ ...route, id }))
  mountSite(app, site, operations)
  mountSdkPackage(app)
  return app
}
