import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../support/describe-with.ts'
import { fakeApi, makeError, quote, type Replies } from './fake-api.ts'
import { type ServedWidget, serveWidget } from './serve-widget.ts'

/* What the form of the widget sends, and when it says that something failed. */

describeWith('chromium', 'the form of the widget', () => {
  let served: ServedWidget
  beforeAll(async () => {
    served = await serveWidget()
  })
  afterAll(async () => {
    await served?.close()
  })

  type Create = Readonly<{ key: string; fromAmount: string; externalId: string | undefined }>
  const open = async (replies: Replies, amount: string, members: Readonly<Record<string, string>> = {}) => {
    const sent = { amounts: [] as (string | null)[], creates: [] as Create[] }
    const { page } = await served.site.open(
      { members: { from: 'xrp', to: 'eth', amount, ...members } },
      async (opened) => {
        opened.on('request', (request) => {
          const { pathname, searchParams } = new URL(request.url())
          if (pathname === '/v1/cross-chain/rate') sent.amounts.push(searchParams.get('amount'))
          if (pathname !== '/v1/cross-chain/exchange' || request.method() !== 'POST') return
          const { fromAmount, externalId } = request.postDataJSON()
          sent.creates.push({ key: request.headers()['idempotency-key'] ?? '', fromAmount, externalId })
        })
        await fakeApi(opened, replies)
      },
    )
    return { page, sent }
  }
  const problem = (page: Page) => page.getByRole('alert')
  const startButton = (page: Page) => page.getByRole('button', { name: 'Start the exchange' })
  const started = (page: Page) => page.getByRole('heading', { name: 'Waiting for your payment' })
  const address = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
  /** As a script of the page does. Resolves when the widget has loaded again. */
  const setAttribute = async (page: Page, name: string, value: string) => {
    const loaded = page.waitForResponse(/available-currencies/)
    await page.evaluate(`document.querySelector('swapyard-widget').setAttribute('${name}', '${value}')`)
    await loaded
  }

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
    expect(sent).toEqual({ amounts: [], creates: [] })
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
    expect(sent.creates.length).toBe(1)
    delete replies.created
    await page.getByRole('button', { name: 'Start the exchange' }).click()
    await page.getByRole('heading', { name: 'Waiting for your payment' }).waitFor()
    await page.close()
  })

  test('shows the exchange of its own order after a change of the external id and after a reload', async () => {
    const { page, sent } = await open({}, '100', { address, 'external-id': 'order-1' })
    await startButton(page).click()
    await started(page).waitFor()
    await setAttribute(page, 'external-id', 'order-2')
    await startButton(page).waitFor()
    expect(await started(page).count()).toBe(0)
    await startButton(page).click()
    await started(page).waitFor()
    expect(sent.creates.map(({ externalId }) => externalId)).toEqual(['order-1', 'order-2'])
    expect(sent.creates[0]?.key).not.toBe(sent.creates[1]?.key)
    // The page names the first order again.
    await page.reload()
    await started(page).waitFor()
    // An amount that follows the market makes no other order.
    await setAttribute(page, 'amount', '101')
    await started(page).waitFor()
    await page.close()
  })

  test('without an external id begins with the form when the page changes the order', async () => {
    const { page } = await open({}, '100', { address })
    await startButton(page).click()
    await started(page).waitFor()
    await setAttribute(page, 'amount', '101')
    await startButton(page).waitFor()
    expect(await page.getByLabel('You send', { exact: true }).inputValue()).toBe('101')
    await setAttribute(page, 'amount', '100')
    await started(page).waitFor()
    await page.close()
  })

  test('repeats a create whose answer was lost though the price has changed the amount that was not typed', async () => {
    const replies: { created?: object; quote: object } = { created: makeError(500, 'INTERNAL'), quote }
    const { page, sent } = await open(replies, '1', { address })
    const field = page.getByLabel('You get about', { exact: true })
    await field.fill('0.0625')
    await startButton(page).click()
    await problem(page).getByText('tell the site this number: request-7.').waitFor()
    replies.quote = { ...quote, fromAmount: 125 }
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByText('1 XRP ≈ 0.0005 ETH').waitFor()
    // The same amount, written in another form.
    await field.fill('0.06250')
    delete replies.created
    await startButton(page).click()
    await started(page).waitFor()
    expect(new Set(sent.creates.map(({ key }) => key)).size).toBe(1)
    expect(new Set(sent.creates.map(({ fromAmount }) => fromAmount))).toEqual(new Set(['100']))
    await page.close()
  })
})
