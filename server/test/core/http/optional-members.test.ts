import * as schema from '@swapyard/schema'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decimalText } from '../../../src/core/http/normalize-members.ts'
import { usdcToken } from '../../swap/routes/swaps-in-memory.ts'
import { createTestApp, goodOrder, goodRate, type TestApp } from './app-for-tests.ts'

let scenario: TestApp
beforeEach(() => {
  scenario = createTestApp()
})
afterEach(() => scenario.app.close())

const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const privateOrder = { ...goodOrder, flow: undefined, toCurrency: 'eth' }
const swap = { network: 'eth', fromTokenAddress: NATIVE, toTokenAddress: usdcToken.address }
const build = { ...swap, amount: '1', account: usdcToken.address, slippage: '0.5', referrerFee: '0' }
const send = { ...swap, account: NATIVE, amountFrom: '1', amountTo: '2', commissionPercentage: '0', rawTx: '0x01' }
const exchanges = '/v1/cross-chain/exchange'

function post(url: string, payload: object, key = 'sandbox', headers: Record<string, string> = {}) {
  return scenario.app.inject({ method: 'POST', url, headers: { 'x-api-key': key, ...headers }, payload })
}
const get = (path: string, query: Record<string, string>) =>
  scenario.app.inject({ url: `${path}?${new URLSearchParams(query)}`, headers: { 'x-api-key': 'sandbox' } })

/** The names of a request schema's members that may be absent. */
function listOptional(request: TSchema): string[] {
  const { properties, required = [] } = request as TSchema & { properties: object; required?: readonly string[] }
  return Object.keys(properties).filter((name) => !required.includes(name))
}

/** A value of each member of a query, from the schema. */
function readExamples(request: TSchema): Record<string, string> {
  const { properties } = request as TSchema & { properties: Record<string, { examples?: readonly string[] }> }
  return Object.fromEntries(Object.entries(properties).map(([name, { examples }]) => [name, examples?.[0] ?? '']))
}

