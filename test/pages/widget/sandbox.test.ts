import { createHash } from 'node:crypto'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeQrCode } from '../../../sdk/test/qr-code.ts'
import { describeWith } from '../../support/describe-with.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { until } from '../../support/until.ts'
import { findViolations } from '../axe.ts'
import { startBrowser } from '../browser.ts'
import { type HostSite, startHostSite } from './host-page.ts'

/* The widget on a page of another origin, over the whole app and real chains. */

const recipient = '0xc0ffee254729296a45a3885639ac7e10f9d54979'

describeWith('chromium', 'the widget on a partner’s site', () => {
  let browser: Browser
  let scenario: Scenario
  let site: HostSite
  beforeAll(async () => {
    scenario = await startScenario({ networks: ['btc', 'eth'] })
    browser = await startBrowser()
    site = await startHostSite(browser, scenario.url)
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
    await scenario?.stop()
  })

  const list = async () => (await scenario.call('GET', '/v1/cross-chain/exchange/list')).body.data
  const byTracking = async (trackingUrl: string) => {
    const token = new URL(trackingUrl).pathname.split('/').at(-1)
    return (await scenario.call('GET', `/v1/track?token=${token}`)).body
  }
  const waitForQuote = (page: Page) => page.getByText(/^1 \w+ ≈ /).waitFor()

  test('takes a customer from the quote to the payout by keyboard alone', async () => {
    const script = await (await fetch(`${scenario.url}/widget.js`)).text()
    const integrity = `sha384-${createHash('sha384').update(script).digest('base64')}`
    const { page, problems, events } = await site.open({ integrity })
    await waitForQuote(page)
    const press = async (keys: string, ...focused: Parameters<Page['getByRole']>) => {
      await page.keyboard.press(keys)
      await expectFocus(page.getByRole(...focused))
    }
    await press('Tab', 'radio', { name: 'Floating rate' })
    await press('Tab', 'button', { name: 'You send: BTC on Bitcoin – choose another currency' })
    await press('Tab', 'textbox', { name: 'You send', exact: true })
    await page.keyboard.type('0.02')
    await press('Tab', 'button', { name: 'Exchange in the other direction' })
    await press('Tab', 'button', { name: 'You get about: ETH on Ethereum – choose another currency' })
    // Another currency, by a search; then Escape leaves the choice as it is.
    const search = page.getByRole('combobox', { name: 'Search by name, ticker or network' })
    await press('Enter', 'combobox', { name: 'Search by name, ticker or network' })
    await page.keyboard.type('usd ethereum')
    const options = page.getByRole('listbox', { name: 'Currency that you get' }).getByRole('option')
    await until('the list is short', async () => (await options.count()) === 2)
    expect(await options.allInnerTexts()).toEqual([expect.stringContaining('USDT'), expect.stringContaining('USDC')])
    await page.keyboard.press('ArrowDown')
    const second = options.nth(1)
    expect(await second.getAttribute('aria-selected')).toBe('true')
    expect(await search.getAttribute('aria-activedescendant')).toBe(await second.getAttribute('id'))
    await press('Enter', 'button', { name: 'You get about: USDC on Ethereum – choose another currency' })
    await press('Enter', 'combobox', { name: 'Search by name, ticker or network' })
    await page.keyboard.type('ether')
    await press('Escape', 'button', { name: 'You get about: USDC on Ethereum – choose another currency' })
    await press('Tab', 'textbox', { name: 'You get about', exact: true })
    await press('Tab', 'textbox', { name: 'Your USDC address' })
    await page.keyboard.type(recipient)
    await press('Tab', 'textbox', { name: 'Refund address for BTC (optional)' })
    await page.keyboard.type((await scenario.wallet('btc')).address)
    await until('the quote is announced', async () =>
      /^0\.02 BTC gives \d+\.?\d* USDC\.$/.test((await page.locator('section + [role=status]').textContent()) ?? ''),
    )
    await press('Tab', 'button', { name: 'Start the exchange' })
    await press('Enter', 'heading', { name: 'Waiting for your payment' })

    const [created] = await list()
    expect(created).toMatchObject({ request: { fromCurrency: 'btc', toCurrency: 'usdc', amountFromRequested: '0.02' } })
    const { depositAddress } = created.request
    await page.getByText(depositAddress).waitFor()
    expect(await readQrCode(page)).toBe(depositAddress)
    await scenario.deposit(created, '0.02')
    await page.getByRole('heading', { name: 'Complete' }).waitFor()
    const final = await scenario.status(created)
    const [{ amountToReceived, payoutHash }] = final.exchanges
    await page.getByText('Paid out').waitFor()
    expect(await page.locator('dl').textContent()).toContain(`Paid out${amountToReceived} USDC`)
    expect(await page.getByRole('link', { name: payoutHash }).getAttribute('href')).toContain(`/eth/tx/${payoutHash}`)
    expect(await scenario.balance('usdc@eth', recipient)).toBe(amountToReceived)
    expect(await findViolations(page)).toEqual([])

    const [first, ...statuses] = await events()
    expect(first).toEqual({ type: 'swapyard:created', detail: { id: created.id, trackingUrl: expect.any(String) } })
    expect((await byTracking(String(first?.detail['trackingUrl']))).id).toBe(created.id)
    expect(statuses.at(0)).toMatchObject({ type: 'swapyard:status', detail: { id: created.id, status: 'pending' } })
    expect(statuses.at(-1)).toMatchObject({ detail: { id: created.id, status: 'finished', statusReason: null } })
    expect(problems).toEqual([])
    await page.close()
  })

  test('creates one exchange at a fixed rate though answers are lost, and continues after a reload', async () => {
    const before = (await list()).length
    let sends = 0
    const { page } = await site.open({ members: { flow: 'fixed-rate', amount: '' } }, (opened) =>
      opened.route('**/v1/cross-chain/exchange', async (route) => {
        const response = await route.fetch()
        if (route.request().method() === 'POST') sends += 1
        if (sends === 1) await route.abort()
        // The second answer does not arrive before the reload.
        if (sends > 2) await route.fulfill({ response })
      }),
    )
    await page.getByLabel('You get', { exact: true }).fill('0,25')
    await page.getByText(/^held for (1:00|0:5\d)$/).waitFor()
    const sent = await page.getByLabel('You send', { exact: true }).inputValue()
    expect(Number(sent)).toBeGreaterThan(0)
    await page.getByLabel('Your ETH address').fill(recipient)
    await page.getByRole('button', { name: 'Start the exchange' }).click()
    await until('the create is repeated', () => sends === 2)
    await page.reload()
    await page.getByRole('heading', { name: 'Waiting for your payment' }).waitFor()
    expect(sends).toBe(3)
    const [created, ...others] = await list()
    expect(others.length).toBe(before)
    const { amountFromRequested, amountToRequested, depositAddress } = created.request
    expect(amountFromRequested).toBe(sent)
    // The smallest payment that gives at least this.
    expect(Number(amountToRequested)).toBeGreaterThanOrEqual(0.25)
    expect(Number(amountToRequested)).toBeLessThan(0.25001)
    await page.reload()
    await page.getByText(depositAddress).waitFor()
    await page.getByText('The fixed rate is kept for').waitFor()
    await page.getByText(/^(20:00|1\d:\d\d)$/).waitFor()
    const opened = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Open the tracking page' }).click()
    expect(await (await opened).textContent('body')).toContain(depositAddress)
    await page.getByRole('button', { name: 'Start another exchange' }).click()
    await expectFocus(page.getByRole('textbox', { name: 'You send', exact: true }))
    expect((await list()).length).toBe(before + 1)
    await page.close()
  })
})

async function expectFocus(target: Locator): Promise<void> {
  await target.waitFor()
  await until('the element has the focus', () =>
    // biome-ignore lint/suspicious/noExplicitAny: a node of the browser
    target.evaluate((one: any) => one.getRootNode().activeElement === one),
  )
}

/** Reads the modules of the drawn code. */
async function readQrCode(page: Page): Promise<string> {
  const code = page.getByRole('img', { name: 'QR code of the deposit address' })
  const drawn = (await code.locator('path').nth(1).getAttribute('d')) ?? ''
  const dark = new Set([...drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`))
  const quiet = 4
  const size = Number((await code.getAttribute('viewBox'))?.split(' ')[2]) - 2 * quiet
  const modules = Array.from({ length: size }, (_, y) =>
    Array.from({ length: size }, (__, x) => dark.has(`${x + quiet} ${y + quiet}`)),
  )
  return decodeQrCode({ modules, size })
}
