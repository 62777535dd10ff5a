import { freePort } from '@swapyard/lib/free-port.ts'
import type { FastifyInstance } from 'fastify'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mountWidget } from '../../../server/src/pages/widget.ts'
import { createTestApp } from '../../../server/test/core/http/app-for-tests.ts'
import { describeWith } from '../../support/describe-with.ts'
import { startBrowser } from '../browser.ts'
import { fakeApi, makeError, type Replies } from './fake-api.ts'
import { type HostSite, startHostSite } from './host-page.ts'

/* What the form of the widget sends, and when it says that something failed. */

describeWith('chromium', 'the form of the widget', () => {
  let browser: Browser
  let app: FastifyInstance
  let site: HostSite
  beforeAll(async () => {
    const port = await freePort()
    const api = `http://127.0.0.1:${port}`
    app = createTestApp({ publicUrl: api }).app
    mountWidget(app)
    await app.listen({ port, host: '127.0.0.1' })
    browser = await startBrowser()
    site = await startHostSite(browser, api)
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
    await app?.close()
  })

  const open = async (replies: Replies, amount: string) => {
    const sent = { amounts: [] as (string | null)[], creates: 0 }
    const { page } = await site.open({ members: { from: 'xrp', to: 'eth', amount } }, async (opened) => {
      opened.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url())
        if (pathname === '/v1/cross-chain/rate') sent.amounts.push(searchParams.get('amount'))
        if (pathname === '/v1/cross-chain/exchange' && request.method() === 'POST') sent.creates++
      })
      await fakeApi(opened, replies)
    })
    return { page, sent }
  }
  const problem = (page: Page) => page.getByRole('alert')

  test('asks what is meant by a comma that can separate thousands', async () => {
    const { page, sent } = await open({}, '12,500')
    await problem(page).getByText('12,500 can mean 12500 or 12.500.').waitFor()
    await page.getByRole('button', { name: 'Start the exchange' }).click()
    const field = page.getByLabel('You send', { exact: true })
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    for (const text of ['1 200,000', '1,234,567', '1,234.5']) {
      await field.fill(text)
      await problem(page)
        .getByText(text === '1 200,000' ? 'can mean 1200000' : 'Enter an amount such as')
        .waitFor()
    }
    // No quote was asked for.
    expect(sent).toEqual({ amounts: [], creates: 0 })
    for (const [text, amount] of [
      ['12,5', '12.5'],
      ['12,50', '12.50'],
      ['0,500', '0.500'],
      ['12,5000', '12.5000'],
      ['12500', '12500'],
      ['12.500', '12.500'],
    ] as const) {
      await field.fill(text)
      await expect.poll(() => sent.amounts.at(-1)).toBe(amount)
    }
    await page.close()
  })

  test('says at once that a create is refused for a minute, and repeats it at the next press', async () => {
    const replies: { created?: object; headers: Record<string, string> } = {
      created: makeError(429, 'RATE_LIMIT_EXCEEDED'),
      headers: { 'retry-after': '60' },
    }
    const { page, sent } = await open(replies, '100')
    await page.getByText('1 XRP ≈ 0.000625 ETH').waitFor()
    await page.getByLabel('Your ETH address').fill('0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045')
    await page.getByRole('button', { name: 'Start the exchange' }).click()
    await problem(page).getByText('There were too many requests.').waitFor()
    expect(sent.creates).toBe(1)
    delete replies.created
    await page.getByRole('button', { name: 'Start the exchange' }).click()
    await page.getByRole('heading', { name: 'Waiting for your payment' }).waitFor()
    await page.close()
  })
})
