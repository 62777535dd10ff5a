import { readFileSync } from 'node:fs'
import { freePort } from '@swapyard/lib/free-port.ts'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { mountConsole } from '../../../server/src/pages/console.ts'
import { seededWebhook } from '../../../server/test/adapters/postgres/seed-admin-rows.ts'
import { type AdminServer, type Operator, openAdminServer, PASSWORD } from '../../../server/test/admin/admin-server.ts'
import { PATIENCE } from '../../support/patience.ts'
import { addRows, deps, live, XSS } from './rows.ts'

export { XSS } from './rows.ts'

export type ConsoleServer = Readonly<{
  origin: string
  server: AdminServer
  /** Id of a held exchange of the partner whose name and external id are markup. */
  heldId: string
  /** The addresses of a page at which it has rows. */
  pathsOf(path: string): Promise<readonly string[]>
}>

/** The console and the admin API on a database with rows. A passkey belongs to a host name, so it is reached by one. */
export async function serveConsole(): Promise<ConsoleServer> {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const server = await openAdminServer({
    settings: { cookie: 'swapyard-sandbox', isSecure: false, origins: [origin] },
    site: { rpId: 'localhost', origins: [origin] },
    ...{ deps, live, mount: mountConsole },
  })
  await server.app.listen({ port, host: '127.0.0.1' })
  const heldId = await addRows(server)
  const partnerId = async (name: string) => {
    const [row] = await server.test.database.query<{ id: string }>('select id from partners where name = $1', [name])
    return row?.id ?? ''
  }
  const pathsOf: ConsoleServer['pathsOf'] = async (path) => {
    const [area] = path.split('/:')
    if (area === path) return shownPaths[path] ?? [path]
    if (area === '/webhooks') return [`${area}/${seededWebhook}`]
    if (area === '/exchanges') return [`${area}/${heldId}`]
    if (area === '/partners') return [`${area}/${await partnerId(XSS)}`, `${area}/${await partnerId('others')}`]
    throw new Error(`${path} needs the id of a row`)
  }
  return { origin, server, heldId, pathsOf }
}

/** Waits until a page has its lists, and the buttons of actions, which are disabled until the list of actions has come. */
export async function waitForPage(page: Page): Promise<void> {
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => page.getByText('Loading', { exact: true }).count(), PATIENCE).toBe(0)
  await expect.poll(() => page.locator('button[data-action]:disabled').count(), PATIENCE).toBe(0)
}

const ofPartner = `partner=${encodeURIComponent(XSS)}`
/** Filters with which a page has the rows of the partner with markup, or rows at all. */
const shownPaths: Readonly<Record<string, readonly string[]>> = {
  '/exchanges': [`/exchanges?${ofPartner}`],
  '/payout-queue': ['/payout-queue?network=eth'],
  '/webhooks': [`/webhooks?${ofPartner}`, '/webhooks'],
}

const pageList = readFileSync(new URL('../../../web/console/src/pages/page-list.ts', import.meta.url), 'utf8')
/** The path of every page of the console. */
export const pagePaths = [...pageList.matchAll(/path: '([^']+)'/g)].map(([, path = '']) => path)

/** Fills the login, which must be on the page. */
export async function logIn(
  page: Page,
  { login }: Pick<Operator, 'login'>,
  code = '',
  password = PASSWORD,
): Promise<void> {
  await page.getByRole('textbox', { name: 'Login' }).fill(login)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** A virtual authenticator that the page finds when it asks for a passkey. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
}
