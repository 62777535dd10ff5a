import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { PATIENCE_MS } from '../../support/patience.ts'

type Members = Readonly<Record<string, string>>
export type HostEvent = Readonly<{ type: string; detail: Record<string, unknown> }>
export type OpenOptions = BrowserContextOptions & Readonly<{ members?: Members; integrity?: string }>

/** A partner's site on another origin than the API. Its policy allows the API's origin alone, and no inline style or markup from scripts. */
export type HostSite = Readonly<{
  origin: string
  open(options?: OpenOptions, prepare?: (page: Page) => Promise<unknown>): Promise<HostPage>
  close(): void
}>
export type HostPage = Readonly<{
  page: Page
  /** Messages of the console, errors of scripts, and requests to other hosts. */
  problems: string[]
  events(): Promise<readonly HostEvent[]>
}>

const members = { key: 'pk_sandbox', from: 'btc@btc', to: 'eth@eth', amount: '0.01' }

export async function startHostSite(browser: Browser, api: string): Promise<HostSite> {
  const policy = `default-src 'none'; script-src ${api}; connect-src ${api}; img-src ${api}; require-trusted-types-for 'script'`
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://host').searchParams
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
    response.end(renderPage(api, JSON.parse(query.get('members') ?? '{}'), query.get('integrity')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    open: (options, prepare) => openHostPage(browser, { origin, api }, options, prepare),
    close: () => server.close(),
  }
}

function renderPage(api: string, attributes: Members, integrity: string | null): string {
  const check = integrity === null ? '' : ` integrity="${integrity}" crossorigin="anonymous"`
  const written = Object.entries(attributes).map(([name, value]) => `${name}="${value}"`)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A wallet</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
</head><body><main><h1>A wallet</h1>
<script src="${api}/widget.js" async${check}></script><swapyard-widget ${written.join(' ')}></swapyard-widget>
</main></body></html>`
}

async function openHostPage(
  browser: Browser,
  { origin, api }: Readonly<{ origin: string; api: string }>,
  { members: changed, integrity, ...options }: OpenOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<HostPage> {
  const page = await browser.newPage(options)
  page.setDefaultTimeout(PATIENCE_MS)
  const problems: string[] = []
  page.on('console', (message) => void problems.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => void problems.push(error.message))
  page.on('request', (request) => {
    const { protocol, origin: requested } = new URL(request.url())
    if (protocol !== 'data:' && requested !== origin && requested !== api) problems.push(`request to ${requested}`)
  })
  await page.addInitScript(`globalThis.hostEvents = []
    for (const type of ['swapyard:created', 'swapyard:status'])
      document.addEventListener(type, ({ detail }) => globalThis.hostEvents.push({ type, detail }))`)
  await prepare(page)
  const query = new URLSearchParams({ members: JSON.stringify({ ...members, ...changed }) })
  if (integrity !== undefined) query.set('integrity', integrity)
  await page.goto(`${origin}/?${query}`)
  return { page, problems, events: () => page.evaluate<HostEvent[]>('globalThis.hostEvents') }
}
