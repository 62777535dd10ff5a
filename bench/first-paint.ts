import { startBrowser } from '../test/pages/browser.ts'
import { serveTracking } from '../test/pages/tracking/serve.ts'
import { createStates } from '../test/pages/tracking/states.ts'
import { findChromium } from '../test/support/describe-with.ts'
import { median } from './load.ts'
import type { Result } from './results.ts'

type Browser = Awaited<ReturnType<typeof startBrowser>>

const GOAL_MS = 1_000
/** Loads with an empty cache, each in a browser context of its own. */
const LOADS = 10
/** A slow 4G connection, as Lighthouse emulates it, and a phone: four times slower than this processor. */
const LATENCY_MS = 150
const DOWNLOAD_BITS = 1_600_000
const UPLOAD_BITS = 750_000
const CPU_SLOWDOWN = 4

/** First paint of the tracking page of an exchange that waits for its payment, with QR code, on a phone. */
export async function benchFirstPaint(print: (line: string) => void): Promise<Result[]> {
  if (findChromium() === null) {
    print('firstpaint: chromium-headless-shell is not installed, so the first paint is not measured')
    return []
  }
  const server = await serveTracking()
  const browser = await startBrowser()
  try {
    const view = createStates()['pending, fixed rate']
    if (view === undefined) throw new Error('no state of an exchange that waits for its payment')
    const url = `${server.url}${server.add(view)}?lang=en`
    // The first page of a browser starts its processes.
    await measureLoad(browser, url)
    const times: number[] = []
    for (let n = 0; n < LOADS; n++) times.push(await measureLoad(browser, url))
    return [
      {
        name: 'first paint of the tracking page, throttled',
        figures: [{ value: median(times), unit: 'ms', goal: { below: GOAL_MS } }],
        note: `median of ${LOADS} loads with an empty cache, slowest ${Math.max(...times).toFixed(0)} ms; ${DOWNLOAD_BITS / 1e6} Mbit/s, ${LATENCY_MS} ms to each response, processor slowed ${CPU_SLOWDOWN} times`,
      },
    ]
  } finally {
    await browser.close()
    await server.close()
  }
}

/** Time of the first contentful paint (W3C Paint Timing) since the start of the navigation, in ms. */
async function measureLoad(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true })
  try {
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: LATENCY_MS },
      ...{ downloadThroughput: DOWNLOAD_BITS / 8, uploadThroughput: UPLOAD_BITS / 8 },
    })
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN })
    await page.goto(url)
    return await page.evaluate<number>(`new Promise((done) => new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') done(startTime)
    }).observe({ type: 'paint', buffered: true }))`)
  } finally {
    await context.close()
  }
}