describe('an optional member', () => {
  const bodies: readonly (readonly [string, TSchema, object])[] = [
    [exchanges, schema.CreateExchangeBody, { ...goodOrder, address: undefined }],
    [`${exchanges}/private`, schema.CreatePrivateExchangeBody, { ...privateOrder, address: undefined }],
    [`${exchanges}/refund-address`, schema.NameRefundAddressBody, { id: 'unknown', refundAddress: 'anywhere' }],
    ['/v1/webhooks', schema.CreateWebhookBody, { url: 'https://partner.example/hook' }],
    ['/v1/defi/transaction/swap', schema.BuildSwapBody, build],
    ['/v1/defi/send/swap', schema.SendSwapBody, { ...send, rawTx: undefined }],
  ]
  const cases = bodies.flatMap(([url, request, body]) =>
    listOptional(request).flatMap((name) => [null, ''].map((empty) => [url, name, empty, body] as const)),
  )

  test('of every body is among the cases', () => {
    const optional = Object.values(schema.routes as Record<string, schema.RouteDefinition>).flatMap(({ path, body }) =>
      body ? listOptional(body).map((name) => `${path} ${name}`) : [],
    )
    expect([...new Set(cases.map(([url, name]) => `${url} ${name}`))].toSorted()).toEqual(optional.toSorted())
    expect(optional.length).toBeGreaterThan(12)
  })

  test.each(cases)('of a body to %s counts as absent: %s = %j', async (url, name, empty, body) => {
    const [without, sent] = [await post(url, body), await post(url, { ...body, [name]: empty })]
    const comparable = (text: string) =>
      text.replace(/"(id|created|expiresAt|requestId|depositAddress|trackingUrl|secret)":"[^"]*"/g, '"$1":"…"')
    expect([sent.statusCode, comparable(sent.body)]).toEqual([without.statusCode, comparable(without.body)])
    // A strict partner may send it, too.
    expect((await post(url, { ...body, [name]: empty }, 'strict')).statusCode).toBe(without.statusCode)
  })

  const queries = Object.values(schema.routes as Record<string, schema.RouteDefinition>).flatMap(({ path, query }) =>
    query !== undefined && listOptional(query).length > 0 ? [[path, query] as const] : [],
  )

  test('of a query is on every route that has one', () => {
    const names = queries.flatMap(([path, query]) => listOptional(query).map((name) => `${path}?${name}=`))
    expect(names).toEqual(
      expect.arrayContaining([
        '/v1/defi/quote?maxPriceImpact=',
        '/v1/defi/exchange/status?hash=',
        '/v1/defi/exchange/list?account=',
      ]),
    )
    expect(names.length).toBeGreaterThan(25)
  })

  test.each(queries)(
    'of a query to %s counts as absent if it is empty, alone and beside another one',
    async (path, request) => {
      const optional = listOptional(request)
      const examples = readExamples(request)
      const required = Object.fromEntries(Object.entries(examples).filter(([name]) => !optional.includes(name)))
      const comparable = (text: string) =>
        text.replace(/"(rateId|validUntil|expiresAt|requestId)":"[^"]*"/g, '"$1":"…"')
      for (const name of optional) {
        const statuses: number[] = []
        for (const other of [null, ...optional.filter((one) => one !== name)]) {
          const query = { ...required, ...(other === null ? {} : { [other]: examples[other] ?? '' }) }
          const [absent, empty] = [await get(path, query), await get(path, { ...query, [name]: '' })]
          expect([name, other, empty.statusCode, comparable(empty.body)]).toEqual([
            ...[name, other, absent.statusCode, comparable(absent.body)],
          ])
          statuses.push(empty.statusCode)
        }
        // Not only two equal refusals of the form.
        expect(statuses).toSatisfy((all: readonly number[]) => all.some((status) => status !== 400))
      }
    },
  )

  test('with two values is refused, even if one is empty', async () => {
    const answer = await scenario.app.inject({
      url: `${exchanges}/list?status=pending&status=`,
      headers: { 'x-api-key': 'sandbox' },
    })
    expect(answer.json()).toMatchObject({ statusCode: 400, errors: [{ field: 'status' }] })
  })

  test('that is required may be neither null nor empty', async () => {
    for (const flow of [null, '']) expect((await post(exchanges, { ...goodOrder, flow })).statusCode).toBe(400)
    expect((await get('/v1/cross-chain/rate/private', { ...goodRate, privateType: '' })).statusCode).toBe(400)
  })

  test('echoes from a quote: a create accepts `rateId: null`', async () => {
    const { rateId } = (await get('/v1/cross-chain/rate', { ...goodRate, amount: '0.00000001' })).json()
    expect(rateId).toBeNull()
    expect((await post(exchanges, { ...goodOrder, rateId })).statusCode).toBe(201)
  })

  test('makes no other request of a repeat, whether it is null, empty or absent', async () => {
    const headers = { 'idempotency-key': 'optional' }
    const first = await post(exchanges, goodOrder, 'sandbox', headers)
    for (const memo of [null, '']) {
      const again = await post(exchanges, { ...goodOrder, memo }, 'sandbox', headers)
      expect([again.statusCode, again.body]).toEqual([201, first.body])
    }
  })
})

