import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { serveTracking, type TrackingServer } from '../../../test/pages/tracking/serve.ts'
import { createStates, refundAddress } from '../../../test/pages/tracking/states.ts'
import { PATIENCE_MS } from '../../../test/support/patience.ts'
import { AppError } from '../../src/core/domain/errors.ts'
import { apiDefaults } from '../../src/core/http/settings.ts'
import type { Throttle } from '../../src/core/ports/throttle.ts'
import { makeView } from '../../src/exchange/domain/tracked-exchange.fixture.ts'
import { languages } from '../../src/pages/tracking/languages/locale.ts'

/** All that a browser loads for the page. */
const PAGE_BYTES_MAX = 60_000

let server: TrackingServer
beforeAll(async () => {
  server = await serveTracking()
})
afterAll(() => server.close())

const states = createStates()
const viewOf = (name: string) => {
  const view = states[name]
  if (view === undefined) throw new Error(`no state ${name}`)
  return view
}
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers, redirect: 'manual' })
const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}/refund?lang=en`, {
    ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(form) },
    headers: { 'sec-fetch-site': 'same-origin', origin: 'null', ...headers },
  })

describe('the tracking page', () => {
  test('loads nothing from other hosts, names the page to none, and is not stored', async () => {
    const answer = await get(server.add(viewOf('pending')))
    expect(answer.status).toBe(200)
    const { headers } = answer
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('set-cookie')).toBeNull()
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(await answer.text()) ?? []
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
      "script-src 'self'",
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ])
  })

  test('has at most 60 kB with its script, in every state and language', async () => {
    const script = await (await get('/track/client.js', { 'accept-encoding': 'identity' })).text()
    const many = makeView(
      { id: '0198c5a2-7c1e-7b3a-9f0d-000000000001', status: 'finished' },
      Array.from({ length: 100 }, () => ({ status: 'finished', payoutHash: `0x${'cc'.repeat(32)}`, sentUnits: 1n })),
    )
    const [, fixedRate] = Object.values(states)
    for (const view of [...Object.values(states), many]) {
      const path = server.add(view)
      // Their letters take the most bytes.
      const longest = ['ru', 'ar', 'ja']
      for (const language of view === fixedRate ? Object.keys(languages) : longest) {
        const page = await (await get(`${path}?lang=${language}`)).text()
        expect(Buffer.byteLength(page) + Buffer.byteLength(script)).toBeLessThan(PAGE_BYTES_MAX)
      }
    }
  })

  test('shows the expected time that is the same for every intermediary', async () => {
    const { exchange } = viewOf('private, exchanging')
    const page = async (status: 'pending' | 'confirming', executions: readonly object[]) =>
      (
        await get(
          `${server.add(makeView({ ...exchange, id: randomUUID(), status, isCancelled: false }, executions))}?lang=en`,
        )
      ).text()
    for (const one of [await page('pending', []), await page('confirming', [{ status: 'confirming' }])])
      expect(/Expected duration <strong>[^<]*/.exec(one)?.[0]).toBe('Expected duration <strong>60 minutes')
  })

  test('states what the recipient will get only until it is paid out', async () => {
    const page = async (name: string) => (await get(`${server.add(viewOf(name))}?lang=en`)).text()
    for (const name of ['pending', 'confirming', 'exchanging', 'private, exchanging'])
      expect([name, (await page(name)).match(/<dt>(You get about|Paid out)/g)]).toEqual([name, ['<dt>You get about']])
    for (const name of ['sending', 'finished', 'private, finished', 'several deposits'])
      expect([name, (await page(name)).match(/<dt>(You get about|Paid out)/g)]).toEqual([name, ['<dt>Paid out']])
  })

  test('is in the language of ?lang=, else of Accept-Language, else in English', async () => {
    const path = server.add(viewOf('pending'))
    const languageOf = async (query: string, accept?: string) => {
      const answer = await get(path + query, accept === undefined ? {} : { 'accept-language': accept })
      return /<html lang="(\w+)" dir="(\w+)">/
        .exec(await answer.text())
        ?.slice(1)
        .join(' ')
    }
    expect(await languageOf('')).toBe('en ltr')
    expect(await languageOf('', 'de-CH,de;q=0.9,en;q=0.5')).toBe('de ltr')
    expect(await languageOf('', 'sv, fr;q=0.2, tr;q=0.7')).toBe('tr ltr')
    expect(await languageOf('', 'de;q=0, ja;q=0.1')).toBe('ja ltr')
    expect(await languageOf('', 'AR-eg')).toBe('ar rtl')
    expect(await languageOf('?lang=ar', 'de')).toBe('ar rtl')
    expect(await languageOf('?lang=constructor', 'es')).toBe('es ltr')
    expect(await languageOf('?lang=de&lang=fr', 'es')).toBe('es ltr')
  })

  test('isolates every address, amount and name of a currency from the text from right to left, in every state', async () => {
    for (const [name, view] of Object.entries(states)) {
      const page = await (await get(`${server.add(view)}?lang=ar`)).text()
      const [, main = ''] = /<main>([\s\S]*)<\/main>/.exec(page) ?? []
      expect(main).toContain('<bdi dir="ltr">')
      const remaining = main
        .replaceAll(/<bdi dir="ltr">[^<]*<\/bdi>|<time [^>]*>[^<]*<\/time>/g, '')
        .replaceAll(/<[^>]*>/g, '')
      // Letters of another direction, or a decimal, which the text around them would reorder.
      expect([name, remaining.match(/[A-Za-z]\w*|\d+\.\d+/g)]).toEqual([name, null])
    }
  })

  test('does not exist for other tokens, and does not repeat them', async () => {
    const [one, other] = [server.add(viewOf('pending')), server.add(viewOf('finished'))]
    const token = (path: string) => path.slice('/track/'.length)
    const mixed = token(one).slice(0, 22) + token(other).slice(22)
    for (const wrong of [mixed, 'x', 'x'.repeat(43), '%3Cscript%3E', `${token(one)}A`]) {
      for (const path of [`/track/${wrong}`, `/track/${wrong}/events`]) {
        const answer = await get(path)
        expect(answer.status).toBe(404)
        const body = await answer.text()
        expect(body).toContain('<h1>This page does not exist</h1>')
        expect(body).not.toContain('<script')
        if (wrong.length > 1) expect(body).not.toContain(wrong)
      }
      expect((await post(`/track/${wrong}`, { address: refundAddress, act: 'confirm' })).status).toBe(404)
    }
  })

  test('shows no id, partner or payment between the legs of another thing', async () => {
    for (const name of ['private, exchanging', 'private, finished']) {
      const body = await (await get(server.add(viewOf(name)))).text()
      expect(body).not.toMatch(/bb{20}|77777|XRP|xrp|"p1"|sandbox|partner/)
    }
  })

  test('takes its weight from the budget of the address, and says so in words when it is used up', async () => {
    const throttle: Throttle = {
      take: (_key, _cost, limit) => ({ allowed: false, limit, remaining: 0, resetSeconds: 9 }),
    }
    const settings = { ...apiDefaults, publicUrl: 'http://127.0.0.1', throttle }
    const full = await serveTracking({ settings })
    const path = full.add(viewOf('pending'))
    for (const url of [path, `${path}/events`]) {
      const answer = await fetch(full.url + url)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '9'])
      expect(await answer.text()).toContain('<h1>Too many requests</h1>')
    }
    await full.close()
  })

  test('says that the service does not answer if the database does not, without its message', async () => {
    const find = async () => {
      throw new Error('connection to 10.0.0.5 refused')
    }
    const broken = await serveTracking({}, { find })
    const answer = await fetch(`${broken.url}/track/${'x'.repeat(43)}`)
    expect(answer.status).toBe(500)
    const body = await answer.text()
    expect(body).toContain('The service is not answering')
    expect(body).not.toContain('10.0.0.5')
    expect(broken.testApp.lines.find(({ level }) => level === 'error')?.fields).toMatchObject({ path: '/track/:token' })
    await broken.close()
  })

  test('is written to the log without its token', async () => {
    const path = server.add(viewOf('pending'))
    const { lines } = server.testApp
    const before = lines.length
    for (const tail of ['', '/', '/unknown', '/events/', '/refund']) await (await get(path + tail)).body?.cancel()
    await post(`${path}/unknown`, {})
    await vi.waitUntil(() => lines.length >= before + 6, { timeout: PATIENCE_MS })
    expect(JSON.stringify(lines)).not.toContain(path.slice('/track/'.length))
  })
})

describe('the form for a refund address', () => {
  const waiting = () => viewOf('refund address required')

  test('checks the address, shows it again, and names it only when it is confirmed', async () => {
    const view = { ...waiting(), exchange: { ...waiting().exchange, id: '0198c5a2-7c1e-7b3a-9f0d-000000000002' } }
    const path = server.add(view)
    const checked = await post(path, { address: `  ${refundAddress} `, act: 'check' })
    expect(checked.status).toBe(200)
    const body = await checked.text()
    expect(body).toContain('Is this address correct?')
    expect(body).toContain(`<input type="hidden" name="address" value="${refundAddress}">`)
    const stored = () =>
      server.services.rows.find((row) => row.view.exchange.id === view.exchange.id)?.view.exchange.refund
    expect(stored()).toBeNull()
    const changed = await post(path, { address: refundAddress, act: 'change' })
    expect(await changed.text()).toContain(`value="${refundAddress}"`)
    expect(stored()).toBeNull()
    const named = await post(path, { address: refundAddress, act: 'confirm' })
    expect([named.status, named.headers.get('location')]).toEqual([303, `${path}?lang=en`])
    expect(stored()).toEqual({ address: refundAddress, memo: null })
  })

  test('keeps what was entered, and says in the language of the page what is wrong', async () => {
    const path = server.add(viewOf('refund address required, memo'))
    const answer = await fetch(`${server.url}${path}/refund?lang=de`, {
      method: 'POST',
      body: new URLSearchParams({ address: '"><b>nowhere', memo: 'x', act: 'check' }),
    })
    expect(answer.status).toBe(400)
    const body = await answer.text()
    expect(body).toMatch(/role="alert">Das ist keine gültige Adresse im Netzwerk <bdi dir="ltr">XRP Ledger<\/bdi>/)
    expect(body).toContain('value="&quot;&gt;&lt;b&gt;nowhere"')
    expect(body).toContain('aria-invalid="true" aria-describedby="refund-problem refund-warning"')
    expect(body).not.toContain('http-equiv')
  })

  test.each([
    ['MEMO_REQUIRED', 400, 'This address needs a'],
    ['MEMO_INVALID', 400, 'is not valid'],
    ['ADDRESS_IS_OURS', 400, 'This is an address of this service'],
    ['RESTRICTED', 451, 'This address cannot be used'],
    ['REFUND_ADDRESS_SET', 409, 'already named'],
    ['OVERLOADED', 503, 'That did not work'],
  ] as const)('answers %s with %i: %s', async (code, status, words) => {
    const refuse = async () => {
      throw new AppError(code, 'a message for developers')
    }
    const refusing = await serveTracking({}, { checkRefundAddress: refuse, nameRefundAddress: refuse })
    const path = refusing.add(waiting())
    for (const act of ['check', 'confirm']) {
      const answer = await fetch(`${refusing.url}${path}/refund`, {
        method: 'POST',
        body: new URLSearchParams({ address: refundAddress, act }),
      })
      const body = await answer.text()
      expect(answer.status).toBe(status)
      expect(body).toContain(words)
      expect(body).not.toContain('a message for developers')
    }
    await refusing.close()
  })

  test('is not shown if the partner does not allow it, or if no refund waits', async () => {
    const closed = await serveTracking({}, { takesRefundAddress: async () => false })
    const body = await (await fetch(closed.url + closed.add(waiting()))).text()
    expect(body).toContain('Contact the service where you started the exchange')
    expect(body).not.toContain('<form')
    await closed.close()
    for (const name of ['pending', 'verifying, LIMIT', 'refunding'])
      expect(await (await get(server.add(viewOf(name)))).text()).not.toContain('<form')
  })

  test('is not posted by other sites', async () => {
    const path = server.add({
      ...waiting(),
      exchange: { ...waiting().exchange, id: '0198c5a2-7c1e-7b3a-9f0d-000000000003' },
    })
    const form = { address: refundAddress, act: 'confirm' }
    for (const headers of [
      { 'sec-fetch-site': 'cross-site', origin: 'null' },
      { 'sec-fetch-site': 'same-site', origin: 'null' },
      { 'sec-fetch-site': 'none', origin: 'null' },
      { origin: 'https://evil.test' },
      { origin: 'not a url' },
    ])
      expect((await post(path, form, headers)).status).toBe(403)
    expect((await post(path, form, { origin: 'http://127.0.0.1:8080' })).status).toBe(303)
  })

  test.each([
    ['application/json', '{"address":{"a":1},"act":"confirm"}'],
    ['text/plain', 'address=x'],
    ['multipart/form-data; boundary=x', '--x--'],
  ])('takes no body of the type %s', async (type, body) => {
    const answer = await fetch(`${server.url}${server.add(waiting())}/refund`, {
      ...{ method: 'POST', body, headers: { 'content-type': type } },
    })
    expect(answer.status).toBe(415)
  })

  test('of a reloaded answer leads back to the page', async () => {
    const path = server.add(waiting())
    const answer = await get(`${path}/refund?lang=ja`)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}?lang=ja`])
  })
})
