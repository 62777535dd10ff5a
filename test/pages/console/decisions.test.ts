import { freePort } from '@swapyard/lib/free-port.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { price } from '../../../server/src/exchange/domain/pricing.fixture.ts'
import { mountConsole } from '../../../server/src/pages/console.ts'
import type { Operator } from '../../../server/test/admin/admin-server.ts'
import { openMoneyPathServer } from '../../../server/test/admin/money-path-server.ts'
import { COIN, ETHER } from '../../../server/test/exchange/money-path.ts'
import { describeWith } from '../../support/describe-with.ts'
import { PATIENCE, PATIENCE_MS } from '../../support/patience.ts'
import { findViolations } from '../axe.ts'
import { openPage, startBrowser } from '../browser.ts'
import { logIn } from './serve.ts'

const PAID = COIN / 25n
/** 0.04 bitcoin at 4 800 dollars per ether, less the fees. */
const AT_4800 = '0.828877083 eth@eth'

describeWith('chromium', 'decisions in the console', () => {
  let opened: Awaited<ReturnType<typeof openMoneyPathServer>>
  let browser: Browser
  let origin: string
  let page: Page
  let ada: Operator
  let bob: Operator
  /** At which the exchange was quoted. */
  let prices: ReturnType<typeof opened.path.books.current>['prices']
  let exchange: Awaited<ReturnType<typeof opened.path.createExchange>>

  beforeAll(async () => {
    const port = await freePort()
    origin = `http://localhost:${port}`
    opened = await openMoneyPathServer({
      settings: { cookie: 'swapyard-sandbox', isSecure: false, origins: [origin] },
      site: { rpId: 'localhost', origins: [origin] },
      mount: mountConsole,
      deps: { addresses: () => opened.path.dependencies.chains },
    })
    const { server, path } = opened
    await server.app.listen({ port, host: '127.0.0.1' })
    ada = await server.addOperator('ada@example.com', 'admin')
    bob = await server.addOperator('bob@example.com', 'admin')
    await path.fundWallets({ btc: 10n * COIN, eth: 12n * ETHER })
    exchange = await path.createExchange({ fromUnits: PAID, toUnits: (995n * ETHER) / 1_000n, maxUnits: COIN / 10n })
    prices = path.books.current().prices
    path.books.replace({ prices: { ...prices, usd: new Map([...prices.usd, ['eth', price('4800', '4800')]]) } })
    path.payDeposit(exchange, PAID)
    await path.mineBlocks(5)
    browser = await startBrowser()
    page = await open('/', ada)
  })
  afterAll(async () => {
    await browser?.close()
    await opened?.close()
  })

  async function open(path: string, operator: Operator): Promise<Page> {
    const { page: fresh } = await openPage(browser, `${origin}/console${path}`, {
      viewport: { width: 1280, height: 900 },
    })
    fresh.setDefaultTimeout(PATIENCE_MS)
    await logIn(fresh, operator, operator.code())
    await fresh.getByRole('button', { name: operator.login }).waitFor()
    return fresh
  }
  async function visit(path: string, title: string): Promise<void> {
    await page.goto(`${origin}/console${path}`)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
  }
  const will = (of: Page) => of.getByRole('dialog').getByRole('region', { name: 'What it pays' })
  const expectWill = (of: Page) =>
    expect
      .poll(async () => await will(of).textContent(), PATIENCE)
      .toMatch(new RegExp(`${AT_4800}.*${exchange.recipient?.address}.*0.00021 eth@eth.*estimate`))

  test('say what they pay, to whom and with which fee: in the dialog, in the preview, and to the second person', async () => {
    await visit('/held', 'Held deposits')
    const row = page.locator('tbody tr').first()
    await row.getByText('refund to').waitFor()
    expect(await row.textContent()).toContain('0.995 eth@eth')
    await row.getByRole('button', { name: 'Release', exact: true }).click()
    await expectWill(page)
    expect(await findViolations(page)).toEqual([])
    await page.getByLabel('Reason').fill('she sent a passport')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('heading', { name: 'What it will do' }).waitFor()
    await expectWill(page)
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Ask for approval' }).click()
    await page.getByRole('heading', { name: 'Waits for approval' }).waitFor()
    const second = await open('/requests', bob)
    await second.getByRole('button', { name: 'Approve' }).click()
    await second.getByRole('heading', { name: 'What it will do' }).waitFor()
    await expectWill(second)
    await second.close()
  })

  test('stand beside the guards: what was quoted, the price then and now, and what is allowed', async () => {
    await visit(`/exchanges/${exchange.id}`, 'Exchange')
    const rows = page.getByRole('table', { name: 'Price guard' }).locator('tbody tr')
    await expect.poll(() => rows.count(), PATIENCE).toBe(2)
    for (const text of await rows.allTextContents())
      expect(text).toMatch(/0\.995 eth@eth0\.828877083 eth@eth-16\.7 %10 %$/)
    expect((await rows.allTextContents())[1]).toContain('now: too far')
    expect(await findViolations(page)).toEqual([])
  })

  test('about a refund address say what each waiting refund pays, or that none waits', async () => {
    const previewAddress = async () => {
      await page.locator('tbody tr').first().getByRole('button', { name: 'Set refund address' }).click()
      await page.getByRole('textbox', { name: 'Address' }).fill('her-wallet')
      await page.getByLabel('Reason').fill('she wrote from her account')
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByRole('heading', { name: 'What it will do' }).waitFor()
      const text = await page.getByRole('dialog').textContent()
      expect(await findViolations(page)).toEqual([])
      return text
    }
    await visit('/held', 'Held deposits')
    expect(await previewAddress()).toContain('It pays nothing now')
    const { path } = opened
    await path.decide(exchange, 'refund')
    await path.database.query('update exchanges set refund_address = null, refund_mac = null where id = $1', [
      exchange.id,
    ])
    await path.runJobs()
    await visit('/held', 'Held deposits')
    await page.getByText('REFUND_ADDRESS_REQUIRED').first().waitFor()
    expect(await previewAddress()).toMatch(/It pays0\.039985 btc@btcToher-wallet/)
  })

  test('about payouts are offered where they work, and lead to the exchange where its deposit is decided', async () => {
    const { path } = opened
    path.books.replace({ prices })
    const queuedOf = async () => (await path.listPayouts(await path.queuePayout()))[0]?.id ?? ''
    const [held, waiting] = [await queuedOf(), await queuedOf()]
    await path.store.payouts.holdForOperator([held], 'PAYEE')
    await path.store.payouts.postpone([waiting], 'payout-fee:eth')
    await visit('/payouts', 'Payouts')
    const rowWith = (text: string) => page.locator('tbody tr').filter({ hasText: text })
    await rowWith('waits for payout-fee:eth').getByRole('button', { name: 'Release' }).click()
    await page.getByLabel('Reason').fill('it is urgent')
    await page.getByRole('button', { name: 'Preview' }).click()
    const [row] = await path.store.payouts.find([waiting])
    await expect
      .poll(() => will(page).textContent(), PATIENCE)
      .toMatch(new RegExp(`^It pays.* eth@ethTo${row?.address}`))
    await page.keyboard.press('Escape')
    expect(
      await rowWith('PAYEE')
        .getByRole('button', { name: /Release|Drop/ })
        .count(),
    ).toBe(0)
    await rowWith('PAYEE').getByRole('link', { name: 'Decide about its deposit' }).click()
    await page.getByRole('heading', { level: 1, name: 'Exchange' }).waitFor()
  })
})
