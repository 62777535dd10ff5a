import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Operator, PASSWORD } from '../../../server/test/admin/admin-server.ts'
import { describeWith } from '../../support/describe-with.ts'
import { partOf } from '../../support/part.ts'
import { PATIENCE, PATIENCE_MS } from '../../support/patience.ts'
import { openPage, startBrowser } from '../browser.ts'
import { createKeyboard, findUnreached } from '../keyboard.ts'
import { type ConsoleServer, logIn, pagePaths, serveConsole, waitForPage, XSS } from './serve.ts'

const wide = { width: 1280, height: 900 }
const narrow = { width: 390, height: 844 }

describeWith('chromium', 'the pages of the console', () => {
  let console_: ConsoleServer
  let browser: Browser
  let page: Page
  let ada: Operator

  beforeAll(async () => {
    console_ = await serveConsole()
    ada = await console_.server.addOperator('ada@example.com', 'admin')
    browser = await startBrowser()
    ;({ page } = await openPage(browser, `${console_.origin}/console/`, {
      ...{ viewport: wide, colorScheme: 'light', reducedMotion: 'reduce' },
    }))
    page.setDefaultTimeout(PATIENCE_MS)
    await logIn(page, ada, ada.code())
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await console_?.server.close()
  })

  const query = <Row>(sql: string) => console_.server.test.database.query<Row & Record<string, unknown>>(sql)
  async function visit(path: string): Promise<void> {
    await page.goto(`${console_.origin}/console${path}`)
    await waitForPage(page)
  }

  test.each(partOf(pagePaths, 2))(
    'the tab key reaches everything at %s, wide and narrow, and shows where it is',
    async (path) => {
      // Four rows have what fifty have.
      await page.route('**/admin/v1/**', (route) =>
        route.continue({ url: route.request().url().replace('limit=50', 'limit=4') }),
      )
      const [shown = ''] = await console_.pathsOf(path)
      for (const viewport of [wide, narrow]) {
        await page.setViewportSize(viewport)
        await visit(shown)
        expect([viewport.width, await findUnreached(page)]).toEqual([viewport.width, []])
      }
      await page.setViewportSize(wide)
      await page.unrouteAll({ behavior: 'wait' })
    },
  )

  test('an operator logs in by the keyboard alone', async () => {
    const { page: fresh } = await openPage(browser, `${console_.origin}/console/held`, { viewport: narrow })
    const keyboard = await createKeyboard(fresh)
    for (const [input, text] of [
      [fresh.getByRole('textbox', { name: 'Login' }), ada.login],
      [fresh.getByLabel(/^Password/), PASSWORD],
      [fresh.getByLabel('Code'), ada.code()],
    ] as const) {
      await keyboard.tabTo(input)
      await fresh.keyboard.type(text)
    }
    await fresh.keyboard.press('Enter')
    await fresh.getByRole('heading', { level: 1, name: 'Held deposits' }).waitFor()
    await fresh.close()
  })

  test('the menu of a phone is opened and used by the keyboard', async () => {
    await page.setViewportSize(narrow)
    await visit('/')
    const keyboard = await createKeyboard(page)
    const menu = page.getByRole('button', { name: 'Menu' })
    const link = page.getByRole('navigation').getByRole('link', { name: 'Held deposits' })
    await keyboard.press(menu, 'Enter')
    await keyboard.press(link, 'Enter')
    await page.getByRole('heading', { level: 1, name: 'Held deposits' }).waitFor()
    await expect.poll(() => menu.getAttribute('aria-expanded'), PATIENCE).toBe('false')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    expect(await link.isVisible()).toBe(false)
    await page.setViewportSize(wide)
  })

  test('a list that is read again, by its button or after its interval, leaves the focus on the button', async () => {
    await visit('/dexes')
    const keyboard = await createKeyboard(page)
    const refresh = page.getByRole('button', { name: 'Refresh' }).first()
    const answer = Promise.withResolvers<void>()
    let reads = 0
    await page.route('**/admin/v1/pools*', async (route) => {
      reads += 1
      await answer.promise
      await route.continue()
    })
    await keyboard.press(refresh, 'Enter')
    await expect.poll(() => refresh.getAttribute('aria-busy'), PATIENCE).toBe('true')
    // Another press does not read twice.
    await page.keyboard.press('Enter')
    await page.waitForTimeout(300)
    expect(reads).toBe(1)
    answer.resolve()
    await expect.poll(() => refresh.getAttribute('aria-busy'), PATIENCE).toBe('false')
    await expect.poll(() => reads, PATIENCE).toBe(2)
    await expect.poll(() => refresh.getAttribute('aria-busy'), PATIENCE).toBe('false')
    expect(await keyboard.lostFocus()).toEqual([])
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('the overview has the numbers of now and of a day, and changes without a reload', async () => {
    await visit('/')
    for (const name of ['Open exchanges', 'Last 24 hours', 'Volume of the last 24 hours', 'Spread earned today (UTC)'])
      await page.getByRole('heading', { name, exact: true }).waitFor()
    await page.getByRole('list', { name: 'Lag per network' }).getByText('btc').waitFor()
    const attention = page.getByRole('list', { name: 'What needs attention' })
    for (const name of ['Critical alarms', 'Warnings', 'Held deposits', 'Oldest due step'])
      await attention.getByText(name).waitFor()
    const pauses = attention.getByRole('listitem').filter({ hasText: 'Pauses' })
    const before = await pauses.textContent()
    await page.evaluate('globalThis.marker = 1')
    await query("insert into pauses (scope, reason, actor) values ('network:eth', 'a test', 'a test')")
    await expect.poll(() => pauses.textContent(), PATIENCE).not.toBe(before)
    expect(await page.evaluate('globalThis.marker')).toBe(1)
    await query("delete from pauses where scope = 'network:eth'")
  })

  test('exchanges are found by id, address, hash, partner and amount', async () => {
    const [target] = await query<{ id: string }>(
      "select exchange_id as id from deposit_targets where address = 'address-7'",
    )
    const [received] = await query<{ id: string }>('select exchange_id as id from deposits where units = 777777')
    const links = () =>
      page.locator('tbody a').evaluateAll((all) => all.map((one) => one.getAttribute('href')?.split('/').at(-1)))
    for (const [typed, id] of [
      [{ 'Id, address or hash': target?.id }, target?.id],
      [{ 'Id, address or hash': 'address-7' }, target?.id],
      [{ 'Id, address or hash': 'deposit-7' }, target?.id],
      [{ 'Source currency': 'btc@btc', 'Amount, ordered or received': '0.00777777' }, received?.id],
    ] as const) {
      await visit('/exchanges')
      for (const [name, text] of Object.entries(typed)) await page.getByRole('textbox', { name }).fill(text ?? '')
      await page.keyboard.press('Enter')
      await expect.poll(links, PATIENCE).toEqual([id])
    }
    await visit('/exchanges')
    await page.getByRole('textbox', { name: 'Partner' }).fill(XSS)
    await page.keyboard.press('Enter')
    const partners = async () => new Set(await page.locator('tbody tr td:last-child').allTextContents())
    await expect.poll(partners, PATIENCE).toEqual(new Set([XSS]))
  })

  test('an exchange is one page with its terms, guards, transfers, timeline, entries and facts', async () => {
    const [target] = await query<{ id: string }>(
      "select exchange_id as id from deposit_targets where address = 'address-7'",
    )
    await visit(`/exchanges/${target?.id}`)
    const headings = await page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents()
    expect(headings).toEqual(
      expect.arrayContaining([
        ...['Terms', 'Guards', 'Deposits and payouts', 'Timeline', 'Conversions', 'Ledger entries'],
        'Everything that is stored',
      ]),
    )
    const explorers = await page
      .locator('main a[target=_blank]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
    for (const hash of ['deposit-7', 'payout-7'])
      expect(explorers).toContainEqual(expect.stringMatching(new RegExp(`^https://.*/${hash}$`)))
  })

  test('a network is paused on its page, which shows its nodes and its lag', async () => {
    await visit('/networks')
    const row = page.getByRole('row', { name: 'btc' })
    await row.getByText('btc-a.example').waitFor()
    await row.getByRole('button', { name: 'Pause btc' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('its nodes disagree')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('button', { name: 'Carry out' }).click()
    await dialog.getByRole('heading', { name: 'Done' }).waitFor()
    await page.keyboard.press('Escape')
    await row.getByText('network:btc').waitFor()
    expect(await query("select reason from pauses where scope = 'network:btc'")).toEqual([
      { reason: 'its nodes disagree' },
    ])
  })
})
