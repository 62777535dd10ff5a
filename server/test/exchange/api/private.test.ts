import { afterAll, describe, expect, test } from 'vitest'
import { createTestApp } from '../../core/http/app-for-tests.ts'

const { app, services } = createTestApp()
afterAll(() => app.close())

const headers = { 'x-api-key': 'sandbox' }
const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const body = { ...pair, fromAmount: '0.01', address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045' }
const requestQuote = (query: Record<string, string>) =>
  app.inject({ url: `/v1/cross-chain/rate/private?${new URLSearchParams({ ...pair, ...query })}`, headers })
const createPrivate = (payload: object, extra: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/v1/cross-chain/exchange/private',
    headers: { ...headers, ...extra },
    payload,
  })
const readStatus = (kind: string, id: string, key = 'sandbox') =>
  app.inject({ url: `/v1/cross-chain/exchange/status${kind}?id=${id}`, headers: { 'x-api-key': key } })

describe('a private quote', () => {
  test('has the fields of a rate quote without rateId, the expected duration and the intermediary', async () => {
    const answer = await requestQuote({ amount: '0.01', privateType: 'efficient' })
    expect(answer.statusCode).toBe(200)
    const { fees, expectedSeconds, intermediary, minTo, maxTo, ...rest } = answer.json()
    expect(Object.keys(rest)).toEqual(
      'min max fromAmount toAmount fromCurrency toCurrency fromNetwork toNetwork amountFromUsd amountToUsd'.split(' '),
    )
    expect(rest.fromAmount).toBe(0.01)
    expect([minTo, maxTo]).toEqual([expect.any(Number), expect.any(Number)])
    expect(Object.keys(fees)).toEqual(['service', 'partner', 'network', 'payout'])
    expect(expectedSeconds).toBe(120)
    expect(Object.keys(intermediary)).toEqual(['currency', 'network', 'isTransparent'])
  })

  test('requires a privateType that is known and available', async () => {
    expect((await requestQuote({})).json()).toMatchObject({ statusCode: 400, errors: [{ field: 'privateType' }] })
    expect((await requestQuote({ privateType: 'secret' })).statusCode).toBe(400)
    expect((await requestQuote({ privateType: 'privatePlus' })).json()).toMatchObject({ code: 'PAIR_UNAVAILABLE' })
  })
})

describe('creating a private exchange', () => {
  test('uses the standard flow and ignores a rateId', async () => {
    const answer = await createPrivate({ ...body, rateId: 'none of ours' })
    expect(answer.statusCode).toBe(201)
    const created = answer.json()
    expect(created).toMatchObject({ exchangeType: 'private', status: 'pending', exchanges: [] })
    expect(created.request.flow).toBe('standard')
    expect((await readStatus('', created.id)).json()).toMatchObject({ type: 'private', exchange: { id: created.id } })
    expect((await readStatus('/private', created.id)).json()).toMatchObject({ exchangeType: 'private' })
    expect((await readStatus('/standard', created.id)).json()).toMatchObject({ code: 'EXCHANGE_NOT_FOUND' })
    expect((await readStatus('/private', created.id, 'sandbox-b')).statusCode).toBe(404)
  })

  test('repeats the response for an idempotency key, and rejects another body with 409', async () => {
    const key = { 'idempotency-key': 'k-1' }
    const [first, repeated] = [await createPrivate(body, key), await createPrivate(body, key)]
    expect(repeated.body).toBe(first.body)
    expect((await createPrivate({ ...body, privateType: 'efficient', fromAmount: '0.02' }, key)).statusCode).toBe(409)
  })

  test('stores nothing when it is rejected', async () => {
    const rowsBefore = services.rows.length
    expect((await createPrivate({ ...body, privateType: 'privatePlus' })).json()).toMatchObject({
      code: 'PAIR_UNAVAILABLE',
    })
    expect((await createPrivate({ ...body, privateType: 'other' })).statusCode).toBe(400)
    expect((await createPrivate({ ...body, toCurrency: 'btc', toNetwork: 'btc' })).statusCode).toBe(400)
    expect(services.rows).toHaveLength(rowsBefore)
  })

  test('appears in the list under exchangeType=private only', async () => {
    const listExchanges = async (type: string) =>
      (await app.inject({ url: `/v1/cross-chain/exchange/list?exchangeType=${type}`, headers })).json()
    const { total, data } = await listExchanges('private')
    expect(total).toBeGreaterThan(0)
    expect(new Set(data.map((one: { exchangeType: string }) => one.exchangeType))).toEqual(new Set(['private']))
    expect((await listExchanges('standard')).total).toBe(0)
  })
})
