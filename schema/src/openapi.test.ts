import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import * as schema from './index.ts'

type Node = { [key: string]: unknown }
const routes = { ...schema.routes, ...schema.sandboxRoutes }
const definitions: readonly schema.RouteDefinition[] = Object.values(routes)
const document = schema.openApiDocument(routes, { serverUrl: 'https://api.example.test' }) as Node

function at(node: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Node | undefined)?.[step], node)
}

function* nodes(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Node
  for (const member of Object.values(value)) yield* nodes(member)
}

const operations = Object.entries(document['paths'] as Node).flatMap(([path, item]) =>
  Object.entries(item as Node).map(([method, operation]) => ({ path, method, operation: operation as Node })),
)

describe('the OpenAPI document', () => {
  test('is plain JSON with the required members of OpenAPI 3.1', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
    expect(document['openapi']).toMatch(/^3\.1\.\d$/)
    expect(document['info']).toMatchObject({ title: expect.any(String), version: '1.0.0' })
    expect(document['servers']).toMatchObject([{ url: 'https://api.example.test' }])
    expect(operations.length).toBe(definitions.length)
  })

  test('has operations with unique ids, described responses and unique parameters', () => {
    const ids = operations.map(({ operation }) => operation['operationId'])
    expect(new Set(ids).size).toBe(ids.length)
    const tags = (document['tags'] as Node[]).map(({ name }) => name)
    for (const { path, method, operation } of operations) {
      expect(path).toMatch(/^\/(?:[a-z0-9/-]|\{[A-Za-z]+\})+$/)
      expect(['get', 'head', 'post', 'delete']).toContain(method)
      expect(operation['tags']).toSatisfy((used: unknown[]) => used.every((tag) => tags.includes(tag)))
      const names = (operation['parameters'] as Node[]).map((parameter) => `${parameter['in']} ${parameter['name']}`)
      expect(new Set(names).size).toBe(names.length)
      for (const parameter of operation['parameters'] as Node[]) {
        expect(parameter).toMatchObject({
          required: expect.any(Boolean),
          schema: expect.any(Object),
          description: expect.stringMatching(/.+/),
        })
      }
      for (const [status, response] of Object.entries(operation['responses'] as Node)) {
        expect(status).toMatch(/^[1-5]\d\d$/)
        expect(response).toSatisfy((one: Node) => '$ref' in one || typeof one['description'] === 'string')
      }
    }
  })

  test('describes every event that a receiver gets, that of a test too', () => {
    const body = at(document, 'webhooks', 'event', 'post', 'requestBody', 'content', 'application/json', 'schema')
    const resolve = (node: unknown): unknown => {
      const name = (at(node, '$ref') as string | undefined)?.split('/').at(-1)
      return name === undefined ? node : at(document, 'components', 'schemas', name)
    }
    const types = (at(body, 'anyOf') as Node[]).flatMap(
      (one) => at(resolve(at(resolve(one), 'properties', 'type')), 'enum') as string[],
    )
    expect(types.toSorted()).toEqual([...schema.eventTypes, 'webhook.test'].toSorted())
  })

  test('resolves every reference', () => {
    const references = [...nodes(document)].map(({ $ref }) => $ref).filter((reference) => typeof reference === 'string')
    expect(references.length).toBeGreaterThan(50)
    for (const reference of references) expect(at(document, ...reference.slice(2).split('/'))).toBeDefined()
  })

  test('requires the API key on all but public routes and offers Idempotency-Key on every POST', () => {
    const open = operations.filter(({ operation }) => (operation['security'] as unknown[]).length === 0)
    expect(open.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'get /health/live',
      'get /health/ready',
      'get /v1/rates',
      'get /v1/track',
      'head /v1/rates',
    ])
    const posts = operations.filter(({ method }) => method === 'post')
    expect(posts.length).toBeGreaterThan(4)
    for (const { path, operation } of posts) {
      const names = (operation['parameters'] as Node[]).filter((one) => one['in'] === 'header').map(({ name }) => name)
      expect([path, names]).toEqual([path, ['Idempotency-Key']])
    }
  })
})

const progress =
  '+statusReason +expiresAt +fixedUntil +confirmationsRequired +confirmationsSeen +expectedSeconds +externalId'
