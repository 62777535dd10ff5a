import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeOf, type Operator, PASSWORD } from '../../../server/test/admin/admin-server.ts'
import { describeWith } from '../../support/describe-with.ts'
import { partOf } from '../../support/part.ts'
import { PATIENCE, PATIENCE_MS } from '../../support/patience.ts'
import { findViolations } from '../axe.ts'
import { openPage, startBrowser } from '../browser.ts'
import { createKeyboard } from '../keyboard.ts'
import { addAuthenticator, type ConsoleServer, logIn, pagePaths, serveConsole, waitForPage, XSS } from './serve.ts'

/** Budget of the first visit in bytes: page, scripts and styles, compressed. */
const FIRST_LOAD_MAX = 300_000
const REVOKED = `select 1 from operator_sessions s join operators o on o.id = s.operator_id
  where o.login = $1 and s.revoked_at is not null`
/** Hashes are shortened. */
const MARKUP_SHOWN = 8
const NEW_PASSWORD = 'another phrase that is long'
const wide = { width: 1280, height: 900 }
const narrow = { width: 390, height: 844 }
/** Browsers report the answers that ask for a login (401) and for a second factor (403). */
const EXPECTED = /status of 40[13]/
/** Pages without a text that a partner or a chain sets, and the reports, which have one per partner alone. */
const OURS = new Set([
  ...[
    '/',
    '/payout-queue',
    '/wallets',
    '/ledger',
    '/reconciliation',
    '/reports',
    '/prices',
    '/networks',
    '/operators',
    '/second-factors',
  ],
])

