import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExchangeView } from '../../../server/src/exchange/domain/exchange.ts'
import { makeView } from '../../../server/src/exchange/domain/tracked-exchange.fixture.ts'
import { type Language, localeOf } from '../../../server/src/pages/tracking/languages/locale.ts'
import { describeWith } from '../../support/describe-with.ts'
import { PATIENCE, PATIENCE_MS } from '../../support/patience.ts'
import { until } from '../../support/until.ts'
import { findViolations } from '../axe.ts'
import { openPage, phone, startBrowser } from '../browser.ts'
import { createKeyboard } from '../keyboard.ts'
import { serveTracking, type TrackingServer } from './serve.ts'
import { createStates, payoutHash, refundAddress } from './states.ts'

const LOOK_MS = 50

describeWith('chromium', 'a payer on the tracking page', () => {
  let browser: Browser
  let server: TrackingServer
  beforeAll(async () => {
    server = await serveTracking({ streams: { perNetwork: 50, total: 50, lookMs: LOOK_MS, slowMs: LOOK_MS } })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })
  const stateOf = (name: string): ExchangeView => {
    const view = createStates()[name]
    if (view === undefined) throw new Error(`no state ${name}`)
    return view
  }
  const open = async (view: ExchangeView, options: BrowserContextOptions = {}, lang = 'en') => {
    const opened = await openPage(browser, `${server.url}${server.add(view)}?lang=${lang}`, options)
    opened.page.setDefaultTimeout(PATIENCE_MS)
    return opened
  }
  const waitForHeading = (page: Page, heading: string) =>
    page.locator('#status h2', { hasText: heading }).waitFor({ timeout: PATIENCE_MS })
  const changed = (view: ExchangeView, ...rest: Parameters<typeof makeView>): ExchangeView => {
    const next = makeView(...rest)
    const { id, createdAt, expiresAt } = view.exchange
    return { ...next, exchange: { ...next.exchange, id, createdAt, expiresAt } }
  }
  const refundOf = ({ exchange: { id } }: ExchangeView) =>
    server.services.rows.find((row) => row.view.exchange.id === id)?.view.exchange.refund ?? null

  test('sees every change without a reload, and a screen reader hears it', async () => {
    const view = stateOf('pending')
    const { page, problems } = await open(view)
    await page.evaluate('window.marker = 1')
    expect(await page.locator('#status').getAttribute('role')).toBe('status')
    server.replace(changed(view, { status: 'confirming' }, [{}]))
    await waitForHeading(page, 'Payment seen')
    expect(await page.locator('#pay').textContent()).toBe('')
    server.replace(changed(view, { status: 'exchanging' }, [{ status: 'exchanging' }]))
    await waitForHeading(page, 'Exchanging')
    const paid = { status: 'finished', payoutHash, sentUnits: 5n } as const
    server.replace(changed(view, { status: 'finished' }, [paid]))
    await waitForHeading(page, 'Complete')
    expect(await page.title()).toBe('Complete: BTC → ETH')
    expect(await page.getByRole('link', { name: payoutHash }).getAttribute('rel')).toBe('noreferrer noopener')
    expect(await page.evaluate('window.marker')).toBe(1)
    expect(problems).toEqual([])
    await page.close()
  })

  test('names a refund address for a payment that confirms after the exchange has failed', async () => {
    const view = stateOf('pending')
    const { page, problems } = await open(view)
    server.replace(changed(view, { status: 'failed', reason: 'EXPIRED' }))
    await waitForHeading(page, 'Closed')
    const late = { status: 'verifying', reason: 'REFUND_ADDRESS_REQUIRED' } as const
    server.replace(changed(view, { status: 'failed', reason: 'EXPIRED' }, [late]))
    await page.getByLabel('Refund address').waitFor()
    expect(problems).toEqual([])
    await page.close()
  })

  test('sees every change also where the stream is refused, as to the twenty-first page of a network address', async () => {
    const crowded = await serveTracking({ streams: { perNetwork: 0, total: 50, lookMs: LOOK_MS } })
    try {
      const view = stateOf('pending')
      const page = await browser.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      await page.clock.install()
      const requested: string[] = []
      page.on('request', (request) => void requested.push(request.url()))
      const countAttempts = () => requested.filter((url) => url.includes('/events')).length
      await page.goto(`${crowded.url}${crowded.add(view)}?lang=en`)
      const headingAfterWait = async () => {
        await page.clock.runFor(15_000)
        return page.locator('#status h2').textContent()
      }
      crowded.replace(changed(view, { status: 'confirming' }, [{}]))
      await expect.poll(headingAfterWait, PATIENCE).toBe('Payment seen')
      const paid = { status: 'finished', payoutHash, sentUnits: 5n } as const
      crowded.replace(changed(view, { status: 'finished' }, [paid]))
      await expect.poll(headingAfterWait, PATIENCE).toBe('Complete')
      // The page of a closed exchange is not read again.
      const attemptsUntilEnd = countAttempts()
      expect(attemptsUntilEnd).toBeGreaterThan(1)
      await page.clock.runFor(60_000)
      await page.evaluate('fetch(location.href)')
      expect(countAttempts()).toBe(attemptsUntilEnd)
      await page.close()
    } finally {
      await crowded.close()
    }
  })

  test('sees the time run down', async () => {
    const { page, problems } = await open(stateOf('pending, fixed rate'))
    const clocks = page.locator('[role=timer]')
    const [fixed = '', expiry = ''] = await clocks.allTextContents()
    await until('both countdowns move', async () => {
      const [first, second] = await clocks.allTextContents()
      return first !== fixed && second !== expiry
    })
    const toSeconds = (text: string) => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
    const [left = ''] = await clocks.allTextContents()
    expect(toSeconds(left)).toBeLessThan(toSeconds(fixed))
    expect(problems).toEqual([])
    await page.close()
  })

  test('copies address, amount and memo', async () => {
    const { page, problems } = await open(stateOf('pending, memo'), {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    for (const [what, text] of [
      ['Amount', '100'],
      ['Deposit address', 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH'],
      ['Destination tag', '48213377'],
    ] as const) {
      const button = page.getByRole('button', { name: `Copy: ${what}` })
      await button.click()
      const readCopied = () => page.evaluate<string>('navigator.clipboard.readText()')
      await until(`${text} is copied`, async () => (await readCopied()) === text)
      await page.locator('button', { hasText: 'Copied' }).first().waitFor()
    }
    expect(problems).toEqual([])
    await page.close()
  })

  test('hears that a copy was made, and finds the label again after two clicks', async () => {
    const { page } = await open(stateOf('pending'))
    await page.clock.install()
    await page.evaluate('navigator.clipboard.writeText = async () => {}')
    const button = page.getByRole('button', { name: 'Copy: Amount' })
    const copied = page.getByRole('status').filter({ hasText: /^Copied$/ })
    await button.click()
    await copied.waitFor({ state: 'attached' })
    await button.click()
    await page.clock.runFor(5_000)
    await expect.poll(() => button.textContent(), PATIENCE).toBe('Copy')
    expect(await copied.count()).toBe(0)
    await page.close()
  })

  test('keeps what was typed while the exchange changes, and loses no focus', async () => {
    const view = stateOf('refund address required')
    const { page } = await open(view)
    await page.getByLabel('Refund address').fill('half an addr')
    const again = { status: 'verifying', reason: 'REFUND_ADDRESS_REQUIRED' } as const
    server.replace(changed(view, again, [again, { status: 'confirming', payinHash: 'ee'.repeat(32) }]))
    await page.getByText('Payment 2').waitFor()
    expect(await page.getByLabel('Refund address').inputValue()).toBe('half an addr')
    expect(await page.evaluate('document.activeElement.id')).toBe('refund-address')
    server.replace(changed(view, { status: 'refunding' }, [{ status: 'refunding' }]))
    await waitForHeading(page, 'Sending your payment back')
    expect(await page.evaluate('document.activeElement.id')).toBe('status')
    await page.close()
  })

  const nameRefundAddress = async (page: Page, press: (name: string) => Promise<void>, lang: Language = 'en') => {
    const { refund, refundErrors } = localeOf(lang).texts
    const field = page.getByLabel(refund.address)
    const confirmHeading = page.getByRole('heading', { name: refund.confirmHeading })
    await field.fill('nowhere')
    await press(refund.next)
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toBe(refundErrors.invalid.replace('{network}', 'Bitcoin'))
    expect(await field.inputValue()).toBe('nowhere')
    expect(await findViolations(page)).toEqual([])
    await field.fill(refundAddress)
    await press(refund.next)
    await confirmHeading.waitFor()
    expect(await page.locator('dd.large').textContent()).toBe(refundAddress)
    expect(await findViolations(page)).toEqual([])
    await press(refund.change)
    expect(await field.inputValue()).toBe(refundAddress)
    await press(refund.next)
    await confirmHeading.waitFor()
  }

  test.each([
    { lang: 'en', options: { viewport: { width: 1280, height: 900 } } },
    { lang: 'en', options: { ...phone, colorScheme: 'dark' } },
    { lang: 'ar', options: phone },
  ] as const)('names a refund address after a mistake and a second look: $lang', async ({ lang, options }) => {
    const view = stateOf('refund address required')
    const { page, problems } = await open(view, options, lang)
    const press = (name: string) => page.getByRole('button', { name }).click()
    await nameRefundAddress(page, press, lang)
    expect(await page.locator('html').getAttribute('lang')).toBe(lang)
    expect(refundOf(view)).toBeNull()
    await press(localeOf(lang).texts.refund.confirm)
    await page.locator('#details', { hasText: refundAddress }).waitFor()
    expect(refundOf(view)).toEqual({ address: refundAddress, memo: null })
    expect(await page.locator('form').count()).toBe(0)
    // Chromium reports the status of the page that shows the mistake.
    expect(problems.filter((one) => !one.includes('400 (Bad Request)'))).toEqual([])
    await page.close()
  })

  test('can do everything by the keyboard alone', async () => {
    const view = stateOf('refund address required')
    const { page } = await open(view)
    const keyboard = await createKeyboard(page)
    await keyboard.press(page.locator('summary', { hasText: 'English' }), 'Enter')
    await keyboard.press(page.getByRole('link', { name: 'Español' }), 'Enter')
    await page.locator('html[lang=es]').waitFor()
    await page.goto(page.url().replace('lang=es', 'lang=en'))
    const press = (name: string) => keyboard.press(page.getByRole('button', { name }), 'Enter')
    await nameRefundAddress(page, press)
    await press('Yes, send it to this address')
    await page.locator('#details', { hasText: refundAddress }).waitFor()
    expect(refundOf(view)).toEqual({ address: refundAddress, memo: null })
    await page.close()
  })

  describe('without scripts', () => {
    const off = { javaScriptEnabled: false }

    test('sees everything, and the page reloads', async () => {
      const { page, problems } = await open(stateOf('pending, memo'), off)
      const text = (await page.locator('main').textContent()) ?? ''
      for (const one of ['100 XRP', 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH', '48213377', 'Time left to pay'])
        expect(text).toContain(one)
      expect(await page.locator('button:visible').count()).toBe(0)
      expect(await page.locator('meta[http-equiv=refresh]').getAttribute('content')).toBe('15')
      expect(problems).toEqual([])
      await page.close()
    })

    test('names a refund address, and no reload takes the input', async () => {
      const view = stateOf('refund address required')
      const { page } = await open(view, off)
      expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0)
      const press = (name: string) => page.getByRole('button', { name }).click()
      await page.getByLabel('Refund address').fill(refundAddress)
      await press('Continue')
      expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0)
      await press('Yes, send it to this address')
      await page.locator('#details', { hasText: refundAddress }).waitFor()
      expect(refundOf(view)).toEqual({ address: refundAddress, memo: null })
      await page.close()
    })

    test('reloads what has failed, which a late payment can change, at a slow pace', async () => {
      const { page } = await open(stateOf('failed, EXPIRED'), off)
      expect(await page.locator('meta[http-equiv=refresh]').getAttribute('content')).toBe('30')
      await page.close()
    })

    test('does not reload what is over', async () => {
      const { page } = await open(stateOf('finished'), off)
      expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0)
      await page.close()
    })
  })

  test('runs no script that a partner, a chain or a stranger put into a text', async () => {
    const evil = `"><img src=x onerror="window.hit=1"><script>window.hit=1</script>'`
    const asset = { id: 'zzz@zzz', ticker: evil, network: evil, decimals: 8, contract: null } as const
    const refund = { assetId: asset.id, units: 1n, address: evil, memo: evil, txHash: evil }
    const legs = [{ from: asset, to: asset }]
    const named = { address: evil, memo: evil }
    const states: readonly Parameters<typeof makeView>[] = [
      [{ legs, deposit: named, recipient: named, refund: named }],
      [
        { legs, status: 'refunded', deposit: named, recipient: named, refund: named },
        [
          { status: 'refunded', payinHash: evil, payoutHash: evil, refund },
          { status: 'sending', payinHash: evil, payoutHash: `javascript:window.hit=1//${evil}` },
        ],
      ],
      [
        { legs, status: 'verifying', deposit: named },
        [{ status: 'verifying', reason: 'REFUND_ADDRESS_REQUIRED', payinHash: evil }],
      ],
    ]
    const live = stateOf('pending')
    const { page, problems } = await open(live)
    for (const [change, executions] of states) {
      const view = changed(live, change, executions)
      const opened = await openPage(
        browser,
        `${server.url}${server.add({ ...view, exchange: { ...view.exchange, id: crypto.randomUUID() } })}?lang=ar`,
      )
      expect(await opened.page.locator('img, script:not([src="/track/client.js"])').count()).toBe(0)
      expect(await opened.page.evaluate('window.hit')).toBeUndefined()
      expect(await opened.page.locator('a[href^="javascript:" i]').count()).toBe(0)
      expect(opened.problems).toEqual([])
      await opened.page.close()
      // The same by the stream.
      server.replace(view)
      await page.locator('#details', { hasText: 'onerror' }).waitFor()
    }
    expect(await page.locator('img, script:not([src="/track/client.js"])').count()).toBe(0)
    expect(await page.evaluate('window.hit')).toBeUndefined()
    expect(problems).toEqual([])
    await page.close()
    // What is typed into the form comes back as text.
    const form = (await open(stateOf('refund address required'))).page
    await form.getByLabel('Refund address').fill(evil)
    await form.getByRole('button', { name: 'Continue' }).click()
    await form.getByRole('alert').waitFor()
    expect(await form.getByLabel('Refund address').inputValue()).toBe(evil)
    expect(await form.evaluate('window.hit')).toBeUndefined()
    await form.close()
  })
})
