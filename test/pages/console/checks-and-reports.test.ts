import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operator } from '../../../server/test/admin/admin-server.ts'
import { solPool } from '../../../server/test/admin/pools.fixture.ts'
import { describeWith } from '../../support/describe-with.ts'
import { PATIENCE, PATIENCE_MS } from '../../support/patience.ts'
import { openPage, startBrowser } from '../browser.ts'
import { type ConsoleServer, logIn, serveConsole, XSS } from './serve.ts'

describeWith('chromium', 'checks, reports, sessions and partners of the console', () => {
  let console_: ConsoleServer
  let browser: Browser
  let page: Page
  let ada: Operator
  let bob: Operator
  let problems: string[]

  beforeAll(async () => {
    console_ = await serveConsole()
    ada = await console_.server.addOperator('ada@example.com', 'admin')
    bob = await console_.server.addOperator('bob@example.com', 'admin')
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

  test('saves the rows of all pages of a report as CSV', async () => {
    const amounts = { payouts: '0.01', sweeps: '0', gas: '0', stranded: '0', lost: '0.5' }
    const rowOf = (group: string) => ({ group, currency: 'btc@btc', transactions: 1, ...amounts })
    await page.route('**/admin/v1/reports/costs?*', (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor')
      const [row, next] = cursor === 'after acme' ? [rowOf('beta'), null] : [rowOf('acme'), 'after acme']
      return route.fulfill({ json: { data: [row], next } })
    })
    await visit('/reports?from=2026-11-01&to=2026-11-02&by=partner', 'Revenue and costs')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save costs as CSV' }).click(),
    ])
    expect((await readFile(await file.path(), 'utf8')).split('\r\n')).toEqual([
      'group,currency,transactions,payouts,sweeps,gas,stranded,lost',
      'acme,btc@btc,1,0.01,0,0,0,0.5',
      'beta,btc@btc,1,0.01,0,0,0,0.5',
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

  /** Fills the dialog that is open, and asks for the action. */
  async function ask(button: 'Carry out' | 'Ask for approval', reason: string): Promise<void> {
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill(reason)
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('button', { name: button }).click()
    await dialog.getByRole('heading', { name: button === 'Carry out' ? 'Done' : 'Waits for approval' }).waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  }

  /** A second person approves what was asked for last. */
  async function approve(): Promise<void> {
    const [request] = await query<{ id: string }>("select id from operator_requests where state = 'asked'")
    const caller = await console_.server.logIn(bob)
    expect((await caller.post('requests/approve', { id: request?.id })).status).toBe(201)
  }

  test('pauses the payouts of a partner on its page, names it among the pauses, and ends the pause', async () => {
    const [partner] = await query<{ id: string }>(`select id from partners where name = '${XSS}'`)
    const path = `/partners/${partner?.id}`
    await visit(path, XSS)
    await page.getByRole('button', { name: 'Pause payouts to customers of this partner' }).click()
    await ask('Carry out', 'its wallet was stolen')
    expect(await query("select scope from pauses where scope like 'partner:%'")).toEqual([
      { scope: `partner:${partner?.id}` },
    ])
    await visit('/pauses', 'Pauses')
    await page.getByRole('link', { name: `partner:${XSS}` }).click()
    await page.getByRole('heading', { level: 1, name: XSS }).waitFor()
    await page.getByRole('button', { name: 'End the pause of payouts to customers of this partner' }).click()
    await ask('Ask for approval', 'it has another wallet')
    await approve()
    expect(await query("select scope from pauses where scope like 'partner:%'")).toEqual([])
    await visit(path, XSS)
    await page.getByRole('button', { name: 'Pause payouts to customers of this partner' }).waitFor()
  })

  test('shows the monthly payouts of a partner, changes one and ends it', async () => {
    const [partner] = await query<{ id: string }>(`select id from partners where name = '${XSS}'`)
    const id = partner?.id
    await query(
      `insert into monthly_payout_settings (partner_id, asset_id, minimum) values ('${id}', 'usdt@eth', 50500000)`,
    )
    const path = `/partners/${id}`
    const minimum = () => query('select minimum from monthly_payout_settings')
    await visit(path, XSS)
    const table = page.getByRole('table', { name: 'Monthly payouts' })
    await table.getByRole('cell', { name: '50.5' }).waitFor()
    await table.getByRole('button', { name: 'Change usdt@eth' }).click()
    expect(
      await page
        .getByRole('dialog')
        .getByLabel(/^Minimum/)
        .inputValue(),
    ).toBe('50.5')
    await page
      .getByRole('dialog')
      .getByLabel(/^Minimum/)
      .fill('75')
    await ask('Ask for approval', 'contract of May')
    await approve()
    expect(await minimum()).toEqual([{ minimum: '75000000' }])
    await visit(path, XSS)
    await table.getByRole('button', { name: 'End usdt@eth' }).click()
    await ask('Ask for approval', 'contract ended')
    await approve()
    expect(await minimum()).toEqual([])
    await visit(path, XSS)
    await page.getByText('Nothing is paid to it every month.').waitFor()
  })

  test('shows which fee address waits, and until when', async () => {
    const [partner] = await query<{ id: string }>(`select id from partners where name = '${XSS}'`)
    const [waiting] = await query<{ address: string; at: Date }>(
      'select next_address as address, next_from as at from fee_addresses where next_from is not null',
    )
    await visit(`/partners/${partner?.id}`, XSS)
    const row = page.getByRole('table', { name: 'Addresses for swap fees' }).getByRole('row', { name: 'eth' })
    await row.getByTitle(waiting?.address ?? '', { exact: true }).waitFor()
    expect(await row.locator('time').getAttribute('datetime')).toBe(waiting?.at.toISOString())
  })

  test('links the pools of each token', async () => {
    await visit('/tokens', 'Tokens of swaps')
    const link = page.getByRole('link', { name: 'Pools of OFF' })
    const { searchParams } = new URL((await link.getAttribute('href')) ?? '', console_.origin)
    await link.click()
    await page.getByRole('heading', { level: 1, name: 'Pools', exact: true }).waitFor()
    expect(await page.getByLabel('Id, DEX, token or symbol').inputValue()).toBe(searchParams.get('find'))
    expect([searchParams.get('network'), searchParams.get('find')]).toEqual([
      await page.getByLabel('Network').inputValue(),
      expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    ])
  })

  test('finds a pool of a network and pauses it, with the pools of another network behind a choice', async () => {
    await visit('/dexes', 'DEXes and pools')
    await page.getByRole('link', { name: 'Pools of eth' }).click()
    await page.getByRole('heading', { level: 1, name: 'Pools', exact: true }).waitFor()
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.count(), PATIENCE).toBe(50)
    await page.getByRole('button', { name: 'Next page' }).click()
    await expect.poll(() => rows.count(), PATIENCE).toBe(10)
    expect(await rows.first().textContent()).toContain(XSS)
    await page.getByLabel('Network').selectOption('sol')
    await expect.poll(() => rows.count(), PATIENCE).toBe(1)
    await page.getByLabel('Id, DEX, token or symbol').fill('usdc')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Pause pool ${solPool.slice(0, 8)}` }).click()
    await ask('Carry out', 'a fake pool')
    expect(await query("select scope from pauses where scope like 'pool:%'")).toEqual([
      { scope: `pool:${solPool}@sol` },
    ])
    await rows.getByText(`pool:${solPool}@sol`).waitFor()
    await page.getByRole('button', { name: 'End the pause' }).click()
    await ask('Ask for approval', 'looked at it')
    await approve()
    expect(await query("select scope from pauses where scope like 'pool:%'")).toEqual([])
  })

  test('pages the partners on the server, and finds one by a part of its name or by its id', async () => {
    await query(
      "insert into partners (id, name) select gen_random_uuid(), 'zz wallet ' || lpad(n::text, 2, '0') from generate_series(1, 60) n",
    )
    const rows = page.locator('tbody tr')
    await visit('/partners', 'Partners')
    await expect.poll(() => rows.count(), PATIENCE).toBe(50)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('link', { name: 'zz wallet 60' }).waitFor()
    expect(await rows.count()).toBeLessThan(50)
    await page.getByRole('button', { name: 'First page' }).click()
    await page.getByRole('link', { name: XSS }).waitFor()
    await page.getByLabel('Name or id').fill('WALLET 57')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows.allTextContents(), PATIENCE).toEqual([expect.stringContaining('zz wallet 57')])
    const [partner] = await query<{ id: string }>("select id from partners where name = 'zz wallet 58'")
    await page.getByLabel('Name or id').fill(partner?.id ?? '')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows.allTextContents(), PATIENCE).toEqual([expect.stringContaining('zz wallet 58')])
  })

  test('pages one of two lists of a page, and leaves the other', async () => {
    await query(
      `insert into unclaimed_fees (network, hash, log_index, block_height, ref, sender, token, units, fee_to)
       select 'base', 'fee-' || lpad(n::text, 2, '0'), 0, n, 'r', 's', 't', n, 'f' from generate_series(1, 60) n`,
    )
    await visit('/swap-fees', 'Swap fees')
    const held = page.getByRole('table', { name: 'Held swap fees' }).locator('tbody tr')
    const unclaimed = page.getByRole('table', { name: 'Swap fees without a known partner' }).locator('tbody tr')
    await unclaimed.getByText('fee-60').waitFor()
    const heldRows = await held.allTextContents()
    expect(heldRows.length).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Next page' }).click()
    await unclaimed.getByText('fee-01').waitFor()
    expect(await held.allTextContents()).toEqual(heldRows)
    expect(await page.getByRole('button', { name: 'First page' }).count()).toBe(1)
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