describeWith('chromium', 'the console', () => {
  let console_: ConsoleServer
  let browser: Browser
  let ada: Operator
  let bob: Operator
  let eve: Operator
  /** Ada's page, which most tests share. */
  let page: Page
  let problems: string[]

  beforeAll(async () => {
    console_ = await serveConsole()
    const { server } = console_
    ada = await server.addOperator('ada@example.com', 'admin')
    bob = await server.addOperator('bob@example.com', 'admin')
    eve = await server.addOperator('eve@example.com', 'viewer')
    await query(
      `insert into operator_requests (id, action, arguments, reason, state, asked_by, expires_at, decided_by, decided_at)
       select gen_random_uuid(), 'partners-add', jsonb_build_object('name', $1::text), $1, 'withdrawn', id, now(), id, now()
       from operators where login = $2`,
      [XSS, bob.login],
    )
    browser = await startBrowser()
    ;({ page, problems } = await open('/'))
    await logIn(page, ada, ada.code())
    await heading('Overview').waitFor()
    await query('update operator_sessions set user_agent = $1', [XSS])
  })
  afterAll(async () => {
    await browser?.close()
    await console_?.server.close()
  })

  async function open(path: string): Promise<{ page: Page; problems: string[] }> {
    const opened = await openPage(browser, `${console_.origin}/console${path}`, { viewport: wide })
    opened.page.setDefaultTimeout(PATIENCE_MS)
    return opened
  }
  const unexpected = () => problems.filter((problem) => !EXPECTED.test(problem))
  const query = <Row>(sql: string, values: readonly unknown[] = []) =>
    console_.server.test.database.query<Row & Record<string, unknown>>(sql, values)
  const heading = (name: string) => page.getByRole('heading', { level: 1, name })

  /** Opens a page within the program, without another login. */
  async function visit(path: string, title: string): Promise<void> {
    await page.goto(`${console_.origin}/console${path}`)
    await heading(title).waitFor()
  }

  test('refuses a wrong code with the code of the error, and logs in with password and code', async () => {
    const fresh = await open('/')
    await fresh.page.getByRole('button', { name: 'Log in' }).waitFor()
    expect(await findFaults(fresh.page)).toEqual([])
    await logIn(fresh.page, ada, '000000')
    await fresh.page.getByRole('alert').getByText('LOGIN_FAILED').waitFor()
    expect(await findViolations(fresh.page)).toEqual([])
    await logIn(fresh.page, ada, ada.code())
    await fresh.page.getByRole('button', { name: ada.login }).waitFor()
    await fresh.page.close()
  })

  test('loads at most 300 kB at the first visit', async () => {
    const first = await open('/')
    await logIn(first.page, bob, bob.code())
    await first.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await first.page.waitForLoadState('networkidle')
    const loaded = await first.page.evaluate<{ name: string; size: number }[]>(
      `[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
         .filter(({ name }) => name.includes('/console')).map(({ name, encodedBodySize: size }) => ({ name, size }))`,
    )
    expect(loaded.filter(({ name }) => name.endsWith('.js')).length).toBeGreaterThan(2)
    expect(loaded.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(FIRST_LOAD_MAX)
    await first.page.close()
  })

  test('lets browsers keep files whose names have a hash, and never the page', async () => {
    const index = await console_.server.app.inject({ url: '/console' })
    const [file = ''] = /\/console\/assets\/[\w-]+-[\w-]{8}\.js/.exec(index.body) ?? []
    const asset = await console_.server.app.inject({ url: file })
    expect([asset.statusCode, asset.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable'])
    expect([index.statusCode, index.headers['cache-control']]).toEqual([200, 'no-store'])
  })

  /**
   * Violations, failures, lists without rows and horizontal scrolling, in both schemes and widths. The schemes differ in colors
   * alone and the widths in the layout, so two of the four appearances have all that there is.
   */
  async function findFaults(page: Page): Promise<readonly unknown[]> {
    const lists = await page.getByRole('status').allTextContents()
    // Passkeys are added by a test below, which looks at that page again.
    const empty = lists.filter((text) => / 0 rows/.test(text) && !text.includes('Passkeys'))
    const faults: unknown[] = empty.map((text) => ['empty', text])
    faults.push(...(await page.getByRole('alert').allTextContents()).map((text) => ['alert', text]))
    for (const [viewport, colorScheme] of [
      [wide, 'light'],
      [narrow, 'dark'],
    ] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      const violations = await findViolations(page)
      faults.push(...violations.map((violation) => [viewport.width, colorScheme, violation]))
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      if (width > viewport.width) faults.push(['scrolls', viewport.width, width])
    }
    await page.setViewportSize(wide)
    return faults
  }

  test('lists every page', () => {
    expect(pagePaths.length).toBeGreaterThan(27)
  })

  test.each(partOf(pagePaths, 2))(
    'has no violations at %s, in light and dark, wide and narrow, and does not scroll',
    async (path) => {
      // Four rows have what fifty have, and are checked sooner.
      const shorten = (url: string) => url.replace('limit=50', 'limit=4')
      await page.route('**/admin/v1/**', (route) => route.continue({ url: shorten(route.request().url()) }))
      const [shown = ''] = await console_.pathsOf(path)
      await page.goto(`${console_.origin}/console${shown}`)
      await page.getByRole('navigation').waitFor()
      await waitForPage(page)
      expect(await findFaults(page)).toEqual([])
      // Markup of partners and chains is text: an image of it would ask for its source.
      expect(await page.locator('img').count()).toBe(0)
      if (!OURS.has(path)) expect(await page.getByRole('main').textContent()).toContain(XSS.slice(0, MARKUP_SHOWN))
      await page.unrouteAll({ behavior: 'wait' })
      expect(unexpected()).toEqual([])
    },
  )

  test('shows the deliveries of a webhook without scrolling their table', async () => {
    const [shown = ''] = await console_.pathsOf('/webhooks/:id')
    const webhook = shown.split('/').at(-1)
    // The longest that a row can have.
    await query(
      `update webhook_deliveries set attempts = 12, next_attempt_at = now(), last_status = 301, last_error = $2, state = 'pending', delivered_at = null
       where id in (select id from webhook_deliveries where webhook_id = $1 order by id desc limit 1)`,
      [webhook, 'status 301: redirects are not followed'],
    )
    await query(
      `update partner_events set type = 'exchange.refund_address_required'
       where id in (select event_id from webhook_deliveries where webhook_id = $1 order by id desc limit 3)`,
      [webhook],
    )
    await visit(shown, 'Deliveries of a webhook')
    const table = page.getByRole('region', { name: 'Deliveries' })
    await table.getByText('redirects are not followed').waitFor()
    const [scrolled, visible] = await table.evaluate((one) => [one.scrollWidth, one.clientWidth])
    expect(scrolled).toBeLessThanOrEqual(visible ?? 0)
  })

  test('shows markup of partners as text, and runs none of it', async () => {
    await visit(`/exchanges/${console_.heldId}`, 'Exchange')
    await expect.poll(() => page.getByText(XSS, { exact: true }).count(), PATIENCE).toBeGreaterThan(1)
    await visit('/held', 'Held deposits')
    await page.getByText(XSS).first().waitFor()
    expect(await page.locator('img').count()).toBe(0)
    const { headers } = await console_.server.app.inject({ url: '/console/held' })
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/=]+'; /,
    )
    expect(unexpected()).toEqual([])
  })

  test('pages a list on the server, goes back, filters by the address, and finds an exchange by a hash', async () => {
    await visit('/exchanges', 'Exchanges')
    const first = await page.locator('tbody tr').first().textContent()
    await page.getByRole('button', { name: 'Next page' }).click()
    await expect.poll(() => page.locator('tbody tr').first().textContent(), PATIENCE).not.toBe(first)
    await page.evaluate('history.back()')
    await expect.poll(() => page.locator('tbody tr').first().textContent(), PATIENCE).toBe(first)
    await page.getByLabel('Status').selectOption('verifying')
    await expect.poll(() => page.locator('tbody tr').count(), PATIENCE).toBe(2)
    expect(new URL(page.url()).search).toBe('?status=verifying')
    await visit('/exchanges', 'Exchanges')
    await page.getByLabel('Id, address or hash').fill('payout-7')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('tbody tr').count(), PATIENCE).toBe(1)
    const [row] = await query<{ exchange_id: string }>(
      "select exchange_id from deposit_targets where address = 'address-7'",
    )
    await page.locator('tbody a').first().click()
    await heading('Exchange').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/console/exchanges/${row?.exchange_id}`)
  })

  test('carries an action out by the keyboard alone: what it will do is shown before, and it has a reason', async () => {
    await visit('/', 'Overview')
    const keyboard = await createKeyboard(page)
    const dialog = page.getByRole('dialog')
    await keyboard.press(page.getByRole('button', { name: 'Pause a scope', exact: true }), 'Enter')
    await keyboard.tabTo(dialog.getByLabel('Scope'))
    await page.keyboard.type('network:btc')
    await keyboard.tabTo(dialog.getByLabel('Reason'))
    await page.keyboard.type(XSS)
    await keyboard.press(dialog.getByRole('button', { name: 'Preview' }), 'Enter')
    await page.getByRole('heading', { name: 'What it will do' }).waitFor()
    expect(await dialog.textContent()).toContain(`Reason: none → ${XSS}`)
    expect(await query("select scope from pauses where scope = 'network:btc'")).toEqual([])
    await keyboard.press(dialog.getByRole('button', { name: 'Carry out' }), 'Enter')
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    expect(await query("select scope, reason, actor from pauses where scope = 'network:btc'")).toEqual([
      { scope: 'network:btc', reason: XSS, actor: 'operator:ada@example.com' },
    ])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // The focus is back where the action began.
    const focused = () =>
      page.evaluate('document.activeElement === document.body || document.activeElement.textContent')
    await expect.poll(focused, PATIENCE).toBe('Pause a scope')
  })

  test('asks for a second factor and a second person before a held deposit is released', async () => {
    await query("update operator_sessions set confirmed_at = clock_timestamp() - interval '10 minutes'")
    await visit('/held', 'Held deposits')
    await page.getByRole('button', { name: 'Release' }).first().click()
    await page.getByLabel('Reason').fill('she sent a passport')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('button', { name: 'Ask for approval' }).click()
    const confirmation = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await confirmation.getByLabel('Code').waitFor()
    expect(await findViolations(page)).toEqual([])
    await confirmation.getByLabel('Code').fill(ada.code())
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Waits for approval' }).waitFor()
    expect(await findViolations(page)).toEqual([])
    const decision = () => query("select decision from executions where status = 'verifying' and decision is not null")
    expect(await decision()).toEqual([])
    await visit('/requests', 'Approvals')
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('dialog').getByLabel('Reason').waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)

    const second = await open('/requests')
    await logIn(second.page, bob, bob.code())
    await second.page.getByRole('button', { name: 'Approve' }).click()
    const dialog = second.page.getByRole('dialog', { name: 'Approve exchanges-release' })
    await dialog.getByRole('heading', { name: 'What it will do' }).waitFor()
    expect(await findViolations(second.page)).toEqual([])
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await dialog.getByRole('heading', { name: 'Done' }).waitFor()
    expect(await decision()).toEqual([{ decision: 'release' }])
    await second.page.close()
  })

  test('accepts an invitation with an authenticator app and a password, and shows recovery codes', async () => {
    const { server, origin } = console_
    const [asker, approver] = [await server.logIn(ada), await server.logIn(bob)]
    const given = { login: 'dan@example.com', role: 'support', reason: 'a new colleague' }
    const asked = await asker.post('operators/invite', given)
    const approved = await approver.post('requests/approve', { id: asked.body['requestId'] })
    const halves = [asked, approved].map(({ body }) => body['shown'] as Record<string, string>)
    const token = `${halves[0]?.['firstHalf']} ${halves[1]?.['secondHalf']}`
    const other = await open('/invitation')
    await other.page.getByLabel('Token of the invitation').fill(token)
    await other.page.getByRole('button', { name: 'Continue' }).click()
    await other.page.getByRole('img', { name: 'Secret for the authenticator app as a QR code' }).waitFor()
    const uri = (await other.page.getByText('otpauth://').textContent()) ?? ''
    expect(await findViolations(other.page)).toEqual([])
    await other.page.getByLabel('Code of the app').fill(codeOf(uri, server.clock.now))
    await other.page.getByLabel(/^New password/).fill(PASSWORD)
    await other.page.getByRole('button', { name: 'Accept' }).click()
    const items = other.page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
    await items.first().waitFor()
    const codes = await items.allTextContents()
    expect(codes).toHaveLength(10)
    await other.page.goto(`${origin}/console/`)
    await logIn(other.page, { login: given.login }, codes[0])
    await other.page.getByRole('button', { name: given.login }).waitFor()
    expect(other.problems.filter((problem) => !EXPECTED.test(problem))).toEqual([])
    await other.page.close()
  })

  test('says to a viewer which role an action needs', async () => {
    const other = await open('/')
    await logIn(other.page, eve, eve.code())
    const pause = other.page.getByRole('button', { name: 'Pause a scope' })
    await expect.poll(() => pause.getAttribute('aria-disabled'), PATIENCE).toBe('true')
    await pause.focus()
    await other.page.keyboard.press('Enter')
    await pause.hover()
    await other.page.getByText('Needs the role support; yours is viewer.').waitFor()
    expect(await other.page.getByRole('dialog').count()).toBe(0)
    await other.page.close()
  })

  test('changes the password of an operator, and ends the other sessions', async () => {
    const other = await open('/sessions')
    const elsewhere = await console_.server.logIn(eve)
    await logIn(other.page, eve, eve.code())
    await other.page.getByRole('button', { name: 'Change your password' }).click()
    const dialog = other.page.getByRole('dialog', { name: 'Change your password' })
    const change = async (password: string, next: string) => {
      await dialog.getByLabel(/^Password/).fill(password)
      await dialog.getByLabel(/^New password/).fill(next)
      await dialog.getByRole('button', { name: 'Change' }).click()
    }
    await change('a wrong old password', NEW_PASSWORD)
    await dialog.getByRole('alert').waitFor()
    expect(await findViolations(other.page)).toEqual([])
    await change(PASSWORD, NEW_PASSWORD)
    await dialog.waitFor({ state: 'detached' })
    expect((await elsewhere.get('session')).status).toBe(401)
    await other.page.getByRole('button', { name: 'eve@example.com' }).click()
    await other.page.getByRole('menuitem', { name: 'Log out' }).click()
    await logIn(other.page, eve, eve.code(), NEW_PASSWORD)
    await other.page.getByRole('button', { name: 'eve@example.com' }).waitFor()
    await other.page.close()
  })

  test('returns to the page that was asked for after a login, also by a passkey, and ends the session', async () => {
    await query('update operator_sessions set confirmed_at = clock_timestamp()')
    await addAuthenticator(page)
    await visit('/second-factors', 'Your second factors')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a passkey' })
    await dialog.getByLabel('Name of the passkey').fill(XSS)
    expect(await findViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Add' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await query('select name from operator_passkeys')).toEqual([{ name: XSS }])
    await page.getByRole('cell', { name: XSS }).waitFor()
    expect(await findFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'ada@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Log out' }).click()
    await page.getByRole('textbox', { name: 'Login' }).waitFor()
    expect(await query(REVOKED, [ada.login])).toHaveLength(1)
    await page.goto(`${console_.origin}/console/payouts`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await heading('Payouts').waitFor()
    await query('update operator_sessions set revoked_at = clock_timestamp() where revoked_at is null')
    // A list that is read again may notice first.
    await page
      .getByRole('button', { name: 'Refresh' })
      .click({ timeout: 2_000 })
      .catch(() => undefined)
    await page.getByRole('textbox', { name: 'Login' }).waitFor()
    expect(unexpected()).toEqual([])
  })
})
