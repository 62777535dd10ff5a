import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operator } from '../../../server/test/admin/admin-server.ts'
import { describeWith } from '../../support/describe-with.ts'
import { PATIENCE, PATIENCE_MS } from '../../support/patience.ts'
import { openPage, startBrowser } from '../browser.ts'
import { type ConsoleServer, logIn, serveConsole, XSS } from './serve.ts'

describeWith('chromium', 'checks, reports, sessions and partners of the console', () => {
  let console_: ConsoleServer
  let browser: Browser
  let page: Page
  let ada: Operator
  let problems: string[]

  beforeAll(async () => {
    console_ = await serveConsole()
    ada = await console_.server.addOperator('ada@example.com', 'admin')
    browser = await startBrowser()
    ;({ page, problems } = await openPage(browser, `${console_.origin}/console/`))
    page.setDefaultTimeout(PATIENCE_MS)
    await logIn(page, ada, ada.code())
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await console_?.server.close()
  })

  const query = <Row>(sql: string) => console_.server.test.database.query<Row & Record<string, unknown>>(sql)
  async function visit(path: string, title: string): Promise<void> {
    await page.goto(`${console_.origin}/console${path}`)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
  }

  test('says which row of the audit log is wrong, and what is wrong with the ledger', async () => {
    await visit('/audit', 'Audit log')
    await page.getByRole('button', { name: 'Verify the audit log' }).click()
    // The rows of the test have no hashes.
    await page.getByRole('alert').getByText('Row 1 is wrong').waitFor()
    await query('alter table balances disable trigger user')
    await query("update balances set units = units + 7 where account = 'asset:wallet' and asset_id = 'btc@btc'")
    await visit('/ledger', 'Ledger')
    await page.getByRole('button', { name: 'Check the ledger' }).click()
    await page.getByRole('alert').getByText('2 faults').waitFor()
    expect(await page.getByRole('region', { name: 'Faults' }).textContent()).toContain('asset:wallet')
  })

  test('draws the revenue of one currency per day, and saves the rows of all as CSV', async () => {
    const amounts = { partnerFees: '0', networkFees: '0.01', dust: '0' }
    const rows = [
      { group: '2026-11-01', currency: 'eth@eth', exchanges: 2, spread: '0.000000000000000001', ...amounts },
      { group: '2026-11-02', currency: 'eth@eth', exchanges: 1, spread: '-0.5', ...amounts },
      { group: '2026-11-02', currency: 'btc@btc', exchanges: 3, spread: '1.25', ...amounts },
    ]
    await page.route('**/admin/v1/reports/revenue?*', (route) => route.fulfill({ json: { data: rows, next: null } }))
    await visit('/reports?from=2026-11-01&to=2026-11-02', 'Revenue and costs')
    await page.getByRole('img', { name: 'Revenue in eth@eth per day' }).waitFor()
    await page.getByLabel('Currency of the chart').selectOption('btc@btc')
    await page.getByRole('img', { name: 'Revenue in btc@btc per day' }).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save revenue as CSV' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('revenue-day-2026-11-01-2026-11-02.csv')
    expect((await readFile(await file.path(), 'utf8')).split('\r\n')).toEqual([
      'group,currency,exchanges,spread,partnerFees,networkFees,dust',
      '2026-11-01,eth@eth,2,0.000000000000000001,0,0.01,0',
      '2026-11-02,eth@eth,1,-0.5,0,0.01,0',
      '2026-11-02,btc@btc,3,1.25,0,0.01,0',
      '',
    ])
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('ends another session of the operator', async () => {
    await console_.server.logIn(ada)
    await visit('/sessions', 'Sessions')
    await page.getByRole('button', { name: 'End', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click()
    await page.getByRole('cell', { name: 'ended' }).waitFor()
    expect(await query('select kind from operator_sessions where revoked_at is not null')).toEqual([{ kind: 'bearer' }])
  })

  test('opens a partner from the list, shows its name as text, and suspends it', async () => {
    await visit('/partners', 'Partners')
    await page.getByRole('link', { name: XSS }).click()
    await page.getByRole('heading', { level: 1, name: XSS }).waitFor()
    await page.getByRole('button', { name: 'Suspend' }).click()
    await page.getByLabel('Reason').fill('its key leaked')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('button', { name: 'Carry out' }).click()
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click()
    await page.getByRole('button', { name: 'End the suspension' }).waitFor()
    expect(await query('select name from partners where suspended order by name')).toEqual([
      { name: XSS },
      { name: 'others' },
    ])
    await expect.poll(() => page.locator('main img').count(), PATIENCE).toBe(0)
    expect(problems.filter((problem) => !/status of 40[13]/.test(problem))).toEqual([])
  })
})
