import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrackedExchange } from '../../../sdk/src/index.ts'
import { AppError } from '../../../server/src/core/domain/errors.ts'
import { describeWith } from '../../support/describe-with.ts'
import { findViolations } from '../axe.ts'
import { appearances, wide } from '../browser.ts'
import {
  currencies,
  depositAddress,
  fakeApi,
  makeCurrency,
  makeError,
  makeTracked,
  quote,
  type Replies,
  token,
} from './fake-api.ts'
import type { OpenOptions } from './host-page.ts'
import { type ServedWidget, serveWidget } from './serve-widget.ts'

/* What the widget shows for every kind of answer of the API. */

const refund = {
  ...{ amount: '99.9', currency: 'xrp', network: 'xrp', address: depositAddress, memo: null, hash: 'AB12' },
}
const deposit: TrackedExchange['deposits'][number] = {
  ...{ amountFromReceived: '100', amountToReceived: null, status: 'confirming', statusReason: null },
  ...{ payinHash: 'F00D', payoutHash: null, refund: null, created: '2026-01-02T03:05:05.000Z' },
  ...{ confirmationsRequired: 2, confirmationsSeen: 1 },
}

describeWith('chromium', 'the widget', () => {
  let served: ServedWidget
  beforeAll(async () => {
    served = await serveWidget()
  })
  afterAll(async () => {
    await served?.close()
  })

  const open = (replies: Replies, options: OpenOptions = {}) =>
    served.site.open({ ...options, members: { from: 'xrp', to: 'eth', amount: '100', ...options.members } }, (page) =>
      fakeApi(page, replies),
    )
  /** As after a reload: the tab has an exchange. */
  const openTracked = (
    tracked: TrackedExchange,
    options: OpenOptions = {},
    prepare: (page: Page) => Promise<unknown> = async () => undefined,
  ) =>
    served.site.open({ ...options, members: { 'external-id': 'order-1', ...options.members } }, async (page) => {
      await fakeApi(page, { tracked })
      await prepare(page)
      const stored = JSON.stringify({ started: { token, startedAt: Date.now() } })
      const name = 'swapyard:["pk_sandbox","","order-1"]'
      await page.addInitScript(`sessionStorage.setItem('${name}', ${JSON.stringify(stored)})`)
    })
  const start = async (page: Page) => {
    await page.getByText('1 XRP ≈ 0.000625 ETH').waitFor()
    await page.getByLabel('Your ETH address').fill('0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045')
    await page.getByRole('button', { name: 'Start the exchange' }).click()
  }
  const textOf = (page: Page) => page.locator('section').textContent()

  test.each(appearances)('fits and has no violation of accessibility rules: %s', async (_, options) => {
    const check = async (page: Page) => {
      expect(await findViolations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport?.width)
    }
    const { page, problems } = await open({ quote: { ...quote, fromAmount: 1, rateId: null } }, options)
    await page.getByText('The minimum is 5 XRP.').waitFor()
    await check(page)
    await page.getByRole('button', { name: /^You send: / }).click()
    await page.getByRole('option', { name: 'USDT Tether USD TRON' }).waitFor()
    await check(page)
    await page.close()
    const tracked = await openTracked(makeTracked(), options)
    await tracked.page.getByText(depositAddress).waitFor()
    await check(tracked.page)
    await tracked.page.close()
    expect([...problems, ...tracked.problems]).toEqual([])
  })

  test('shows the memo of a deposit with its name and a warning, and copies what is to be paid', async () => {
    const { page } = await openTracked(makeTracked(), { ...wide, permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByText('The payment must contain this Destination tag.').waitFor()
    for (const [what, text] of [
      ['the amount', '100'],
      ['the deposit address', depositAddress],
      ['Destination tag', '48213377'],
    ] as const) {
      await page.getByRole('button', { name: `Copy ${what}` }).click()
      await page.getByRole('button', { name: 'Copied' }).first().waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text)
    }
    expect(await textOf(page)).toContain('Send only XRP, and only on XRP Ledger.')
    await page.close()
  })

  test('asks for the memo of a recipient and of a refund, and says what is wrong with it', async () => {
    const validation = { valid: false, address: null, memo: null, errors: [{ code: 'MEMO_REQUIRED', field: 'memo' }] }
    const { page } = await open({ validation }, { members: { from: 'eth', to: 'xrp' } })
    await page.getByLabel('Your XRP address').fill(depositAddress)
    const memo = page.getByLabel('Destination tag').first()
    expect(await page.getByLabel('Destination tag').count()).toBe(1)
    await page.getByRole('button', { name: 'Start the exchange' }).click()
    await page.getByRole('alert').getByText('without it the payment is lost').waitFor()
    expect(await memo.getAttribute('aria-invalid')).toBe('true')
    await page.getByRole('button', { name: 'Exchange in the other direction' }).click()
    await page.getByLabel('Refund address for XRP').waitFor()
    expect(await page.getByLabel('Destination tag').isVisible()).toBe(true)
    await page.close()
  })

  test.each<[name: string, change: Partial<TrackedExchange>, texts: readonly string[]]>([
    ['confirming', { status: 'confirming', confirmationsSeen: 1 }, ['Payment seen', '1 of 2 confirmations']],
    [
      'a payment that left the chain: it is not asked for again',
      { status: 'pending', statusReason: 'DEPOSIT_VANISHED' },
      ['Waiting for your payment', 'Your payment is no longer in the blockchain.'],
    ],
    [
      'finished',
      { status: 'finished', deposits: [{ ...deposit, amountToReceived: '0.0625', payoutHash: '0xFEED' }] },
      ['Complete', '0.0625 ETH', '0xFEED'],
    ],
    [
      'on hold',
      { status: 'verifying', statusReason: 'OPERATOR' },
      ['On hold', 'A person is checking', 'You need to do nothing'],
    ],
    [
      'without a refund address',
      { status: 'verifying', statusReason: 'REFUND_ADDRESS_REQUIRED', needsRefundAddress: true },
      ['no refund address is known', 'Enter a refund address'],
    ],
    [
      'refunded',
      { status: 'refunded', statusReason: 'BELOW_MIN', deposits: [{ ...deposit, refund }] },
      ['Payment sent back', 'smaller than the minimum', '99.9 XRP', 'AB12'],
    ],
    [
      'expired',
      { status: 'failed', statusReason: 'EXPIRED' },
      ['Closed', 'No payment arrived in time.', 'Do not send anything more'],
    ],
  ])('says what happens now: %s', async (_, change, texts) => {
    const { page, problems, events } = await openTracked(makeTracked(change), wide)
    for (const text of texts) await page.locator('section').getByText(text).first().waitFor()
    expect(await page.getByRole('img', { name: 'QR code of the deposit address' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Open the tracking page' }).getAttribute('href')).toBe(
      `${served.api}/track/${token}`,
    )
    const isUnpaid = change.status === 'refunded' || change.status === 'failed'
    expect((await page.getByText('You get').count()) > 0).toBe(!isUnpaid && change.status !== 'finished')
    expect(await events()).toMatchObject([{ type: 'swapyard:status', detail: { status: change.status } }])
    // The live region says the same.
    expect(await page.locator('section + [role=status]').textContent()).toContain(texts[0])
    if (change.needsRefundAddress) expect(await findViolations(page)).toEqual([])
    expect(problems).toEqual([])
    await page.close()
  })

  test('takes the deposit address away when the time to pay has ended', async () => {
    const { page } = await openTracked(makeTracked(), {}, (opened) => opened.clock.install())
    await page.getByText(depositAddress).waitFor()
    await page.clock.fastForward('24:00:00')
    await page.getByText('The time to pay has ended.').waitFor()
    expect(await page.getByText(depositAddress).isVisible()).toBe(false)
    await page.close()
  })

  test('states the amount as certain only while the fixed rate is kept', async () => {
    const { page } = await openTracked(makeTracked(), {}, (opened) => opened.clock.install())
    await page.getByText('You get', { exact: true }).waitFor()
    await page.clock.fastForward('20:00')
    await page.getByText('You get about').waitFor()
    await page.close()
  })

  test('asks for a refund address if a payment confirms after the exchange has failed', async () => {
    const tracked = makeTracked({ status: 'failed', statusReason: 'EXPIRED' })
    const { page } = await openTracked(tracked, {}, (opened) => opened.clock.install())
    await page.getByRole('heading', { name: 'Closed' }).waitFor()
    Object.assign(tracked, { needsRefundAddress: true })
    const link = page.getByRole('link', { name: 'Enter a refund address' })
    expect(await link.isVisible()).toBe(false)
    await page.clock.runFor(30_000)
    await link.waitFor()
    await page.close()
  })

  test('says that the connection is interrupted, and continues', async () => {
    let asked = 0
    const { page } = await openTracked(makeTracked(), {}, async (opened) => {
      // The client asks twice for each answer.
      await opened.route('**/v1/track?*', (route) => (++asked === 2 || asked === 3 ? route.abort() : route.fallback()))
    })
    await page.getByText('The connection is interrupted.').waitFor()
    expect(await page.getByText(depositAddress).isVisible()).toBe(true)
    await page.getByText('The connection is interrupted.').waitFor({ state: 'hidden' })
    expect(asked).toBeGreaterThan(3)
    await page.close()
  })

  test('shows names of the API as text: they cannot inject markup', async () => {
    const markup = '<img src=x onerror="globalThis.isInjected=true">'
    const hostile = makeCurrency('evil', 'eth', { name: markup, symbol: markup, memoName: markup, hasMemo: true })
    const { page, problems } = await open({ currencies: [...currencies, { ...hostile, network: markup }] })
    await page.getByRole('button', { name: /^You get/ }).click()
    await page.getByRole('combobox').fill('evil')
    const option = page.getByRole('option').first()
    await option.getByText(markup).first().waitFor()
    await option.click()
    await page.getByLabel(`${markup} of your address`).waitFor()
    expect(await page.locator('[src=x], [onerror]').count()).toBe(0)
    expect(await page.evaluate('globalThis.isInjected')).toBeUndefined()
    expect(problems).toEqual([])
    await page.close()
  })

  test('offers the fresh price of an expired fixed rate', async () => {
    const requote = { ...quote, toAmount: 0.061, rateId: 'rate-2' }
    const created = makeError(410, 'RATE_ID_EXPIRED', { field: 'rateId', requote })
    const { page } = await open({ created }, { members: { flow: 'fixed-rate' } })
    await start(page)
    await page.getByRole('alert').getByText('The price has changed: you now get 0.061 ETH.').waitFor()
    expect(await page.getByLabel('You get', { exact: true }).inputValue()).toBe('0.061')
    await page.close()
  })

  /** The creates that the page sends. */
  const collectCreates = (page: Page) => {
    const creates: { key: string; rateId: string | undefined }[] = []
    page.on('request', (request) => {
      if (request.method() !== 'POST' || !request.url().endsWith('/v1/cross-chain/exchange')) return
      creates.push({ key: request.headers()['idempotency-key'] ?? '', rateId: request.postDataJSON().rateId })
    })
    return creates
  }
  const waiting = { name: 'Waiting for your payment' }

  test.each([
    ['408', makeError(408, 'REQUEST_TIMEOUT')],
    ['429', makeError(429, 'RATE_LIMIT_EXCEEDED')],
    ['403', makeError(403, 'PARTNER_SUSPENDED')],
    ['500', makeError(500, 'INTERNAL')],
    // Of a proxy, not of the API.
    ['400 without an error of the API', { statusCode: 400 }],
  ])('repeats a create whose result is unknown with the same key, after a reload too: %s', async (_, unknown) => {
    const replies: { created?: object } = { created: unknown }
    const { page } = await open(replies)
    const creates = collectCreates(page)
    await start(page)
    await page.locator('form').getByRole('alert').last().waitFor()
    await page.reload()
    const retry = page.getByRole('button', { name: 'Try again' })
    await retry.waitFor()
    delete replies.created
    await retry.click()
    await page.getByRole('heading', waiting).waitFor()
    expect(creates.length).toBeGreaterThan(2)
    expect(new Set(creates.map(({ key }) => key)).size).toBe(1)
    await page.close()
  })

  test('ends a create that the API refuses: the next one has another key', async () => {
    const replies: { created?: object } = { created: makeError(500, 'INTERNAL') }
    const { page } = await open(replies)
    const creates = collectCreates(page)
    await start(page)
    await page.locator('form').getByRole('alert').last().waitFor()
    replies.created = makeError(422, 'PAIR_UNAVAILABLE')
    await page.reload()
    await page.getByLabel('Your ETH address').waitFor()
    const first = creates.at(-1)
    delete replies.created
    await start(page)
    await page.getByRole('heading', waiting).waitFor()
    expect(creates.at(-1)?.key).not.toBe(first?.key)
    await page.close()
  })

  test('repeats a create whose result is unknown as it was, though its fixed rate was replaced', async () => {
    const replies: { created?: object; quote?: object } = { created: makeError(500, 'INTERNAL') }
    const { page } = await open(replies, { members: { flow: 'fixed-rate' } })
    const creates = collectCreates(page)
    await start(page)
    await page.locator('form').getByRole('alert').last().waitFor()
    replies.quote = { ...quote, toAmount: 0.061, rateId: 'rate-2' }
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByText('1 XRP ≈ 0.00061 ETH').waitFor()
    delete replies.created
    await page.getByRole('button', { name: 'Start the exchange' }).click()
    await page.getByRole('heading', waiting).waitFor()
    expect(new Set(creates.map(({ key, rateId }) => `${key} ${rateId}`))).toEqual(
      new Set([`${creates[0]?.key} rate-1`]),
    )
    await page.close()
  })

  test('says what to do after each kind of error', async () => {
    const replies: { created: object } = { created: {} }
    const { page } = await open(replies)
    for (const [created, text] of [
      [makeError(400, 'ADDRESS_IS_OURS', { field: 'address' }), 'Enter an address of your own wallet.'],
      [makeError(451, 'RESTRICTED', { field: 'address' }), 'Enter another one.'],
      [makeError(403, 'PARTNER_SUSPENDED'), 'Contact the site.'],
      [makeError(422, 'PAIR_UNAVAILABLE'), 'cannot be exchanged for each other at the moment.'],
      [makeError(500, 'INTERNAL'), 'tell the site this number: request-7.'],
    ] as const) {
      replies.created = created
      await start(page)
      await page.getByRole('alert').getByText(text).waitFor()
    }
    await page.close()
  })

  test('says what to do about a wrong key, a missing key and a broken connection', async () => {
    // No answer is faked: the API refuses the key, and the browser hides why.
    const wrong = await served.site.open({ members: { key: 'pk_wrong' } })
    await wrong.page.getByRole('alert').getByText('the publishable key is wrong or revoked').waitFor()
    await wrong.page.getByRole('button', { name: 'Try again' }).waitFor()
    await wrong.page.close()
    const missing = await served.site.open({ members: { key: '' } })
    await missing.page.getByRole('alert').getByText('The site has to set the attribute "key"').waitFor()
    await missing.page.close()
    const broken = await served.site.open({}, async (page) => {
      await page.route('**/v1/**', (route) => route.abort())
      await page.route('**/widget.js', (route) =>
        route.request().method() === 'HEAD' ? route.abort() : route.fallback(),
      )
    })
    await broken.page.getByRole('alert').getByText('There is no connection to the service.').waitFor()
    await broken.page.close()
  })

  test('says that the service is busy, and not that the key is wrong', async () => {
    const { services } = served
    const { authenticate } = services
    const busy = new AppError('OVERLOADED', 'the database does not answer now', { retryAfterSeconds: 1 })
    // No answer is faked: the API has to let the page read this error.
    Object.assign(services, { authenticate: async () => Promise.reject(busy) })
    const { page } = await served.site.open()
    await page.getByRole('alert').getByText('The service is busy.').waitFor()
    Object.assign(services, { authenticate })
    await page.close()
  })

  test('follows the theme and the colours of the host page', async () => {
    const { page } = await open({}, { ...wide, colorScheme: 'light', members: { theme: 'dark', accent: '#7c2d92' } })
    const colorOf = (selector: string) =>
      page.evaluate(
        `getComputedStyle(document.querySelector('swapyard-widget').shadowRoot.querySelector('${selector}')).backgroundColor`,
      )
    await page.getByRole('button', { name: 'Start the exchange' }).waitFor()
    expect(await colorOf('.primary')).toBe('rgb(124, 45, 146)')
    expect(await colorOf('section')).toBe('rgb(24, 28, 35)')
    await page.evaluate(`document.querySelector('swapyard-widget').setAttribute('theme', 'light')`)
    expect(await colorOf('section')).toBe('rgb(255, 255, 255)')
    await page.close()
  })
})
