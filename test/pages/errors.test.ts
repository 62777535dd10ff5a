import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorCodes } from '../../server/src/core/domain/errors.ts'
import { listen } from '../../server/test/core/http/app-for-tests.ts'
import { describeWith } from '../support/describe-with.ts'
import { openPage, phone, readBrightness, startBrowser } from './browser.ts'
import { createDocsApp } from './docs-app.ts'

describeWith('chromium', 'the error reference at /docs/errors', () => {
  const closers: (() => Promise<unknown>)[] = []
  let browser: Browser
  let url = ''

  beforeAll(async () => {
    const app = createDocsApp({ publicUrl: 'http://127.0.0.1:8080', isSandbox: true })
    closers.push(() => app.close())
    url = `http://127.0.0.1:${await listen(app)}/docs/errors`
    browser = await startBrowser()
    closers.unshift(() => browser.close())
  })
  afterAll(async () => {
    for (const close of closers) await close()
  })

  test('lists every code with an anchor', async () => {
    const { page, problems } = await openPage(browser, `${url}#RATE_ID_EXPIRED`)
    expect(await page.locator('tbody tr[id] th').allTextContents()).toEqual(
      expect.arrayContaining(Object.keys(errorCodes).toSorted()),
    )
    const row = page.locator('tr:target')
    expect(await row.textContent()).toMatch(/RATE_ID_EXPIRED410The rateId is older than 60 seconds/)
    expect(await row.locator('code').allTextContents()).toEqual(['RATE_ID_EXPIRED', 'errors[0].requote'])
    expect(problems).toEqual([])
    await page.close()
  })

  test('fits a phone and follows the color scheme of the browser', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, problems } = await openPage(browser, url, { ...phone, colorScheme })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      expect((await readBrightness(page, 'h1')) > 170).toBe(colorScheme === 'dark')
      expect(problems).toEqual([])
      await page.close()
    }
  })

  test('has the URL that the OpenAPI document names', async () => {
    const document = await (await fetch(new URL('/openapi.json', url))).json()
    const { info, servers } = document as { info: { description: string }; servers: [{ url: string }] }
    expect(info.description).toContain(`${servers[0].url}/docs/errors`)
  })
})
