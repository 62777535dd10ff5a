import { freePort } from '@swapyard/lib/free-port.ts'
import type { FastifyInstance } from 'fastify'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchangeStatuses, statusReasons } from '../../server/src/exchange/domain/exchange.ts'
import { docPages } from '../../server/src/pages/docs/page-list.ts'
import { swapReasons, swapStatuses } from '../../server/src/swap/domain/swap.ts'
import { describeWith } from '../support/describe-with.ts'
import { findViolations } from './axe.ts'
import { appearances, openPage, phone, readBrightness, startBrowser, wide } from './browser.ts'
import { createDocsApp } from './docs-app.ts'

let app: FastifyInstance
let origin = ''
/** In the sandbox, `/` is the playground: see playground.test.ts. */
let production: FastifyInstance
let productionOrigin = ''
const paths = docPages.map(({ path }) => path)

beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  app = createDocsApp({ publicUrl: origin, isSandbox: true })
  await app.listen({ port, host: '127.0.0.1' })
  const otherPort = await freePort()
  productionOrigin = `http://127.0.0.1:${otherPort}`
  production = createDocsApp({ publicUrl: productionOrigin, isSandbox: false })
  await production.listen({ port: otherPort, host: '127.0.0.1' })
})
afterAll(() => Promise.all([app.close(), production.close()]))

const read = async (path: string) => (await app.inject({ url: path })).body
const linksOf = (body: string) => [...body.matchAll(/\b(?:href|src)="([^"]+)"/g)].map(([, link = '']) => link)
const idsOf = (body: string) => [...body.matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id)

