import type { Services } from '../../../server/src/app/http.ts'
import { apiDefaults } from '../../../server/src/core/http/settings.ts'
import type { ExchangeView } from '../../../server/src/exchange/domain/exchange.ts'
import { mountTracking, type TrackingDeps } from '../../../server/src/pages/tracking/routes.ts'
import { createTestApp, listen, type TestApp } from '../../../server/test/core/http/app-for-tests.ts'

export type TrackingServer = Readonly<{
  url: string
  services: TestApp['services']
  testApp: TestApp
  /** Inserts an exchange and returns the path of its page. */
  add(view: ExchangeView): string
  /** Replaces an exchange. */
  replace(view: ExchangeView): void
  close(): Promise<void>
}>

/** The tracking page over services in memory. */
export async function serveTracking(
  options: Partial<TrackingDeps> = {},
  tracking?: Partial<Services['tracking']>,
): Promise<TrackingServer> {
  const testApp = createTestApp()
  const { app, services } = testApp
  Object.assign(services.tracking, tracking)
  const settings = { ...apiDefaults, publicUrl: 'http://127.0.0.1:8080' }
  mountTracking(app, { services, settings, isDraining: app.isDraining, ...options })
  const url = `http://127.0.0.1:${await listen(app)}`
  return {
    url,
    services,
    testApp,
    add: (view) => {
      services.insert('p1', view)
      return `/track/${services.tracking.tokenOf(view.exchange.id)}`
    },
    replace: (view) => {
      const row = services.rows.find((one) => one.view.exchange.id === view.exchange.id)
      if (row !== undefined) row.view = view
    },
    close: () => app.close(),
  }
}
