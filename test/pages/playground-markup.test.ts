import { freePort } from '@swapyard/lib/free-port.ts'
import type { FastifyInstance } from 'fastify'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { startBrowser } from './browser.ts'
import { createDocsApp } from './docs-app.ts'
import { currencies, makeCurrency, makeTracked, quote } from './widget/fake-api.ts'

/* Names of tokens, which anybody can choose, and texts of payers and chains, in answers that the server would not give. */

const markup = `"><img src=x onerror="globalThis.isInjected=true"><script>globalThis.isInjected=true</script>`
const script = 'javascript:globalThis.isInjected=true//'
const contract = `0x${'ab'.repeat(20)}`
const explorers = { addressExplorer: `${script}{}`, txExplorer: `${script}{}` }
const hostile = ['btc', 'eth', 'usdc'].map((ticker) =>
  makeCurrency(ticker, ticker === 'usdc' ? 'base' : ticker, {
    ...{ name: markup, symbol: markup, memoName: markup, ...explorers },
    contractAddress: ticker === 'usdc' ? contract : null,
  }),
)
const tokens = [contract, `0x${'cd'.repeat(20)}`].map((address) => ({
  ...{ address, name: markup, symbol: markup, decimals: 6, network: 'base', enabled: true },
  image: 'http://127.0.0.1/icons/eth.svg',
}))
const swapQuote = {
  ...{ fromAmount: '1', usdFromAmount: '1', toAmount: '1.5', usdToAmount: '1', receivedAmount: '1.5', fee: '0' },
  ...{ priceImpact: markup, minReceived: '1.4' },
  routes: [
    {
      percentage: markup,
      subRoutes: [{ from: contract, to: markup, dexes: [{ name: markup, percentage: '100' }] }],
    },
  ],
}
const { request } = makeTracked()
const record = {
  ...{ id: markup, created: '2026-01-02T03:04:05.000Z', exchangeType: 'standard', status: 'refunded' },
  ...{ statusReason: 'BELOW_MIN', expiresAt: '2026-01-03T03:04:05.000Z', fixedUntil: null, expectedSeconds: 60 },
  ...{ confirmationsRequired: 2, confirmationsSeen: 2 },
  request: { ...request, depositAddress: markup, depositMemo: markup, recipientAddress: markup },
  exchanges: [
    {
      ...{ status: 'refunded', statusReason: markup, payinHash: script, payoutHash: null, amountToReceived: null },
      ...{ amountFromReceived: markup, confirmationsRequired: 2, confirmationsSeen: 2 },
      refund: { amount: markup, currency: 'btc', network: 'btc', address: markup, memo: null, hash: markup },
    },
  ],
}
const answers: Readonly<Record<string, object>> = {
  '/v1/cross-chain/available-currencies': [...hostile, ...currencies],
  '/v1/cross-chain/rate': { ...quote, amountFromUsd: markup, fromAmount: 0.01, toAmount: 0.25 },
  '/v1/cross-chain/exchange': { ...record, status: 'pending', exchanges: [], trackingUrl: 'http://127.0.0.1/track/t' },
  '/v1/cross-chain/exchange/status': { type: 'standard', exchange: record },
  '/v1/defi/networks': [{ network: 'base', enabled: true, chainId: 8453 }],
  '/v1/defi/available-currencies': tokens,
  '/v1/defi/quote': swapQuote,
  '/sandbox/wallets': { address: markup, privateKey: markup },
  '/sandbox/balance': { amount: markup },
}

describeWith('chromium', 'the playground', () => {
  let browser: Browser
  let app: FastifyInstance
  let url = ''
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    app = createDocsApp({ publicUrl: url, isSandbox: true })
    await app.listen({ port, host: '127.0.0.1' })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  const open = async (mode: string) => {
    const page = await browser.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    const problems: string[] = []
    page.on('console', (message) => void problems.push(message.text()))
    page.on('pageerror', (error) => void problems.push(error.message))
    await page.route(/\/(v1|sandbox)\//, (route) => {
      const answer = answers[new URL(route.request().url()).pathname]
      const status = answer === undefined ? 404 : route.request().method() === 'POST' ? 201 : 200
      return route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(answer ?? {}) })
    })
    await page.route('**/icons/**', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
    )
    await page.goto(`${url}/${mode}`)
    return { page, problems }
  }
  const expectText = async (page: Page) => {
    // The answers, too.
    for (const call of await page.locator('.call-list summary').all()) await call.click()
    expect(await page.locator('[src=x], [onerror]').count()).toBe(0)
    expect(await page.locator('a[href^="javascript:" i]').count()).toBe(0)
    expect(await page.evaluate('globalThis.isInjected')).toBeUndefined()
  }

  test('shows names of currencies, addresses, amounts and hashes as text', async () => {
    const { page, problems } = await open('#exchange')
    await page.getByTestId('quote').waitFor()
    await page.getByText(`$${markup}`).waitFor()
    await page.getByRole('button', { name: 'Create the exchange' }).click()
    await page.getByText(`The refund address has ${markup}`).waitFor()
    await expectText(page)
    expect(problems).toEqual([])
    await page.close()
  })

  test('shows names of tokens and DEXes as text', async () => {
    const { page, problems } = await open('#swap')
    await page.getByTestId('quote').getByText(markup).waitFor()
    expect(await page.locator('.routes').textContent()).toContain(markup)
    await expectText(page)
    expect(problems).toEqual([])
    await page.close()
  })
})