describe('the documentation', () => {
  test('has no link or anchor that leads nowhere', async () => {
    const bodies = new Map<string, string>()
    for (const path of paths) bodies.set(path, await read(path))
    const broken: string[] = []
    let anchors = 0
    for (const [path, body] of bodies) {
      for (const link of linksOf(body)) {
        const target = new URL(link.replaceAll('&amp;', '&'), `${origin}${path}`)
        if (target.origin !== origin) {
          expect([path, target.protocol]).toEqual([path, 'https:'])
          continue
        }
        const answer = await app.inject({ url: target.pathname })
        if (answer.statusCode !== 200) broken.push(`${path}: ${link}`)
        if (target.hash === '') continue
        anchors += 1
        const ids = idsOf(bodies.get(target.pathname) ?? '')
        if (!ids.includes(decodeURIComponent(target.hash.slice(1)))) broken.push(`${path}: ${link}`)
      }
    }
    expect(broken).toEqual([])
    expect(anchors).toBeGreaterThan(200)
  })

  test('has every page in the list of every page, a title, one heading and unique addresses', async () => {
    const titles = new Set<string>()
    for (const { path } of docPages) {
      const body = await read(path)
      const listed = linksOf(body)
      expect([path, docPages.filter((page) => !listed.includes(page.path))]).toEqual([path, []])
      expect([path, body.match(/<h1 /g)?.length]).toEqual([path, 1])
      expect([path, body.match(/<html lang="en">/g)?.length]).toEqual([path, 1])
      expect(body).toContain(`<link rel="canonical" href="${origin}${path}">`)
      const ids = idsOf(body)
      expect([path, ids.filter((id, at) => ids.indexOf(id) !== at)]).toEqual([path, []])
      titles.add(/<title>([^<]+)<\/title>/.exec(body)?.[1] ?? '')
    }
    expect(titles.size).toBe(docPages.length)
  })

  test('explains every status and reason of the code', async () => {
    const body = await read('/docs/statuses')
    const rows = [...body.matchAll(/<tr id="[^"]+"><th scope="row"><a href="#[^"]+"><code>(\w+)<\/code>/g)]
    const named = rows.map(([, name = '']) => name)
    expect(named.toSorted()).toEqual(
      [...exchangeStatuses, ...statusReasons, ...swapStatuses, ...swapReasons].toSorted(),
    )
  })

  test('leaves out references to tests and shows no raw Markdown', async () => {
    for (const { path } of docPages) {
      const text = (await read(path)).replaceAll(/<pre[\s\S]*?<\/pre>|<code>[^<]*<\/code>/g, '')
      expect([path, text.match(/\.test\.ts|\]\(|^#+ |\*\*|```|<!--/m)]).toEqual([path, null])
    }
    expect(await read('/docs/lifecycle')).not.toMatch(/scope="col">test</)
  })

  test('shows the address of the sandbox in its samples, and in production the one of a local sandbox', async () => {
    expect(await read('/docs/first-exchange')).toContain(`api=${origin}\n`)
    const page = await production.inject({ url: '/docs/first-exchange' })
    expect(page.body).toContain('api=http://127.0.0.1:8080\n')
  })

  test('answers a known ETag with 304, compresses, and answers HEAD', async () => {
    for (const url of ['/docs', '/docs/search.json', '/docs/assets/docs.js', '/docs/postman.json']) {
      const first = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
      expect([url, first.statusCode, first.headers['content-encoding']]).toEqual([url, 200, 'gzip'])
      expect(first.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
      const again = await app.inject({ url, headers: { 'if-none-match': String(first.headers.etag) } })
      expect([url, again.statusCode, again.body]).toEqual([url, 304, ''])
      expect((await app.inject({ method: 'HEAD', url })).statusCode).toBe(200)
    }
    expect((await app.inject({ url: '/docs/' })).headers.location).toBe('/docs')
    expect((await app.inject({ url: '/docs/no-such-page' })).statusCode).toBe(404)
    expect((await app.inject({ method: 'POST', url: '/docs' })).statusCode).toBe(405)
  })
})

describe('the page at /', () => {
  test('says in production what the server is, without a key', async () => {
    const { body } = await production.inject({ url: '/' })
    expect(body).toContain('<h1>Swapyard</h1>')
    expect(body).toContain(`<code>${productionOrigin}</code>`)
    expect(body).toContain('href="/docs"')
    for (const link of linksOf(body).filter((one) => one.startsWith('/')))
      expect([link, (await production.inject({ url: link })).statusCode]).toEqual([link, 200])
    expect(body).not.toMatch(/sandbox/i)
    expect(body).toContain('<meta name="robots" content="index">')
    const robots = await production.inject({ url: '/robots.txt' })
    expect(robots.body).toBe('User-agent: *\nDisallow: /v1/\nDisallow: /health/\n')
    expect((await app.inject({ url: '/robots.txt' })).body).toBe('User-agent: *\nDisallow: /\n')
    const postman = JSON.parse((await production.inject({ url: '/docs/postman.json' })).body)
    expect(postman.variable).toEqual([
      { key: 'baseUrl', value: productionOrigin },
      { key: 'apiKey', value: '' },
    ])
  })
})

describeWith('chromium', 'a page of the documentation in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  const open = (path: string, options = {}) => openPage(browser, `${origin}${path}`, options)

  describe.each(appearances)('%s', (_, options) => {
    test('fits, follows the color scheme, and has no violation of accessibility rules', async () => {
      const { page, problems } = await open(paths[0] ?? '', options)
      for (const path of paths) {
        await page.goto(`${origin}${path}`)
        await page.locator('#search').waitFor()
        expect([path, await findViolations(page)]).toEqual([path, []])
        expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
          path,
          options.viewport?.width,
        ])
        expect((await readBrightness(page, 'h1')) > 170).toBe(options.colorScheme === 'dark')
      }
      expect(problems).toEqual([])
      await page.close()
      const root = await openPage(browser, `${productionOrigin}/`, options)
      expect(await findViolations(root.page)).toEqual([])
      expect(await root.page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport?.width)
      expect(root.problems).toEqual([])
      await root.page.close()
    })
  })

  test('is complete without scripts', async () => {
    const { page } = await open('/docs/first-exchange', { ...wide, javaScriptEnabled: false })
    for (const path of paths) {
      await page.goto(`${origin}${path}`)
      const blocks = page.locator('.code')
      for (let at = 0; at < (await blocks.count()); at += 1) expect(await blocks.nth(at).isVisible()).toBe(true)
      expect(await page.locator('#search, [role=tab], .copy').count()).toBe(0)
      expect(await page.locator('nav.side a').count()).toBeGreaterThanOrEqual(docPages.length)
    }
    await page.goto(`${origin}/docs/first-exchange`)
    expect(await page.locator('.samples').first().locator('.language').allTextContents()).toEqual([
      'curl',
      'TypeScript',
      'Python',
    ])
    await page.close()
  })

  test('opens the list of pages on a phone without scripts', async () => {
    const { page } = await open('/docs', { ...phone, javaScriptEnabled: false })
    const link = page.locator('.menu a', { hasText: 'Refunds' })
    expect(await link.isVisible()).toBe(false)
    await page.locator('.menu summary').click()
    await link.click()
    await page.waitForURL(`${origin}/docs/refunds`)
    await page.close()
  })

  test('shows one language of every sample, chosen by keyboard and kept on other pages', async () => {
    const { page, problems } = await open('/docs/first-exchange', wide)
    const shown = async () =>
      new Set(
        await page
          .locator('.samples .code:visible')
          .evaluateAll((all) =>
            all.map((one) => (one as unknown as { dataset: { language: string } }).dataset.language),
          ),
      )
    expect(await shown()).toEqual(new Set(['sh']))
    await page.getByRole('tab', { name: 'curl' }).first().focus()
    await page.keyboard.press('ArrowRight')
    expect(await shown()).toEqual(new Set(['ts']))
    expect(await page.evaluate('document.activeElement.textContent')).toBe('TypeScript')
    await page.keyboard.press('End')
    expect(await shown()).toEqual(new Set(['python']))
    await page.keyboard.press('ArrowRight')
    expect(await shown()).toEqual(new Set(['sh']))
    await page.keyboard.press('ArrowLeft')
    await page.goto(`${origin}/docs/refunds`)
    expect(await shown()).toEqual(new Set(['python']))
    expect(problems).toEqual([])
    await page.close()
  })

  test('copies a sample as it is printed', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(`${origin}/docs/fixed-rates`)
    const code = page.locator('.code:visible').first()
    await code.getByRole('button', { name: 'Copy the code' }).click()
    await code.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' })
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await code.locator('code').textContent())
    await context.close()
  })

  test.each([
    ['refund address', '/docs/refunds#name-the-address-later', 'a heading'],
    ['RATE_ID_EXPIRED', '/docs/errors#RATE_ID_EXPIRED', 'an error code'],
    ['OUTSIDE_TOLERANCE', '/docs/statuses#OUTSIDE_TOLERANCE', 'a reason'],
    ['quoteRate', '/docs/reference#/Cross-chain/quoteRate', 'an operation'],
    ['going live', '/docs/going-live', 'a page'],
    ['webhoks', '/docs/webhooks', 'a word with a typing error'],
  ])('finds %s by keyboard alone', async (query, target) => {
    const { page } = await open('/docs', wide)
    await page.locator('#search').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(query)
    const options = page.getByRole('option')
    await options.first().waitFor()
    const urls = await page.evaluate<string[]>(
      '[...document.querySelectorAll("[role=option]")].map((one) => one.dataset.url)',
    )
    const at = urls.indexOf(target)
    expect([query, urls]).toEqual([query, expect.arrayContaining([target])])
    for (let step = 0; step < at; step += 1) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}${target}`)
    await page.close()
  })

  test('says when nothing is found, closes the results by Escape, and limits the input', async () => {
    const { page, problems } = await open('/docs', wide)
    const search = page.getByRole('combobox', { name: 'Search the documentation' })
    await search.fill('xyzzyqwert')
    await page.getByText('No results').waitFor()
    expect(await findViolations(page)).toEqual([])
    await search.fill('refund')
    await page.locator('[role=option][aria-selected=true]').waitFor()
    expect(await findViolations(page)).toEqual([])
    await search.press('Escape')
    expect(await page.getByRole('listbox').isVisible()).toBe(false)
    await search.pressSequentially('a'.repeat(120))
    expect((await search.inputValue()).length).toBe(100)
    expect(problems).toEqual([])
    await page.close()
  })

  test('has a link to its content as the first stop of the keyboard', async () => {
    const { page } = await open('/docs/refunds', wide)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#content$/)
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
    await page.close()
  })
})
