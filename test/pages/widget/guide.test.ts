import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { freePort } from '@swapyard/lib/free-port.ts'
import type { FastifyInstance } from 'fastify'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mountWidget } from '../../../server/src/pages/widget.ts'
import { createTestApp } from '../../../server/test/core/http/app-for-tests.ts'
import { describeWith } from '../../support/describe-with.ts'
import { blocksOf, SAMPLE_URL } from '../../support/page-samples.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { until } from '../../support/until.ts'
import { startBrowser } from '../browser.ts'
import { currencies, fakeApi, makeCurrency, quote } from './fake-api.ts'

/* The blocks of the guide as they are printed, on a page of a partner's site. Only the addresses are replaced. */

const guide = 'docs/partners/widget.md'
const [embed = '', listen = '', style = '', pinned = ''] = blocksOf(guide, 'html')
const [policy = ''] = blocksOf(guide, 'http')
const PRODUCTION_URL = 'https://exchange.example'
const replies = {
  currencies: [makeCurrency('btc', 'btc', { name: 'Bitcoin' }), ...currencies],
  quote: { ...quote, fromCurrency: 'btc', fromNetwork: 'btc', min: 0.001, fromAmount: 0.01 },
}

describeWith('chromium', 'the guide of the widget', () => {
  let browser: Browser
  let app: FastifyInstance
  let api = ''
  let site: Server
  let answer: Readonly<{ headers: Record<string, string>; body: string }>
  beforeAll(async () => {
    const port = await freePort()
    api = `http://127.0.0.1:${port}`
    app = createTestApp({ publicUrl: api }).app
    mountWidget(app)
    await app.listen({ port, host: '127.0.0.1' })
    // A real server: Chromium lets no page of an unknown network call loopback.
    site = createServer((_, response) => void response.writeHead(200, answer.headers).end(answer.body))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
    await app?.close()
  })

  async function open(blocks: readonly string[], headers: Record<string, string> = {}) {
    const page = await browser.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    const lines: string[] = []
    page.on('console', (message) => void lines.push(message.text()))
    page.on('pageerror', (error) => void lines.push(error.message))
    await fakeApi(page, replies)
    const printed = blocks.join('').replaceAll(SAMPLE_URL, api).replaceAll(PRODUCTION_URL, api)
    const body = `<!doctype html><html lang="en"><title>A wallet</title>${printed}`
    answer = { headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body }
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    return { page, lines }
  }
  const button = (page: Page) => page.getByRole('button', { name: 'Start the exchange' })
  const styleOf = (page: Page, selector: string, property: string) =>
    page.evaluate(
      `getComputedStyle(document.querySelector('swapyard-widget').shadowRoot.querySelector('${selector}')).${property}`,
    )

  test('puts the widget on a page, styles it, and hears what happens', async () => {
    const { page, lines } = await open([embed, listen, style])
    await button(page).waitFor()
    expect(await styleOf(page, '.primary', 'backgroundColor')).toBe('rgb(124, 45, 146)')
    expect(await styleOf(page, '[part~=card]', 'boxShadow')).toBe('none')
    await page.getByText(/^1 BTC ≈ /).waitFor()
    await page.getByLabel('Your ETH address').fill('0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045')
    await button(page).click()
    await until('the page hears both events', () => lines.length >= 2)
    expect(lines).toEqual([expect.stringMatching(/^created [0-9a-f-]{36}$/), 'pending'])
    await page.close()
  })

  test('has a policy with which the widget works, and a pinned script that a changed one does not replace', async () => {
    const [name = '', value = ''] = policy.trim().split(': ')
    expect(name).toBe('Content-Security-Policy')
    const headers = { [name]: value.replaceAll(PRODUCTION_URL, api) }
    const script = await (await fetch(`${api}/widget.js`)).text()
    const hash = createHash('sha384').update(script).digest('base64')
    const element = embed.split('\n').at(1) ?? ''
    const works = await open([pinned.replace('sha384-…', `sha384-${hash}`), element], headers)
    await button(works.page).waitFor()
    expect(works.lines).toEqual([])
    await works.page.close()
    const { page, lines } = await open([pinned.replace('sha384-…', `sha384-${'A'.repeat(64)}`), element], headers)
    await until('the browser refuses the script', () => lines.some((line) => /integrity/.test(line)))
    expect(await button(page).count()).toBe(0)
    await page.close()
  })
})