/** Member names of the partner specification. */
const fields: readonly (readonly [string, TSchema, string])[] = [
  [
    'Currency',
    schema.Currency,
    'ticker network symbol name hasMemo requireMemo isFiat isStable supportsFixedRate enabled image regexAddress addressExplorer txExplorer confirmations rank +decimals +contractAddress +chainId +memoName',
  ],
  [
    'RateQuote',
    schema.RateQuote,
    'min max fromAmount toAmount fromCurrency toCurrency fromNetwork toNetwork amountFromUsd amountToUsd +rateId +validUntil +fees +minTo +maxTo',
  ],
  [
    'PrivateRateQuote',
    schema.PrivateRateQuote,
    'min max fromAmount toAmount fromCurrency toCurrency fromNetwork toNetwork amountFromUsd amountToUsd +fees +minTo +maxTo +expectedSeconds +intermediary',
  ],
  [
    'ExchangeRecord',
    schema.ExchangeRecord,
    `id created exchangeType status request exchanges ${progress} +trackingUrl`,
  ],
  ['ListedExchange', schema.ListedExchange, `id created exchangeType status request exchanges ${progress}`],
  [
    'CreatedExchange',
    schema.CreatedExchange,
    'id status exchangeType created request exchanges +expiresAt +fixedUntil +confirmationsRequired +confirmationsSeen +expectedSeconds +externalId +trackingUrl',
  ],
  [
    'ExchangeRequest',
    schema.ExchangeRequest,
    'fromCurrency fromNetwork toCurrency toNetwork amountFromRequested amountToRequested depositAddress depositMemo recipientAddress recipientMemo refundAddress refundMemo flow',
  ],
  [
    'ListedRequest',
    schema.ListedRequest,
    'fromCurrency fromNetwork toCurrency toNetwork amountFromRequested amountToRequested depositAddress depositMemo recipientAddress recipientMemo refundAddress refundMemo',
  ],
  [
    'CreatedRequest',
    schema.CreatedRequest,
    'fromCurrency fromNetwork toCurrency toNetwork amountFromRequested amountToRequested depositAddress recipientAddress flow +depositMemo',
  ],
  [
    'Execution',
    schema.Execution,
    'amountFromReceived amountToReceived status payinHash payoutHash created +statusReason +refund +confirmationsRequired +confirmationsSeen +expectedSeconds +expiresAt +fixedUntil',
  ],
  ['Refund', schema.Refund, '+amount +currency +network +address +memo +hash'],
  ['ExchangeStatusAnswer', schema.ExchangeStatusAnswer, 'type exchange'],
  ['ExchangeList', schema.ExchangeList, 'total data'],
  ['ErrorBody', schema.ErrorBody, 'message error statusCode +code +requestId +errors'],
  [
    'CreateExchangeBody',
    schema.CreateExchangeBody,
    'fromCurrency toCurrency fromNetwork toNetwork fromAmount flow ?address ?memo ?refundAddress ?refundMemo ?rateId ?externalId ?fromContractAddress ?fromChainId ?toContractAddress ?toChainId',
  ],
  [
    'CreatePrivateExchangeBody',
    schema.CreatePrivateExchangeBody,
    'fromCurrency toCurrency fromNetwork toNetwork fromAmount ?privateType ?address ?memo ?refundAddress ?refundMemo ?externalId ?fromContractAddress ?fromChainId ?toContractAddress ?toChainId',
  ],
  [
    'RateQuery',
    schema.RateQuery,
    'fromCurrency fromNetwork toCurrency toNetwork ?fromContractAddress ?fromChainId ?toContractAddress ?toChainId ?amount ?toAmount ?flow',
  ],
  [
    'PrivateRateQuery',
    schema.PrivateRateQuery,
    'fromCurrency fromNetwork toCurrency toNetwork ?fromContractAddress ?fromChainId ?toContractAddress ?toChainId ?amount ?toAmount privateType',
  ],
]

describe('every schema', () => {
  test.each(fields)('%s has the specified fields (+ additive, ? optional)', (_name, type, expected) => {
    const { properties, required } = type as TSchema & { properties: Node; required: readonly string[] }
    const names = expected.split(' ')
    expect(Object.keys(properties).toSorted()).toEqual(names.map((name) => name.replace(/^[+?]/, '')).toSorted())
    const optional = Object.keys(properties).filter((name) => !required.includes(name))
    expect(optional.toSorted()).toEqual(
      [
        ...names.filter((name) => name.startsWith('?')).map((name) => name.slice(1)),
        ...(expected.includes('+depositMemo') ? ['depositMemo'] : []),
      ].toSorted(),
    )
  })

  test.each(fields)('%s has valid examples and describes each field', (_name, type) => {
    for (const member of Object.values(
      (type as TSchema & { properties: Record<string, TSchema & { examples?: unknown[]; description?: string }> })
        .properties,
    )) {
      expect(member.description ?? '').not.toBe('')
      for (const example of member.examples ?? []) expect(Compile(member).Check(example)).toBe(true)
    }
  })
})

describe('amountInput', () => {
  const amount = Compile(schema.amountInput({ description: 'amount' }))
  test.each(['1', '0.01', '10', '0.000000000000000001', '9'.repeat(40), `${'9'.repeat(40)}.${'9'.repeat(36)}`])(
    'accepts %s',
    (text) => {
      expect(amount.Check(text)).toBe(true)
    },
  )
  test.each([
    '',
    '0',
    '0.0',
    '00.1',
    '01',
    '-1',
    '+1',
    '.1',
    '1.',
    '1e1',
    '0x1',
    '1,5',
    ' 1',
    '1 ',
    '1\n',
    '٣',
    'NaN',
    '9'.repeat(41),
    `1.${'1'.repeat(37)}`,
  ])('rejects %j', (text) => {
    expect(amount.Check(text)).toBe(false)
  })
})
