import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findChromium } from '../support/describe-with.ts'

const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A page of a test lives for seconds: V8's optimising compilers took a third of the browser's processor time and gave none back.
  '--js-flags=--no-opt --no-maglev',
]
export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true }
export const wide: BrowserContextOptions = { viewport: { width: 1280, height: 900 } }
/** The schemes differ in colors alone and the widths in the layout, so two of the four appearances have all that there is. */
export const appearances: readonly (readonly [string, BrowserContextOptions])[] = [
  ['1280 pixels wide, light', { ...wide, colorScheme: 'light' }],
  ['390 pixels wide, dark', { ...phone, colorScheme: 'dark' }],
]

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium() ?? 'chromium', args })
}

/** Opens a page and collects problems: console messages, page errors, and requests to other hosts. */
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
    const { protocol, origin: requestOrigin } = new URL(request.url())
    if (protocol !== 'data:' && requestOrigin !== origin) problems.push(`request to ${requestOrigin}`)
  })
  await page.goto(url)
  return { page, problems }
}

/** Returns the largest RGB component of an element's text color. */
export async function readBrightness(page: Page, selector: string): Promise<number> {
  const color = await page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).color`)
  return Math.max(...[...color.matchAll(/\d+/g)].slice(0, 3).map(Number))
}
