import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../support/describe-with.ts'
import { PATIENCE } from '../../support/patience.ts'
import { findViolations } from '../axe.ts'
import { fakeApi } from './fake-api.ts'
import { type ServedWidget, serveWidget } from './serve-widget.ts'

/* A server that accepts connections and answers nothing. */

/** The time after which the widget says so, and that of one attempt of the client, with some more. */
const [DELAY_MS, ATTEMPT_MS] = [6_000, 31_000]

describeWith('chromium', 'the widget of a silent server', () => {
  let served: ServedWidget
  let silent: Server
  const sockets = new Set<Socket>()
  beforeAll(async () => {
    silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    served = await serveWidget()
  })
  afterAll(async () => {
    await served?.close()
    for (const socket of sockets) socket.destroy()
    silent?.close()
  })

  /** `silence.path`: requests of this path get no answer. */
  const open = async (silence: { path: string | null }) => {
    const keys: string[] = []
    const { page } = await served.site.open({ members: { from: 'xrp', to: 'eth', amount: '100' } }, async (opened) => {
      await opened.clock.install()
      opened.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/v1/cross-chain/exchange'))
          keys.push(request.headers()['idempotency-key'] ?? '')
      })
      await fakeApi(opened)
      const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
      await opened.route('**/v1/**', (route) => {
        const { pathname } = new URL(route.request().url())
        return pathname === silence.path ? route.continue({ url: silentUrl + pathname }) : route.fallback()
      })
    })
    return { page, keys }
  }
  const create = '/v1/cross-chain/exchange'
  const press = (page: Page) => page.getByRole('button', { name: 'Start the exchange' }).click()
  const note = (page: Page) => page.locator('section').getByText('only one exchange is created')
  const live = (page: Page) => page.locator('section + [role=status]')
  const waitForRequests = (keys: readonly string[], count: number) =>
    expect.poll(() => keys.length, PATIENCE).toBe(count)

  test('says that a create takes long, and the customer goes on waiting for the same exchange', async () => {
    const silence: { path: string | null } = { path: create }
    const { page, keys } = await open(silence)
    await page.getByText('1 XRP ≈ 0.000625 ETH').waitFor()
    await page.getByLabel('Your ETH address').fill('0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045')
    await press(page)
    await waitForRequests(keys, 1)
    expect(await note(page).isVisible()).toBe(false)
    await page.clock.fastForward(DELAY_MS)
    await note(page).waitFor()
    expect(await live(page).textContent()).toContain('The service is slow to answer.')
    expect(await findViolations(page)).toEqual([])
    // The client repeats the request once.
    await page.clock.fastForward(ATTEMPT_MS)
    await waitForRequests(keys, 2)
    await page.clock.fastForward(ATTEMPT_MS)
    await page.getByRole('alert').getByText('Try again to go on waiting: no second exchange is created.').waitFor()
    expect(await note(page).isVisible()).toBe(false)
    await press(page)
    await waitForRequests(keys, 3)
    await page.clock.fastForward(DELAY_MS)
    await note(page).waitFor()
    await page.reload()
    await waitForRequests(keys, 4)
    await page.clock.fastForward(DELAY_MS)
    await note(page).waitFor()
    silence.path = null
    await page.clock.fastForward(ATTEMPT_MS)
    await page.getByRole('heading', { name: 'Waiting for your payment' }).waitFor()
    expect([keys.length, new Set(keys).size]).toEqual([5, 1])
    await page.close()
  })

  test('says that the form takes long, and shows it when the server answers', async () => {
    const silence: { path: string | null } = { path: '/v1/cross-chain/available-currencies' }
    const { page } = await open(silence)
    await page.getByText('Loading…').waitFor()
    await page.clock.fastForward(DELAY_MS)
    await page.locator('section').getByText('The service is slow to answer. You can wait here.').waitFor()
    expect(await findViolations(page)).toEqual([])
    silence.path = null
    await page.clock.fastForward(ATTEMPT_MS)
    await page.getByLabel('Your ETH address').waitFor()
    await page.close()
  })
})
