import { freePort } from '@swapyard/lib/free-port.ts'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApiDocument } from '../../schema/src/openapi.ts'
import { servedRoutes } from '../../server/src/app/http.ts'
import { describeWith } from '../support/describe-with.ts'
import { findViolations } from './axe.ts'
import { appearances, openPage, phone, readBrightness, startBrowser } from './browser.ts'
import { createDocsApp } from './docs-app.ts'

/** Rules of axe that Swagger UI violates (decision 0124), by color scheme. Another one, or one fewer, fails the test. */
const KNOWN_IN_DARK = ['heading-order', 'nested-interactive', 'region', 'select-name']
const KNOWN = { light: ['color-contrast', ...KNOWN_IN_DARK], dark: KNOWN_IN_DARK }

describeWith('chromium', 'the reference at /docs/reference', () => {
  const closers: (() => Promise<unknown>)[] = []
  let browser: Browser
  let origin = ''

  beforeAll(async () => {
    const port = await freePort()
    origin = `http://127.0.0.1:${port}`
    const app = createDocsApp({ publicUrl: origin, isSandbox: false })
    closers.push(() => app.close())
    await app.listen({ port, host: '127.0.0.1' })
    browser = await startBrowser()
    closers.unshift(() => browser.close())
  })
  afterAll(async () => {
    for (const close of closers) await close()
  })

  async function openDocs(options: BrowserContextOptions = {}) {
    const docsPage = await openPage(browser, `${origin}/docs/reference`, options)
    await docsPage.page.locator('.opblock').first().waitFor()
    return docsPage
  }

  test('shows every operation of the document without problems', async () => {
    const { page, problems } = await openDocs()
    const { paths, webhooks } = openApiDocument(servedRoutes({ sandboxControlUrl: null }), { serverUrl: origin })
    const documented = [paths, webhooks]
      .flatMap((part) => Object.values(part as Record<string, object>))
      .flatMap((path) => Object.keys(path))
    expect(await page.locator('.opblock').count()).toBe(documented.length)
    // Swagger UI shows errors of the document in the page.
    expect(await page.getByText('not supported').count()).toBe(0)
    expect(problems).toEqual([])
    await page.close()
  })

  test('sends a request with the API key', async () => {
    const { page, problems } = await openDocs()
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

  test('follows the color scheme of the browser', async () => {
    const readTitleBrightness = async (colorScheme: 'light' | 'dark') => {
      const { page } = await openDocs({ colorScheme })
      const brightness = await readBrightness(page, '.info .title')
      await page.close()
      return brightness
    }
    expect(await readTitleBrightness('dark')).toBeGreaterThan(170)
    expect(await readTitleBrightness('light')).toBeLessThan(100)
  })

  test.each(appearances)('%s: has no other violations than the known ones of Swagger UI', async (_, options) => {
    const { page } = await openDocs(options)
    const rules = (await findViolations(page)).map((violation) => violation.split(' ')[0])
    expect([...new Set(rules)].toSorted()).toEqual(KNOWN[options.colorScheme === 'dark' ? 'dark' : 'light'])
    await page.close()
  })

  test('lists every operation without scripts', async () => {
    const { page, problems } = await openPage(browser, `${origin}/docs/reference`, { javaScriptEnabled: false })
    const listed = await page.locator('noscript li code').allTextContents()
    const { paths } = openApiDocument(servedRoutes({ sandboxControlUrl: null }), { serverUrl: origin })
    const documented = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(listed.toSorted()).toEqual(documented.toSorted())
    expect(await page.locator('noscript li').first().isVisible()).toBe(true)
    expect(problems).toEqual([])
    await page.close()
  })

  test('fits a phone with an operation open', async () => {
    const { page, problems } = await openDocs(phone)
    await page.locator('.opblock-summary').nth(1).click()
    await page.getByRole('button', { name: 'Execute' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(problems).toEqual([])
    await page.close()
  })
})
