import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

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
export const withoutBrowser = !isThere && !process.env['CI']

export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true }

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args })
}

/** A page, loaded. Whatever it complains about, and whatever it asks of another host, is a problem. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const { origin } = new URL(url)
  const page = await browser.newPage(options)
  const problems: string[] = []
  page.on('console', (message) => void problems.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => void problems.push(error.message))
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url())
    if (protocol !== 'data:' && asked !== origin) problems.push(`asks ${asked}`)
  })
  await page.goto(url)
  return { page, problems }
}

/** The brightest of a colour's three parts. */
export async function brightness(page: Page, selector: string): Promise<number> {
  const color = await page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).color`)
  return Math.max(...[...color.matchAll(/\d+/g)].slice(0, 3).map(Number))
}
