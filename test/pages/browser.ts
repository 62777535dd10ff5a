import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findOnPath } from '../support/describe-with.ts'

const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true }

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findOnPath('chromium') ?? 'chromium', args })
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
