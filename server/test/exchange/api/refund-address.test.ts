import { afterAll, expect, test } from 'vitest'
import { createTestApp } from '../../core/http/app-for-tests.ts'

const { app } = createTestApp()
afterAll(() => app.close())

const body = {
  ...{ fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', flow: 'standard' },
  ...{ fromAmount: '0.01', address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045' },
}
const refundAddress = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const post = (path: string, payload: object, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: `/v1/cross-chain/exchange${path}`,
    headers: { 'x-api-key': 'sandbox', ...headers },
    payload,
  })
const create = async () => String((await post('', body)).json().id)

test('a refund address is named once, and a repeat with its key has the same answer', async () => {
  const id = await create()
  const key = { 'idempotency-key': 'refund-1' }
  const named = await post('/refund-address', { id, refundAddress }, key)
  expect([named.statusCode, named.json()]).toEqual([201, { id, refundAddress, refundMemo: null }])
  expect((await post('/refund-address', { id, refundAddress }, key)).json()).toEqual(named.json())
  const other = await post('/refund-address', { id, refundAddress: 'another' }, key)
  expect([other.statusCode, other.json().code]).toEqual([409, 'IDEMPOTENCY_CONFLICT'])
  const later = await post('/refund-address', { id, refundAddress: 'another' })
  expect([later.statusCode, later.json().code]).toEqual([409, 'REFUND_ADDRESS_SET'])
  const status = await app.inject({
    url: `/v1/cross-chain/exchange/status?id=${id}`,
    headers: { 'x-api-key': 'sandbox' },
  })
  expect(status.json().exchange.request.refundAddress).toBe(refundAddress)
})

test('the refund address of another partner’s exchange cannot be named, nor without the scope', async () => {
  const id = await create()
  const call = (key: string) => post('/refund-address', { id, refundAddress }, { 'x-api-key': key })
  expect((await call('sandbox-b')).json()).toMatchObject({ statusCode: 404, code: 'EXCHANGE_NOT_FOUND' })
  expect((await call('read-only')).json()).toMatchObject({ statusCode: 403, code: 'SCOPE_REQUIRED' })
  expect((await post('/refund-address', { id })).json()).toMatchObject({
    code: 'VALIDATION_ERROR',
    errors: [{ field: 'refundAddress' }],
  })
})
