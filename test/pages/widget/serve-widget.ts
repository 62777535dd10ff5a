import { freePort } from '@swapyard/lib/free-port.ts'
import { mountWidget } from '../../../server/src/pages/widget.ts'
import { createTestApp, type TestApp } from '../../../server/test/core/http/app-for-tests.ts'
import { startBrowser } from '../browser.ts'
import { type HostSite, startHostSite } from './host-page.ts'

/** A partner's site with the widget of a server, in a browser. A test may replace what `services` do. */
export type ServedWidget = Readonly<{
  api: string
  services: TestApp['services']
  site: HostSite
  close(): Promise<void>
}>

export async function serveWidget(): Promise<ServedWidget> {
  const port = await freePort()
  const api = `http://127.0.0.1:${port}`
  const { app, services } = createTestApp({ publicUrl: api })
  mountWidget(app)
  await app.listen({ port, host: '127.0.0.1' })
  const browser = await startBrowser()
  const site = await startHostSite(browser, api)
  return {
    api,
    services,
    site,
    async close() {
      await browser.close()
      site.close()
      await app.close()
    },
  }
}
