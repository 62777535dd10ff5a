import { freePort } from '@swapyard/lib/free-port.ts'
import type { Page } from 'playwright-core'
import { networks } from '../../../server/networks/index.ts'
import { resolveNetwork } from '../../../server/src/core/domain/network.ts'
import { mountConsole } from '../../../server/src/pages/console.ts'
import { seedAdminRows } from '../../../server/test/adapters/postgres/seed-admin-rows.ts'
import { type AdminServer, type Operator, openAdminServer, PASSWORD } from '../../../server/test/admin/admin-server.ts'
import { createPools, parsePoolName } from '../../../server/test/admin/pools.fixture.ts'

/** Two held deposits, two held payouts, and more than a page of most lists. */
const ROWS = 2_000
export const XSS = '<img src=x onerror=alert(1)>'

export type ConsoleServer = Readonly<{
  origin: string
  server: AdminServer
  /** Id of a held exchange of the partner whose name and external id are markup. */
  heldId: string
}>

/** The console and the admin API on a database with rows. A passkey belongs to a host name, so it is reached by one. */
export async function serveConsole(): Promise<ConsoleServer> {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const server = await openAdminServer({
    settings: { cookie: 'swapyard-sandbox', isSecure: false, origins: [origin] },
    site: { rpId: 'localhost', origins: [origin] },
    live: {
      networks: networks
        .filter(({ id }) => id === 'btc' || id === 'eth')
        .map((one) => resolveNetwork(one, 'production')),
      // Anybody can give a token any name.
      pools: createPools(XSS),
    },
    deps: { parsePoolName },
    mount: mountConsole,
  })
  await server.app.listen({ port, host: '127.0.0.1' })
  return { origin, server, heldId: await addRows(server) }
}

async function addRows({ test: { database } }: AdminServer): Promise<string> {
  await seedAdminRows(database, ROWS)
  await database.query("update partners set name = $1 where name = 'acme'", [XSS])
  await database.query('alter table exchanges disable trigger user')
  const [held] = await database.query<{ id: string }>(
    `update exchanges set external_id = $1, partner_id = (select id from partners where name = $1)
     where id = (select exchange_id from executions where status = 'verifying' order by updated_at, id limit 1) returning id`,
    [XSS],
  )
  await database.query('alter table exchanges enable trigger user')
  return held?.id ?? ''
}

/** Fills the login, which must be on the page. */
export async function logIn(page: Page, { login }: Pick<Operator, 'login'>, code = ''): Promise<void> {
  await page.getByRole('textbox', { name: 'Login' }).fill(login)
  await page.getByLabel(/^Password/).fill(PASSWORD)
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Log in' }).click()
}
