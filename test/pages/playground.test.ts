import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { parseUnits } from 'viem'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { createFixedPriceReader } from '../../server/src/adapters/prices/fixed.ts'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import { privacyDefaults } from '../../server/src/exchange/settings.ts'
import { createHttp } from '../../server/src/lib/http.ts'
import { describeWith } from '../support/describe-with.ts'
import { lockMarket } from '../support/market-lock.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'
import { findViolations } from './axe.ts'
import { openPage, startBrowser } from './browser.ts'
import { createKeyboard, type Keyboard } from './keyboard.ts'

describeWith('chromium', 'the playground of a sandbox', () => {
  const http = createHttp()
  /** Of one test, in the order in which they are run. */
  const closers: (() => Promise<unknown>)[] = []
  let browser: Browser
  let scenario: Scenario

  beforeAll(async () => {
    const { controlUrl } = JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile
    const readFixed = createFixedPriceReader(controlUrl, http)
    scenario = await startScenario({
      networks: ['btc', 'eth', 'base', 'matic'],
      prices: createEmbeddedPrices({ now: Date.now, still: true, readFixed }),
      settings: { privacy: { ...privacyDefaults, delayMaxMs: 500 } },
      swaps: {},
    })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await scenario?.stop()
    await http.close()
  })

  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })

  const open = async (hash = '') => {
    const viewport = { width: 1280, height: 900 }
    const opened = await openPage(browser, `${scenario.url}/${hash}`, { viewport, reducedMotion: 'reduce' })
    closers.unshift(() => opened.page.close())
    opened.page.setDefaultTimeout(PATIENCE_MS)
    await opened.page.getByTestId('quote').waitFor()
    return opened
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  /** Disabled, a button would lose the focus. */
  const readyButton = (page: Page, name: string) => button(page, name).and(page.locator(':not([aria-disabled])'))
  const waitForStatus = (page: Page, status: string) => page.getByRole('status').filter({ hasText: status }).waitFor()
  const stepOf = (page: Page, title: string) =>
    page.locator('.steps li').filter({ has: page.getByRole('heading', { name: new RegExp(`^${title} `) }) })
  /** The newest exchange, as the API returns it to the partner. */
  const readExchange = async (page: Page): Promise<Json> => {
    const id = /[0-9a-f-]{36}/.exec((await stepOf(page, 'Created').textContent()) ?? '')?.[0]
    return scenario.status({ id })
  }

  test('creates an exchange, pays it and shows the coins arrive, by keyboard alone', async () => {
    const { page, problems } = await open()
    const keyboard = await createKeyboard(page)
    await keyboard.tabTo(page.getByLabel('You send'))
    await page.keyboard.type('0.02')
    await keyboard.press(page.getByLabel('Floating rate'), 'ArrowRight')
    await keyboard.press(page.getByLabel('Fixed rate'), 'ArrowLeft')
    await keyboard.press(readyButton(page, 'Create the exchange'), 'Enter')
    await keyboard.press(readyButton(page, 'Pay from the faucet'), 'Space')
    await waitForStatus(page, 'finished')
    expect(await keyboard.lostFocus()).toEqual([])
    const { status, request, exchanges } = await readExchange(page)
    expect([status, request.amountFromRequested]).toEqual(['finished', '0.02'])
    const [{ payinHash, payoutHash, amountToReceived }] = exchanges
    await stepOf(page, 'Arrived').getByText(`has ${amountToReceived} ETH`).waitFor()
    expect(await scenario.balance('eth@eth', request.recipientAddress)).toBe(amountToReceived)
    for (const [network, hash] of [
      ['btc', payinHash],
      ['eth', payoutHash],
    ])
      expect(await page.getByRole('link', { name: hash }).getAttribute('href')).toBe(
        `/sandbox/explorer/${network}/tx/${hash}`,
      )
    expect(await findViolations(page)).toEqual([])
    expect(problems).toEqual([])
  })

  test('shows each call with its request, its answer and a command that repeats it', async () => {
    const { page } = await open()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Create the exchange').click()
    const call = page.locator('.call-list li').filter({ hasText: 'POST/v1/cross-chain/exchange201' })
    await call.locator('summary').click()
    const [request, response] = (await call.locator('pre').allTextContents()).map((text) => JSON.parse(text))
    expect(request).toMatchObject({ fromCurrency: 'btc', toCurrency: 'eth', fromAmount: '0.01', flow: 'standard' })
    expect((await scenario.status(response)).request.depositAddress).toBe(response.request.depositAddress)
    await button(page, 'Copy as curl').click()
    await button(page, 'Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `curl -H 'x-api-key: sandbox' -H 'content-type: application/json' -d '${JSON.stringify(request)}' '${scenario.url}/v1/cross-chain/exchange'`,
    )
    expect(await findViolations(page)).toEqual([])
  })

  test('prints a first call for a terminal that works', async () => {
    const { page } = await open()
    await page.getByText('The first call in a terminal').click()
    const text = (await page.locator('.first-call pre').textContent()) ?? ''
    const [, header = '', key = '', url = ''] = /^curl -H '(x-api-key): (\w+)' \\\n +'(http.+)'$/.exec(text) ?? []
    const answer = await fetch(url, { headers: { [header]: key } })
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ fromAmount: 0.01 })])
    expect(await findViolations(page)).toEqual([])
  })

  /** Creates an exchange and lets it fail, by the keyboard alone. */
  const failByKeyboard = async (page: Page, keyboard: Keyboard, name: string) => {
    await keyboard.press(readyButton(page, 'Create the exchange'), 'Enter')
    await keyboard.press(page.locator('.failures summary'), 'Enter')
    await keyboard.press(readyButton(page, name), 'Space')
  }

  test('refunds a payment below the minimum, and a late one, by keyboard alone', async () => {
    const [little, late] = [(await open()).page, (await open()).page]
    const [first, second] = [await createKeyboard(little), await createKeyboard(late)]
    await failByKeyboard(little, first, 'Pay too little')
    await failByKeyboard(late, second, 'Pay late')
    for (const [page, keyboard, reason] of [
      [little, first, 'BELOW_MIN'],
      [late, second, 'LATE_DEPOSIT'],
    ] as const) {
      await waitForStatus(page, 'refunded')
      expect([reason, await keyboard.lostFocus()]).toEqual([reason, []])
      const { request, exchanges } = await readExchange(page)
      const { statusReason, refund } = exchanges[0]
      expect([statusReason, refund.address]).toEqual([reason, request.refundAddress])
      await stepOf(page, 'Refunded').getByText(`has ${refund.amount} BTC`).waitFor()
      expect(await scenario.balance('btc@btc', refund.address)).toBe(refund.amount)
      expect([reason, await findViolations(page)]).toEqual([reason, []])
    }
  })

  test('lets the block of a payment be replaced: nothing is paid, and a second payment is, by keyboard alone', async () => {
    closers.push(await lockMarket(inject('databaseUrl'), 'matic'))
    const { page, problems } = await open()
    const keyboard = await createKeyboard(page)
    await enterPol(page, keyboard)
    await failByKeyboard(page, keyboard, 'Replace the payment’s block')
    await page.getByText('You can pay again').waitFor()
    const waiting = await readExchange(page)
    expect(['pending', waiting.exchanges.map(({ payoutHash }: Json) => payoutHash)]).toEqual([waiting.status, [null]])
    expect(await scenario.balance('eth@eth', waiting.request.recipientAddress)).toBe('0')
    await keyboard.press(readyButton(page, 'Pay from the faucet'), 'Enter')
    await waitForStatus(page, 'finished')
    expect(await keyboard.lostFocus()).toEqual([])
    const { request, exchanges } = await readExchange(page)
    const paid = exchanges.filter(({ status }: Json) => status === 'finished')
    expect(paid.length).toBe(1)
    expect(await scenario.balance('eth@eth', request.recipientAddress)).toBe(paid[0].amountToReceived)
    expect(await findViolations(page)).toEqual([])
    expect(problems).toEqual([])
  })

  const enterPol = async (page: Page, keyboard: Keyboard) => {
    await keyboard.tabTo(page.getByLabel('You send'))
    await page.keyboard.type('900')
    await keyboard.choose(page.getByLabel('From'), 'pol@matic')
    // The list of sources passes ether, which then is no target.
    await keyboard.choose(page.getByRole('combobox', { name: 'To', exact: true }), 'eth@eth')
  }

  test('shows how a jump of the price moves the quote, until the price is released', async () => {
    const { page } = await open()
    await page.getByLabel('From').selectOption('pol@matic')
    await page.getByLabel('You send').fill('900')
    const readQuote = async () => Number.parseFloat((await page.getByTestId('quote').textContent()) ?? '')
    const before = (await scenario.rate('pol@matic', 'eth@eth', '900')).toAmount
    await scenario.until('the page shows the quote of the API', async () => isNear(await readQuote(), before))
    try {
      await button(page, 'Raise by 5 %').click()
      await scenario.until('the quote is 5 % higher', async () => isNear(await readQuote(), before * 1.05))
      expect(isNear((await scenario.rate('pol@matic', 'eth@eth', '900')).toAmount, before * 1.05)).toBe(true)
      await button(page, 'Let POL move again').click()
      await scenario.until('the quote is as before', async () => isNear(await readQuote(), before))
      expect(await findViolations(page)).toEqual([])
    } finally {
      await scenario.control('/prices', { currency: 'pol', usd: null })
    }
  })

  test('holds an exchange that is paid during a jump of the price, until the price returns, by keyboard alone', async () => {
    closers.push(await lockMarket(inject('databaseUrl'), 'matic'))
    const { page, problems } = await open()
    const keyboard = await createKeyboard(page)
    await enterPol(page, keyboard)
    try {
      await failByKeyboard(page, keyboard, 'Pay during a price jump')
      await waitForStatus(page, 'verifying')
      const held = await readExchange(page)
      expect([held.statusReason, held.exchanges.map(({ payoutHash }: Json) => payoutHash)]).toEqual([
        'PRICE_GUARD',
        [null],
      ])
      expect(await scenario.balance('eth@eth', held.request.recipientAddress)).toBe('0')
      expect(await findViolations(page)).toEqual([])
      await keyboard.press(button(page, 'Let POL move again'), 'Enter')
      await page.locator('.prices:focus').waitFor()
    } finally {
      await scenario.control('/prices', { currency: 'pol', usd: null })
    }
    await waitForStatus(page, 'finished')
    expect(await keyboard.lostFocus()).toEqual([])
    const { request, exchanges } = await readExchange(page)
    expect(await scenario.balance('eth@eth', request.recipientAddress)).toBe(exchanges[0].amountToReceived)
    expect(await findViolations(page)).toEqual([])
    expect(problems).toEqual([])
  })

  test('swaps a token with a throw-away wallet, by keyboard alone', async () => {
    closers.push(await lockMarket(inject('databaseUrl'), 'base'))
    const { page, problems } = await open()
    const keyboard = await createKeyboard(page)
    await keyboard.press(page.getByRole('link', { name: 'Swap', exact: true }), 'Enter')
    // Another network has other tokens, and the list of networks keeps the focus.
    for (const network of ['eth', 'base']) {
      await keyboard.choose(page.getByLabel('Network'), network)
      await readyButton(page, 'Swap with a throw-away wallet').waitFor()
    }
    await keyboard.press(readyButton(page, 'Swap with a throw-away wallet'), 'Space')
    await stepOf(page, 'Received').getByText('The wallet has').waitFor()
    expect(await keyboard.lostFocus()).toEqual([])
    const address = (await stepOf(page, 'Wallet').getByRole('link').textContent()) ?? ''
    const { body } = await scenario.call('GET', `/v1/defi/exchange/list?network=base&account=${address}`)
    const [{ status, hash, amountTo }] = body.exchanges
    expect([body.exchanges.length, status]).toEqual([1, 'finished'])
    await page.getByRole('link', { name: hash }).waitFor()
    await stepOf(page, 'Received').getByText(`${amountTo} ETH`).waitFor()
    expect(await scenario.balance('usdc@base', address)).toBe('0')
    // What was received, and 0.1 for gas less the fees of two transactions.
    const held = parseUnits(await scenario.balance('eth@base', address), 18)
    const gas = parseUnits('0.1', 18)
    expect(held < gas + parseUnits(amountTo, 18) && held > parseUnits(amountTo, 18) + gas / 2n).toBe(true)
    expect(await findViolations(page)).toEqual([])
    expect(problems).toEqual([])
  })

  test('shows what an observer of each chain sees of a private exchange, by keyboard alone', async () => {
    const { page, problems } = await open()
    const keyboard = await createKeyboard(page)
    await keyboard.press(page.getByRole('link', { name: 'Private exchange' }), 'Enter')
    await page.getByRole('heading', { name: 'Private exchange' }).waitFor()
    await keyboard.press(readyButton(page, 'Create the exchange'), 'Enter')
    await keyboard.press(readyButton(page, 'Pay from the faucet'), 'Space')
    // The payment removes the button that had the focus.
    await page.locator('[role=status]:focus').waitFor()
    await waitForStatus(page, 'finished')
    expect(await keyboard.lostFocus()).toEqual([])
    const { request, exchanges } = await readExchange(page)
    const [first, second] = exchanges
    const chains = page.locator('.chain')
    await chains.nth(0).getByText(request.depositAddress).waitFor()
    await chains.nth(0).getByText(first.payinHash).waitFor()
    await chains.nth(1).getByText(first.payoutHash).waitFor()
    await chains.nth(2).getByText(request.recipientAddress).waitFor()
    await chains.nth(2).getByText(second.payoutHash).waitFor()
    expect(await chains.count()).toBe(3)
    expect(await findViolations(page)).toEqual([])
    expect(problems).toEqual([])
  })

  test('fits, and has no violation of accessibility rules, in both color schemes and on a phone', async () => {
    for (const mode of ['#exchange', '#private', '#swap']) {
      const { page, problems } = await open(mode)
      if (mode !== '#swap') {
        await button(page, 'Create the exchange').click()
        await page.locator('.failures summary').click()
      }
      await page.locator('.call-list summary').last().click()
      // The schemes differ in colors alone and the widths in the layout.
      for (const [width, colorScheme] of [
        [1280, 'light'],
        [390, 'dark'],
      ] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        expect([mode, width, colorScheme, await findViolations(page)]).toEqual([mode, width, colorScheme, []])
        expect([mode, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([mode, width])
      }
      expect(problems).toEqual([])
    }
  })

  test('says without scripts what the server is, and links the documentation', async () => {
    const { page } = await openPage(browser, `${scenario.url}/`, { javaScriptEnabled: false })
    closers.push(() => page.close())
    const text = ((await page.getByRole('main').textContent()) ?? '').replaceAll(/\s+/g, ' ')
    expect(text).toContain('An exchange of coins between networks, and swaps of tokens on one network')
    expect(text).toContain('The API key is sandbox')
    for (const path of ['/docs', '/docs/reference', '/docs/first-exchange', '/sandbox/explorer'])
      expect([
        path,
        (await fetch(scenario.url + path)).status,
        await page.locator(`a[href="${path}"]`).count(),
      ]).toEqual([path, 200, expect.toSatisfy((count: number) => count > 0)])
  })
})

/** Fees follow the price of gas. */
const isNear = (value: number, expected: number): boolean => Math.abs(value / expected - 1) < 0.001
