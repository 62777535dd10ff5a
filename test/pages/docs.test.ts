import { freePort } from '@swapyard/lib/free-port.ts'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApiDocument } from '../../schema/src/openapi.ts'
import { servedRoutes } from '../../server/src/app/http.ts'
import { createTestApp } from '../../server/test/core/http/app-for-tests.ts'
import { describeWith } from '../support/describe-with.ts'
import { brightness, openPage, phone, startBrowser } from './browser.ts'

describeWith('chromium', 'the reference at /docs', () => {
  const stoppers: (() => Promise<unknown>)[] = []
  let browser: Browser
  let origin = ''

  beforeAll(async () => {
    const port = await freePort()
    origin = `http://127.0.0.1:${port}`
    const { app } = createTestApp({ publicUrl: origin })
    stoppers.push(() => app.close())
    await app.listen({ port, host: '127.0.0.1' })
    browser = await startBrowser()
    stoppers.unshift(() => browser.close())
  })
  afterAll(async () => {
    for (const stop of stoppers) await stop()
  })

  async function open(options: BrowserContextOptions = {}) {
    const opened = await openPage(browser, `${origin}/docs`, options)
    await opened.page.locator('.opblock').first().waitFor()
    return opened
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
    const brightnessIn = async (colorScheme: 'light' | 'dark') => {
      const { page } = await open({ colorScheme })
      const bright = await brightness(page, '.info .title')
      await page.close()
      return bright
    }
    expect(await brightnessIn('dark')).toBeGreaterThan(170)
    expect(await brightnessIn('light')).toBeLessThan(100)
  })

  test('fits a phone, with an operation open', async () => {
    const { page, problems } = await open(phone)
    await page.locator('.opblock-summary').nth(1).click()
    await page.getByRole('button', { name: 'Execute' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(problems).toEqual([])
    await page.close()
  })
})
