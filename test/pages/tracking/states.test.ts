import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeQrCode } from '../../../sdk/test/qr-code.ts'
import { describeWith } from '../../support/describe-with.ts'
import { partOf } from '../../support/part.ts'
import { findViolations } from '../axe.ts'
import { openPage, phone, readBrightness, startBrowser, wide } from '../browser.ts'
import { serveTracking, type TrackingServer } from './serve.ts'
import { createStates, payinHash, payoutHash } from './states.ts'

/** What the page must say in each state: its heading, and words of the explanation. */
const expected: Readonly<Record<string, readonly [heading: string, words: RegExp]>> = {
  pending: ['Waiting for your payment', /Send 0\.01 BTC to the address below.*The rate is not fixed/s],
  'pending, fixed rate': [
    'Waiting for your payment',
    /The fixed rate ends in 1\d:\d\d.*whichever gives you less.*You get0\.198/s,
  ],
  'pending, fixed rate over': ['Waiting for your payment', /The fixed rate has ended.*You get about0\.198/s],
  'pending, token': ['Waiting for your payment', /Send only USDT, and only on the network Ethereum/],
  'pending, memo': ['Waiting for your payment', /must contain this Destination tag.*may be lost/s],
  'pending, payment left the chain': ['Waiting for your payment', /no longer in the blockchain.*before you pay again/],
  'pending, expired': ['The time to pay has ended', /still being looked for.*Do not send anything more/s],
  'confirming, unconfirmed': ['Payment seen', /0 of 2 confirmations/],
  confirming: ['Payment seen', /1 of 2 confirmations/],
  exchanging: ['Exchanging', /Expected duration 30 minutes/],
  sending: ['Payout sent', /0xcccc/],
  finished: ['Complete', /Paid out\s*0\.198 ETH/],
  'finished, credited': ['Complete', /credited at the service where you started it/],
  'refund address required': ['On hold', /Enter an address of your own that accepts BTC on the network Bitcoin/],
  'refund address required, memo': ['On hold', /Destination tag\s*Leave this field empty/],
  'refund address required after the end': ['Closed', /Where should your payment be sent back to\?/],
  refunding: ['Sending your payment back', /smaller than the minimum.*Sent back\s*0\.0099 BTC/s],
  refunded: ['Payment sent back', /larger than what can be exchanged.*Refund transaction(?!.*You get)/s],
  'refunded, another currency': ['Payment sent back', /another currency.*Sent back\s*5 USDT/s],
  'failed, EXPIRED': ['Closed', /No payment arrived in time.*Do not send anything more/s],
  'failed, CANCELLED': ['Closed', /was cancelled(?!.*You get)/s],
  'failed, DUST': ['Closed', /too small to cover the network fee/],
  'failed, NOT_RECEIVED': ['Closed', /nothing was received/],
  'failed, DEPOSIT_VANISHED': ['Closed', /no longer in the blockchain/],
  'failed, OPERATOR': ['Closed', /A person decided this/],
  'verifying, EXPIRED': ['On hold', /No payment arrived/],
  'verifying, CANCELLED': ['On hold', /was cancelled/],
  'verifying, BELOW_MIN': ['On hold', /smaller than the minimum/],
  'verifying, ABOVE_MAX': ['On hold', /larger than what can be exchanged/],
  'verifying, OUTSIDE_TOLERANCE': ['On hold', /too far from the fixed one/],
  'verifying, NO_LIQUIDITY': ['On hold', /could not be exchanged/],
  'verifying, DUST': ['On hold', /too small/],
  'verifying, LATE_DEPOSIT': ['On hold', /after the exchange had ended/],
  'verifying, WRONG_ASSET': ['On hold', /another currency/],
  'verifying, NOT_RECEIVED': ['On hold', /nothing was received/],
  'verifying, SCREENING': ['On hold', /A person is checking this exchange/],
  'verifying, PRICE_GUARD': ['On hold', /price has moved far away/],
  'verifying, REFUND_ADDRESS_REQUIRED': ['On hold', /no refund address is known/],
  'verifying, DEPOSIT_VANISHED': ['On hold', /no longer in the blockchain/],
  'verifying, REORG_AFTER_PAYOUT': ['On hold', /left the blockchain after the payout/],
  'verifying, PAYOUT_VANISHED': ['On hold', /It is sent again/],
  'verifying, LIMIT': ['On hold', /above a limit/],
  'verifying, OPERATOR': ['On hold', /A person is checking this exchange/],
  'verifying, NETWORK_UNAVAILABLE': ['On hold', /is not available now/],
  'private, exchanging': ['Exchanging', /both sides of this private exchange/],
  'private, finished': ['Complete', /both sides of this private exchange/],
  'several deposits': ['Complete', /Payment 1.*Payment 2.*smaller than the minimum.*Payment 3.*Payment seen/s],
  'late deposit': ['Sending your payment back', /after the exchange had ended/],
}
const examined = partOf(Object.keys(expected), 2)
const appearances = [
  { width: 1280, options: { ...wide, colorScheme: 'light' } },
  { width: 390, options: { ...phone, colorScheme: 'dark' } },
] as const

