import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../support/describe-with.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { type Json, type Scenario, startScenario } from '../../support/scenario.ts'
import { computeAmountBelowMin } from '../../support/scenario-reads.ts'
import { openPage, startBrowser } from '../browser.ts'

/* The page of exchanges on real chains, over the whole app. */

describeWith('chromium', 'the tracking page of an exchange on real chains', () => {
  let browser: Browser
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await startScenario({ networks: ['btc', 'eth'] })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await scenario?.stop()
  })

  const open = async ({ trackingUrl }: Json) => {
    const opened = await openPage(browser, `${scenario.url}${new URL(trackingUrl).pathname}?lang=en`)
    opened.page.setDefaultTimeout(PATIENCE_MS)
    return opened
  }
  const waitForHeading = (page: Page, heading: string) => page.locator('#status h2', { hasText: heading }).waitFor()
  const payBelowMin = async () => {
    const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01' })
    await scenario.deposit(exchange, await computeAmountBelowMin(scenario, 'btc@btc', 'eth@eth', 8))
    return exchange
  }

  test('follows a payment to its payout, and links to the explorer of the sandbox', async () => {
    const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01' })
    const { page, problems } = await open(exchange)
    await waitForHeading(page, 'Waiting for your payment')
    expect(await page.locator('#pay').textContent()).toContain(exchange.request.depositAddress)
    const hash = await scenario.deposit(exchange, '0.01')
    await waitForHeading(page, 'Complete')
    const { exchanges } = await scenario.status(exchange)
    const [{ amountToReceived, payoutHash }] = exchanges
    expect(await page.locator('#deposits').textContent()).toContain(`${amountToReceived} ETH`)
    for (const [network, one] of [
      ['btc', hash],
      ['eth', payoutHash],
    ]) {
      const href = await page.getByRole('link', { name: one }).getAttribute('href')
      expect(href).toBe(`/sandbox/explorer/${network}/tx/${one}`)
      expect(await (await fetch(scenario.url + href)).text()).toContain('in a block')
    }
    const token = new URL(exchange.trackingUrl).pathname.split('/').at(-1)
    const answer = await (await fetch(`${scenario.url}/v1/track?token=${token}`)).json()
    expect(answer).toMatchObject({ status: 'finished', deposits: [{ payinHash: hash, payoutHash, amountToReceived }] })
    expect(problems).toEqual([])
    await page.close()
  })

  test('takes the refund address of a payer, once, and shows the refund to it', async () => {
    const exchange = await payBelowMin()
    const { page } = await open(exchange)
    const { address } = await scenario.wallet('btc')
    const continueWith = async (text: string) => {
      await page.getByLabel('Refund address').fill(text)
      await page.getByRole('button', { name: 'Continue' }).click()
    }
    await continueWith(exchange.request.depositAddress)
    await page.getByText('This is an address of this service').waitFor()
    await continueWith('0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045')
    await page.getByText('This is not a valid address on the network Bitcoin').waitFor()
    await continueWith(address)
    await page.getByRole('button', { name: 'Yes, send it to this address' }).click()
    await waitForHeading(page, 'Payment sent back')
    expect(await page.locator('#deposits').textContent()).toContain(address)
    expect(Number(await scenario.balance('btc@btc', address))).toBeGreaterThan(0)
    const again = await fetch(`${scenario.url}${new URL(exchange.trackingUrl).pathname}/refund`, {
      method: 'POST',
      body: new URLSearchParams({ address: (await scenario.wallet('btc')).address, act: 'confirm' }),
    })
    expect(again.status).toBe(409)
    expect((await scenario.status(exchange)).request.refundAddress).toBe(address)
    await page.close()
  })

  test('takes no refund address if the partner has switched that off', async () => {
    const exchange = await payBelowMin()
    await scenario.waitForStatus(exchange, 'verifying')
    await scenario.app.database.query('update partners set refund_by_link = false')
    const { page, problems } = await open(exchange)
    await page.getByText('Contact the service where you started the exchange').waitFor()
    expect(await page.locator('form').count()).toBe(0)
    const { address } = await scenario.wallet('btc')
    const posted = await fetch(`${scenario.url}${new URL(exchange.trackingUrl).pathname}/refund`, {
      method: 'POST',
      body: new URLSearchParams({ address, act: 'confirm' }),
    })
    expect(posted.status).toBe(409)
    expect((await scenario.status(exchange)).request.refundAddress).toBeNull()
    // The partner still can.
    const body = { id: exchange.id, refundAddress: address }
    expect((await scenario.call('POST', '/v1/cross-chain/exchange/refund-address', body)).status).toBe(201)
    await waitForHeading(page, 'Payment sent back')
    expect(problems).toEqual([])
    await page.close()
  })
})