describe('an amount', () => {
  const rate = async (amount: string) => (await get('/v1/cross-chain/rate', { ...goodRate, amount })).json()

  test('may have trailing zeros beyond the decimals of the currency', async () => {
    const plain = await rate('0.1')
    for (const amount of ['0.100000000', '0.1000000000000000000', `0.1${'0'.repeat(77)}`]) {
      const { rateId: _id, validUntil: _until, ...quote } = await rate(amount)
      expect(quote).toEqual(expect.objectContaining({ fromAmount: plain.fromAmount, toAmount: plain.toAmount }))
    }
    expect((await post(exchanges, { ...goodOrder, fromAmount: '0.0100000000' })).statusCode).toBe(201)
    expect((await rate('0.123456789')).code).toBe('AMOUNT_PRECISION')
  })

  test.each([
    ['1e-7', 'it has an exponent'],
    ['1E8', 'it has an exponent'],
    ['+1', 'it starts with a sign'],
    ['-1', 'it starts with a sign'],
    ['1,5', 'it has a separator'],
    ["1'000", 'it has a separator'],
    ['1_000', 'it has a separator'],
    ['1 000', 'it contains a space'],
    ['1\u00a0000', 'it contains a space'],
    [' 1', 'it contains a space'],
    ['01', 'it has leading zeros'],
    ['.5', 'the point needs digits on both sides'],
    ['1.', 'the point needs digits on both sides'],
    ['0', 'must be a plain decimal amount above zero, such as 0.01'],
  ])('of the form %j is refused with the reason', async (amount, reason) => {
    for (const answer of [
      await rate(amount),
      (await post(exchanges, { ...goodOrder, fromAmount: amount })).json(),
      (await post('/v1/defi/transaction/swap', { ...build, amount })).json(),
    ]) {
      expect(answer).toMatchObject({ statusCode: 400, code: 'VALIDATION_ERROR' })
      expect(answer.errors[0].code).toBe('AMOUNT_MALFORMED')
      expect(answer.errors[0].message.endsWith(reason)).toBe(true)
    }
  })

  const bodyOf = (amount: string) => `${JSON.stringify(build).slice(0, -1)},"amount":${amount}}`
  const postRaw = (payload: string) =>
    scenario.app.inject({
      method: 'POST',
      url: '/v1/defi/transaction/swap',
      headers: { 'x-api-key': 'sandbox', 'content-type': 'application/json' },
      payload,
    })

  test('in a body of the DeFi part may be a JSON number', async () => {
    for (const amount of ['1', '1.5', '0.0000001', '1e-7', '123456789.012345', '100000000000000000000000'])
      expect([amount, (await postRaw(bodyOf(amount))).statusCode]).toEqual([amount, 201])
    for (const amount of ['1234567890123456', '0.1234567890123456', '-1', '0', '1e50']) {
      const answer = (await postRaw(bodyOf(amount))).json()
      expect([amount, answer.statusCode, answer.errors?.[0].code]).toEqual([amount, 400, 'AMOUNT_MALFORMED'])
    }
    // The other half states text.
    expect((await post(exchanges, { ...goodOrder, fromAmount: 0.01 })).statusCode).toBe(400)
  })

  test('that is a number is refused if it was rounded when the body was read', async () => {
    for (const amount of [
      '1000000000000000000001',
      '1.00000000000000000001',
      '0.1000000000000000000000001',
      '100000000000000000000000000000.000001',
      '1000000000000000000001e-2',
      '1e400',
      '1e-400',
    ])
      for (const body of [bodyOf(amount), bodyOf(`\n\t${amount}\r\n`), bodyOf(`1,"amount":${amount}`)]) {
        const answer = (await postRaw(body)).json()
        expect([body, answer.statusCode, answer.errors?.[0]]).toMatchObject([
          ...[body, 400, { code: 'AMOUNT_MALFORMED', field: 'amount' }],
        ])
      }
    for (const amount of [
      // Zeros at the end and in front do not count.
      '1.000000000000000000000',
      '1000000000000000000000.000',
      '0.000000000000000000000000000001',
      '123456789012345000000000000',
      // The last one counts.
      '1000000000000000000001,"amount":1',
      // Other members do not.
      '1,"note":1000000000000000000001',
      '1,"note":{"amount":1000000000000000000001}',
      '1,"note":[{"amount":1000000000000000000001}]',
      '1,"note":":1000000000000000000001"',
      '"1000000000000000000001"',
    ])
      expect([amount, (await postRaw(bodyOf(amount))).statusCode]).toEqual([amount, 201])
    const prototype = await postRaw(bodyOf('1,"__proto__":{"amount":1000000000000000000001}'))
    expect([prototype.statusCode, prototype.json().errors[0].code]).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('that may be zero is not zero because it was rounded', async () => {
    for (const amount of ['1e-400', '1e400']) {
      const body = JSON.stringify({ ...send, isExchange: false, amountTo: '0' }).replace(
        /"amountFrom":"1"/,
        `"amountFrom":${amount}`,
      )
      const answer = await scenario.app.inject({
        method: 'POST',
        url: '/v1/defi/send/swap',
        headers: { 'x-api-key': 'sandbox', 'content-type': 'application/json' },
        payload: body,
      })
      expect([amount, answer.statusCode, answer.json().errors?.[0].code]).toEqual([amount, 400, 'AMOUNT_MALFORMED'])
    }
  })

  test('that is a number is converted exactly', () => {
    const mantissa = fc.integer({ min: 1, max: 999_999_999_999_999 })
    fc.assert(
      fc.property(mantissa, fc.integer({ min: -36, max: 22 }), (digits, exponent) => {
        const text = decimalText(Number(`${digits}e${exponent}`)) ?? ''
        const [whole = '', fraction = ''] = text.split('.')
        const units = BigInt(whole + fraction) * 10n ** BigInt(60 - fraction.length)
        expect(units).toBe(BigInt(digits) * 10n ** BigInt(60 + exponent))
        expect(text).not.toMatch(/e/)
      }),
    )
    expect([0, -0, -1.5].map(decimalText)).toEqual(['0', '0', '-1.5'])
  })

  test('may be zero for a transaction that is no swap', async () => {
    const zero = { ...send, amountFrom: '0', amountTo: '0' }
    for (const body of [zero, { ...zero, amountFrom: 0, amountTo: '0.00' }])
      expect((await post('/v1/defi/send/swap', { ...body, isExchange: false })).statusCode).toBe(201)
    for (const isExchange of [true, null, undefined]) {
      const answer = (await post('/v1/defi/send/swap', { ...zero, isExchange })).json()
      expect(answer).toMatchObject({ statusCode: 400, code: 'VALIDATION_ERROR' })
      expect(answer.errors.map(({ code, field }: { code: string; field: string }) => `${code} ${field}`)).toEqual([
        'AMOUNT_MALFORMED amountFrom',
        'AMOUNT_MALFORMED amountTo',
      ])
    }
  })
})

describe('a percentage', () => {
  const quote = { ...swap, amount: '1', slippage: '0.5', referrerFee: '0' }
  test('may have trailing zeros', async () => {
    const outcomes = async (text: string) => [
      ...(await Promise.all(
        ['slippage', 'referrerFee', 'maxPriceImpact'].flatMap((name) => [
          get('/v1/defi/quote', { ...quote, [name]: text }),
          post('/v1/defi/transaction/swap', { ...build, [name]: text }),
        ]),
      )),
      await post('/v1/defi/send/swap', { ...send, commissionPercentage: text }),
    ]
    for (const text of [20, 30, 78].map((decimals) => `0.${'5'.padEnd(decimals, '0')}`))
      expect([text, ...(await outcomes(text)).map(({ statusCode }) => statusCode)]).toEqual([
        ...[text, 200, 201, 200, 201, 200, 201, 201],
      ])
  })

  test.each([
    ['1e-1', 'it has an exponent'],
    ['+0.5', 'it starts with a sign'],
    ['-1', 'it starts with a sign'],
    ['0,5', 'it has a separator'],
    ['0.5 ', 'it contains a space'],
    ['00.5', 'it has leading zeros'],
    ['.5', 'the point needs digits on both sides'],
    ['0.5%', 'must be a percentage in plain decimals, such as 0.5: 0.01 to 50, in steps of 0.0001'],
    ['0.1234567890123456789', 'must be a percentage in plain decimals, such as 0.5: 0.01 to 50, in steps of 0.0001'],
  ])('of the form %j is refused with the reason', async (slippage, reason) => {
    for (const answer of [
      await get('/v1/defi/quote', { ...quote, slippage }),
      await post('/v1/defi/transaction/swap', { ...build, slippage }),
    ]) {
      expect(answer.json()).toMatchObject({ statusCode: 400, code: 'SLIPPAGE_OUT_OF_RANGE', errors: [{ min: '0.01' }] })
      expect(answer.json().message.endsWith(reason)).toBe(true)
    }
  })
})

test('a place in a list that is none is refused with its form', async () => {
  for (const [path, query, message] of [
    ['/v1/webhooks/x/deliveries', { before: '4711.0' }, 'before must be the id of a delivery, such as 4711'],
    ['/v1/partner/exchanges', { page: '../..' }, 'page must be the nextPage of an answer'],
  ] as const)
    expect((await get(path, query)).json()).toMatchObject({ statusCode: 400, message })
})
