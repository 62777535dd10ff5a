import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PartnerApp, startPartnerApp } from './partner-app.ts'

let app: PartnerApp
beforeAll(async () => {
  app = await startPartnerApp()
})
afterAll(() => app?.stop())

type Quote = Readonly<
  Record<'fromAmount' | 'toAmount' | 'min' | 'minTo', number> &
    Record<'max' | 'maxTo', number | null> & { rateId: string | null }
>

const rate = async (query: Record<string, string>, path = '') => {
  const answer = await app.get(`/v1/cross-chain/rate${path}?${new URLSearchParams(query)}`)
  return { status: answer.statusCode, body: answer.json() }
}

/** Decimal text of a quoted number. */
const text = (amount: number) => amount.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 15 })

async function enabledPairs() {
  const list: { ticker: string; network: string; enabled: boolean }[] = (
    await app.get('/v1/cross-chain/available-currencies')
  ).json()
  const listed = list.filter(({ enabled }) => enabled)
  return listed.flatMap((from) =>
    listed.flatMap((to) =>
      from === to
        ? []
        : [
            {
              fromCurrency: from.ticker,
              fromNetwork: from.network,
              toCurrency: to.ticker,
              toNetwork: to.network,
            },
          ],
    ),
  )
}

describe('a quote for an exact output', () => {
  test('in every direction and flow, its fromAmount is quoted forward to the same toAmount', async () => {
    const pairs = await enabledPairs()
    expect(pairs.length).toBeGreaterThan(1)
    for (const pair of pairs)
      for (const flow of ['standard', 'fixed-rate']) {
        const forward = await rate({ ...pair, flow, amount: '10' })
        if (forward.status !== 200) continue
        const toAmount = text(Number((Number(forward.body.toAmount) * 0.7).toPrecision(6)))
        const { status, body } = await rate({ ...pair, flow, toAmount })
        expect([status, pair, flow]).toEqual([200, pair, flow])
        expect(body.toAmount).toBeGreaterThanOrEqual(Number(toAmount))
        const again = await rate({ ...pair, flow, amount: text(body.fromAmount) })
        expect([again.body.fromAmount, again.body.toAmount]).toEqual([body.fromAmount, body.toAmount])
      }
  })

  test('creates an exchange at the quoted terms, once', async () => {
    const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }
    const { body: quote } = await rate({ ...pair, flow: 'fixed-rate', toAmount: '0.25' })
    const order = { ...pair, fromAmount: text(quote.fromAmount), flow: 'fixed-rate', rateId: quote.rateId }
    const created = await app.post('/v1/cross-chain/exchange', { ...order, address: app.recipient })
    expect([created.statusCode, Number(created.json().request.amountToRequested)]).toEqual([201, quote.toAmount])
    expect(quote.toAmount).toBeGreaterThanOrEqual(0.25)
    const second = await app.post('/v1/cross-chain/exchange', { ...order, address: app.recipient })
    expect([second.statusCode, second.json().code]).toEqual([409, 'RATE_ID_USED'])
  })

  test('outside the bounds is 200 with min and max and without a rateId', async () => {
    const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }
    for (const toAmount of ['0.000000000000000001', '100000000']) {
      const { status, body }: { status: number; body: Quote } = await rate({ ...pair, toAmount })
      expect([status, body.rateId]).toEqual([200, null])
      expect(body.min).toBeGreaterThan(0)
      expect(body.max).not.toBeNull()
      expect(body.toAmount).toBeGreaterThanOrEqual(Number(toAmount))
      const outputs = [body.min, body.max ?? 0].map(
        async (amount) => (await rate({ ...pair, amount: text(amount) })).body,
      )
      expect(await Promise.all(outputs)).toMatchObject([{ toAmount: body.minTo }, { toAmount: body.maxTo }])
      expect(body.minTo).toBeGreaterThan(0)
      expect(body.maxTo).toBeGreaterThan(body.minTo)
    }
  })

  test('is refused together with amount, and with more decimals than the target has', async () => {
    const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }
    for (const path of ['', '/private']) {
      const extra = path === '' ? {} : { privateType: 'efficient' }
      const both = await rate({ ...pair, ...extra, amount: '1', toAmount: '1' }, path)
      expect(both).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR', errors: [{ field: 'toAmount' }] } })
      const malformed = await rate({ ...pair, ...extra, toAmount: '1e3' }, path)
      expect(malformed).toMatchObject({
        status: 400,
        body: { errors: [{ code: 'AMOUNT_MALFORMED', field: 'toAmount' }] },
      })
    }
    // An empty member is absent.
    expect((await rate({ ...pair, amount: '', toAmount: '1' })).status).toBe(200)
    expect((await rate({ ...pair, amount: '1', toAmount: '' })).body.fromAmount).toBe(1)
  })
})
