import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorCodes } from '../../server/src/core/domain/errors.ts'
import { statusOf } from '../../server/src/core/http/errors.ts'
import { mountErrorPage } from '../../server/src/pages/errors.ts'
import { createTestApp, listen } from '../../server/test/core/http/app-for-tests.ts'
import { describeWith } from '../support/describe-with.ts'
import { brightness, openPage, phone, startBrowser } from './browser.ts'

describeWith('chromium', 'the page of errors at /docs/errors', () => {
  const stoppers: (() => Promise<unknown>)[] = []
  let browser: Browser
  let url = ''

  beforeAll(async () => {
    const { app } = createTestApp()
    mountErrorPage(app, statusOf)
    stoppers.push(() => app.close())
    url = `http://127.0.0.1:${await listen(app)}/docs/errors`
    browser = await startBrowser()
    stoppers.unshift(() => browser.close())
  })
  afterAll(async () => {
    for (const stop of stoppers) await stop()
  })

  test('has every code, and each is an address of its own', async () => {
    const { page, problems } = await openPage(browser, `${url}#RATE_ID_EXPIRED`)
    expect(await page.locator('tbody th').allTextContents()).toEqual(Object.keys(errorCodes).toSorted())
    const row = page.locator('tr:target')
    expect(await row.textContent()).toMatch(/RATE_ID_EXPIRED\s+410\s+The rateId is older than 60 seconds/)
    expect(await row.locator('code').allTextContents()).toEqual(['RATE_ID_EXPIRED', 'errors[0].requote'])
    expect(problems).toEqual([])
    await page.close()
  })

  test('fits a phone, and is dark where the reader wants it dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, problems } = await openPage(browser, url, { ...phone, colorScheme })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      expect((await brightness(page, 'h1')) > 170).toBe(colorScheme === 'dark')
      expect(problems).toEqual([])
      await page.close()
    }
  })

  test('is where the OpenAPI document says', async () => {
    const document = await (await fetch(new URL('/openapi.json', url))).json()
    const { info, servers } = document as { info: { description: string }; servers: [{ url: string }] }
    expect(info.description).toContain(`${servers[0].url}/docs/errors`)
  })
})
