import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApiDocument } from '../../schema/src/openapi.ts'
import { servedRoutes } from '../../server/src/api/app.ts'
import { createTestApp } from '../../server/test/http/app-for-tests.ts'
import { freePort } from '../bitcoin/free-port.ts'

const executablePath = '/usr/bin/chromium'
const isThere = existsSync(executablePath)
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
if (!isThere && !process.env['CI']) console.warn('the pages are not tested: install the package `chromium`')

/** In continuous integration an absent browser is a failure, not a silence. */
describe.skipIf(!isThere && !process.env['CI'])('the reference at /docs', () => {
  const stoppers: (() => Promise<unknown>)[] = []
  let browser: Browser
  let origin = ''

  beforeAll(async () => {
    const port = await freePort()
    origin = `http://127.0.0.1:${port}`
    const { app } = createTestApp({ publicUrl: origin })
    stoppers.push(() => app.close())
    await app.listen({ port, host: '127.0.0.1' })
    browser = await chromium.launch({ executablePath, args })
    stoppers.unshift(() => browser.close())
  })
  afterAll(async () => {
    for (const stop of stoppers) await stop()
  })

  /** The page, loaded. Whatever it complains about, and whatever it asks of another host, is a problem. */
  async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage(options)
    const problems: string[] = []
    page.on('console', (message) => void problems.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => void problems.push(error.message))
    page.on('request', (request) => {
      const { protocol, origin: asked } = new URL(request.url())
      if (protocol !== 'data:' && asked !== origin) problems.push(`asks ${asked}`)
    })
    await page.goto(`${origin}/docs`)
    await page.locator('.opblock').first().waitFor()
    return { page, problems }
  }

  test('shows every operation of the document, and nothing complains', async () => {
    const { page, problems } = await open()
    const { paths } = openApiDocument(servedRoutes({ sandboxControlUrl: null }), { serverUrl: origin })
    const documented = Object.values(paths as Record<string, object>).flatMap((path) => Object.keys(path))
    expect(await page.locator('.opblock').count()).toBe(documented.length)
    // What Swagger UI finds wrong with a document stands in the page.
    expect(await page.getByText('not supported').count()).toBe(0)
    expect(problems).toEqual([])
    await page.close()
  })

  test('sends a request, with the key', async () => {
    const { page, problems } = await open()
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.locator('.auth-container input').fill('sandbox')
    await page.locator('.auth-container button[type=submit]').click()
    await page.locator('.btn-done').click()
    await page.locator('.opblock-summary', { hasText: '/v1/cross-chain/rate' }).first().click()
    await page.getByRole('button', { name: 'Execute' }).click()
    const status = page.locator('.live-responses-table .response .response-col_status')
    await status.waitFor()
    expect((await status.textContent())?.trim()).toMatch(/^200/)
    expect(problems).toEqual([])
    await page.close()
  })

  test('is dark where the reader wants it dark', async () => {
    const brightness = async (colorScheme: 'light' | 'dark') => {
      const { page } = await open({ colorScheme })
      const text = await page.evaluate<string>("getComputedStyle(document.querySelector('.info .title')).color")
      await page.close()
      return Math.max(...[...text.matchAll(/\d+/g)].slice(0, 3).map(Number))
    }
    expect(await brightness('dark')).toBeGreaterThan(170)
    expect(await brightness('light')).toBeLessThan(100)
  })

  test('fits a phone, with an operation open', async () => {
    const { page, problems } = await open({ viewport: { width: 390, height: 844 }, isMobile: true })
    await page.locator('.opblock-summary').nth(1).click()
    await page.getByRole('button', { name: 'Execute' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(problems).toEqual([])
    await page.close()
  })
})
