import { readFileSync } from 'node:fs'
import { openApiDocument, routes } from '@swapyard/schema'
import { describe, expect, test } from 'vitest'
import { createPostmanCollection } from '../../../generate-postman.ts'

const file = new URL('../../../../docs/partners/postman.generated.json', import.meta.url)
const stored = readFileSync(file, 'utf8')

type Parameter = { key: string; value: string; disabled?: boolean }
type Item = {
  name: string
  item?: Item[]
  request?: {
    method: string
    url: { host: string[]; path: string[]; query: Parameter[] }
    header: Parameter[]
    auth?: { type: string }
    body?: { mode?: string; raw?: string }
  }
}
type Collection = { info: { schema: string; name: string }; item: Item[]; variable: Parameter[]; auth: unknown }

const collection = JSON.parse(stored) as Collection
const requests = collection.item.flatMap(({ item = [] }) => item)

describe('the Postman collection', () => {
  test('is current: otherwise run `node server/generate-postman.ts`', async () => {
    expect(await createPostmanCollection()).toBe(stored)
  })

  test('has the form 2.1 with the variables baseUrl and apiKey', () => {
    expect(collection.info.schema).toBe('https://schema.getpostman.com/json/collection/v2.1.0/collection.json')
    expect(collection.variable).toEqual([
      { key: 'baseUrl', value: 'http://127.0.0.1:8080' },
      { key: 'apiKey', value: 'sandbox' },
    ])
    expect(collection.auth).toEqual({
      type: 'apikey',
      apikey: expect.arrayContaining([
        { key: 'key', value: 'x-api-key' },
        { key: 'value', value: '{{apiKey}}' },
      ]),
    })
  })

  test('has one request for each operation, with valid JSON bodies', () => {
    const { paths } = openApiDocument(routes, { serverUrl: 'http://127.0.0.1:8080' })
    const documented = Object.entries(paths as Record<string, Record<string, { security: unknown[] }>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, { security }]) => [
          `${method.toUpperCase()} {{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
          security.length === 0 ? 'noauth' : undefined,
        ]),
    )
    const listed = requests.map(({ request }) => [
      `${request?.method} ${request?.url.host}/${request?.url.path.join('/')}`,
      request?.auth?.type,
    ])
    expect(listed.toSorted()).toEqual(documented.toSorted())
    // As few members as possible: some optional ones exclude each other.
    const quote = requests.find(({ name }) => name === 'Quote a rate')?.request
    const sent = quote?.url.query?.filter(({ disabled }) => !disabled).map(({ key }) => key)
    expect(sent).toEqual(['fromCurrency', 'fromNetwork', 'toCurrency', 'toNetwork'])
    for (const { name, request } of requests) {
      if (request?.method !== 'POST') continue
      // Of the operations of a webhook only the create has a body.
      if (!request.url.path.includes(':id'))
        expect([name, Object.keys(JSON.parse(request.body?.raw ?? '')).length]).not.toEqual([name, 0])
      // A stored key would make the second exchange of a user the first one.
      expect(request.header.find(({ key }) => key === 'Idempotency-Key')?.disabled).toBe(true)
    }
  })
})
