import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument, routes, sandboxRoutes } from '@swapyard/schema'
import { describe, expect, test } from 'vitest'
import { type ErrorCode, errorCodes } from '../../../src/core/domain/errors.ts'

type Example = Readonly<{
  code: ErrorCode
  message: string
  statusCode: number
  errors: readonly Readonly<{ code: string; message: string; field?: string }>[]
}>
type Operation = Readonly<{
  responses: Readonly<Record<string, { content?: { 'application/json': { example: Example } } }>>
}>

const documented = openApiDocument({ ...routes, ...sandboxRoutes }, { serverUrl: 'https://api.swapyard.test' })
const { paths } = documented as unknown as { paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }
const examples = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { responses }]) => {
    const response = responses['404']
    return response === undefined
      ? []
      : [{ name: `${method.toUpperCase()} ${path}`, example: response.content?.['application/json'].example }]
  }),
)

const root = join(import.meta.dirname, '../../../..')
const sources = globSync('{server,sandbox}/src/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(root, path), 'utf8'))

/** Values of requests and settings in the messages: what stands between them is text of the server. */
const VALUES = /^no |"zzz"|"btc"|btc, eth|\bstandard |\bprivate |fromCurrency|fromTokenAddress|\bid: check it/

describe('the example of a 404', () => {
  test('is there for every operation that has one', () => {
    expect(examples.length).toBeGreaterThan(30)
    expect(examples.filter(({ example }) => example === undefined)).toEqual([])
  })

  test.each(examples)('of $name is an error that the server answers', ({ example }) => {
    const { code, message, statusCode, errors = [] } = example ?? ({} as Example)
    expect([statusCode, errorCodes[code]]).toEqual([404, 'not_found'])
    expect(errors).toMatchObject([{ code, message }])
    // One file has the code and all of the message.
    const parts = message.split(VALUES).filter((part) => part.trim() !== '')
    expect(sources.some((text) => [`'${code}'`, ...parts].every((part) => text.includes(part)))).toBe(true)
  })

  test('names what the operation looks for', () => {
    const codes = Object.fromEntries(examples.map(({ name, example }) => [name, example?.code]))
    expect(codes).toMatchObject({
      'GET /v1/cross-chain/rate': 'CURRENCY_NOT_FOUND',
      'POST /v1/cross-chain/exchange': 'CURRENCY_NOT_FOUND',
      'POST /v1/cross-chain/exchange/cancel': 'EXCHANGE_NOT_FOUND',
      'GET /v1/cross-chain/exchange/status': 'EXCHANGE_NOT_FOUND',
      'GET /v1/track': 'EXCHANGE_NOT_FOUND',
      'GET /v1/defi/currency/info': 'TOKEN_NOT_FOUND',
      'GET /v1/defi/available-currencies': 'NETWORK_NOT_FOUND',
      'GET /v1/defi/exchange/status': 'EXCHANGE_NOT_FOUND',
      'GET /v1/webhooks/{id}': 'WEBHOOK_NOT_FOUND',
      'POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver': 'DELIVERY_NOT_FOUND',
      'GET /v1/events': 'EVENT_NOT_FOUND',
      'POST /v1/partner/fee-addresses': 'NETWORK_NOT_FOUND',
      'POST /sandbox/prices': 'CURRENCY_NOT_FOUND',
    })
  })
})