describeWith('chromium', 'the tracking page', () => {
  let browser: Browser
  let server: TrackingServer
  beforeAll(async () => {
    server = await serveTracking()
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })
  const states = createStates()
  /** One page for each appearance: a new one costs more than all checks of a state. */
  const pages = new Map<BrowserContextOptions, Readonly<{ page: Page; problems: string[] }>>()
  const show = async (url: string, options: BrowserContextOptions) => {
    const opened = pages.get(options)
    if (opened === undefined) {
      const first = await openPage(browser, url, options)
      pages.set(options, first)
      return first
    }
    opened.problems.length = 0
    await opened.page.goto(url)
    return opened
  }
  const add = (name: string) => {
    const view = states[name]
    if (view === undefined) throw new Error(`no state ${name}`)
    return server.url + server.add(view)
  }

  test('is tested in every state', () => {
    expect(Object.keys(states).toSorted()).toEqual(Object.keys(expected).toSorted())
  })

  test.each(examined)('says what happens now, fits, and has no violations: %s', async (name) => {
    const url = add(name)
    const [heading, words] = expected[name] ?? ['', /^$/]
    // Holds differ in one sentence.
    const isAlike = name.startsWith('verifying') && name !== 'verifying, OPERATOR'
    for (const { width, options } of isAlike ? appearances.slice(0, 1) : appearances) {
      const { page, problems } = await show(`${url}?lang=en`, options)
      expect(await page.locator('#status h2').textContent()).toBe(heading)
      expect(await page.locator('main').textContent()).toMatch(words)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      expect((await readBrightness(page, 'h1')) > 170).toBe(options.colorScheme === 'dark')
      if (!isAlike) expect(await findViolations(page)).toEqual([])
      expect(problems).toEqual([])
    }
  })

  test.each([
    { ...wide, colorScheme: 'dark' },
    { ...phone, colorScheme: 'light' },
  ] as const)('has no violations in the other appearances: $colorScheme', async (options) => {
    for (const name of ['pending, fixed rate', 'pending, memo', 'confirming', 'refund address required', 'finished']) {
      const { page } = await show(`${add(name)}?lang=en`, options)
      expect(await findViolations(page)).toEqual([])
    }
  })

  test('is right to left in Arabic, with addresses and amounts left to right', async () => {
    for (const name of ['pending, memo', 'refund address required, memo', 'several deposits', 'confirming']) {
      for (const { width, options } of appearances) {
        const { page, problems } = await show(`${add(name)}?lang=ar`, options)
        const box = async (selector: string) =>
          (await page.locator(selector).first().boundingBox()) ?? { x: 0, width: 0 }
        const [brand, menu] = [await box('header > p'), await box('summary')]
        expect(brand.x).toBeGreaterThan(menu.x + menu.width)
        for (const code of await page.locator('code').all())
          expect(await code.locator('bdi').getAttribute('dir')).toBe('ltr')
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        expect(await findViolations(page)).toEqual([])
        expect(problems).toEqual([])
      }
    }
  })

  test.each(['en', 'es', 'pt', 'fr', 'de', 'ru', 'tr', 'zh', 'ja', 'ar'])('fits a phone in %s', async (language) => {
    for (const name of ['pending, fixed rate', 'pending, memo', 'refund address required, memo', 'several deposits']) {
      const { page, problems } = await show(`${add(name)}?lang=${language}`, phone)
      expect(await page.locator('html').getAttribute('lang')).toBe(language)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      expect(await page.locator('body').textContent()).not.toMatch(/[{}]|undefined|\[object/)
      expect(problems).toEqual([])
    }
  })

  test('says the same without scripts, with QR code, deadlines, confirmations and links to explorers', async () => {
    const withoutScripts = { ...phone, javaScriptEnabled: false }
    for (const [name, [heading, words]] of Object.entries(expected)) {
      const { page, problems } = await show(`${add(name)}?lang=en`, withoutScripts)
      const count = (selector: string) => page.locator(`${selector}:visible`).count()
      expect(await page.locator('#status h2').textContent(), name).toBe(heading)
      expect(await page.locator('main').textContent(), name).toMatch(words)
      const isPayable = name.startsWith('pending') && !/expired|left the chain/.test(name)
      const seen = {
        codes: await count('svg.qr'),
        timers: await count('[role=timer]'),
        meters: await count('progress'),
      }
      const expectedParts = {
        codes: isPayable ? 1 : 0,
        timers: name === 'pending, fixed rate' ? 2 : isPayable ? 1 : 0,
        meters: heading === 'Payment seen' ? 1 : 0,
      }
      expect({ name, ...seen, copyButtons: await count('.copy') }).toEqual({ name, ...expectedParts, copyButtons: 0 })
      expect(problems).toEqual([])
    }
    const { page } = await show(`${add('finished')}?lang=en`, withoutScripts)
    for (const hash of [payinHash, payoutHash])
      expect(await page.getByRole('link', { name: hash }).getAttribute('href')).toContain(hash)
  })

  test.each([
    ['pending', 'bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080?amount=0.01'],
    ['pending, token', '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'],
    ['pending, memo', 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH'],
  ])('shows a QR code that a phone can scan in the dark, with and without scripts: %s', async (name, text) => {
    for (const javaScriptEnabled of [true, false]) {
      const options = { ...phone, colorScheme: 'dark', javaScriptEnabled } as const
      const { page } = await openPage(browser, add(name), options)
      expect(await readQrCode(page)).toBe(text)
      await page.close()
    }
  })
})

async function readQrCode(page: Page): Promise<string> {
  const code = page.locator('svg.qr')
  expect((await code.boundingBox())?.width).toBeGreaterThan(200)
  const [ground, modules] = await code
    .locator('path')
    .evaluateAll((paths) => paths.map((one) => one.getAttribute('fill')))
  expect([ground, modules]).toEqual(['#fff', '#000'])
  const size = Number((await code.getAttribute('viewBox'))?.split(' ')[2])
  const drawn = (await code.locator('path').nth(1).getAttribute('d')) ?? ''
  const dark = new Set(
    [...drawn.matchAll(/M(\d+) (\d+)h(\d+)/g)].flatMap(([, x, y, length]) =>
      Array.from({ length: Number(length) }, (_, n) => `${Number(x) + n} ${y}`),
    ),
  )
  const quiet = 4
  const inner = size - 2 * quiet
  const rows = Array.from({ length: inner }, (_, y) =>
    Array.from({ length: inner }, (__, x) => dark.has(`${x + quiet} ${y + quiet}`)),
  )
  return decodeQrCode({ modules: rows, size: inner })
}
