import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import * as schema from '@swapyard/schema'
import { expect, test } from 'vitest'
import { servedRoutes } from '../../../src/app/http.ts'
import { errorCodes } from '../../../src/core/domain/errors.ts'

type Server = readonly [name: string, settings: { sandboxControlUrl: string | null }, serverUrl: string]
const servers: readonly Server[] = [
  ['sandbox', { sandboxControlUrl: 'http://127.0.0.1:9' }, 'http://127.0.0.1:8080'],
  ['production', { sandboxControlUrl: null }, 'https://api.swapyard.test'],
]

type Node = { [key: string]: unknown }
const documentOf = ([, settings, serverUrl]: Server): Node =>
  JSON.parse(JSON.stringify(schema.openApiDocument(servedRoutes(settings), { serverUrl })))

test.each(servers)("Redocly's recommended-strict finds nothing in the document of the %s", async (...server) => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const lint = (document: Node) => lintFromString({ source: JSON.stringify(document), config })
  const problems = await lint(documentOf(server))
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  // The linter works: it finds a missing summary.
  const { paths } = documentOf(server) as { paths: Record<string, Record<string, Node>> }
  const worse = structuredClone({ ...documentOf(server), paths })
  delete worse.paths['/v1/rates']?.['get']?.['summary']
  expect((await lint(worse)).map(({ ruleId }) => ruleId)).toContain('operation-summary')
})

// The document of the sandbox has every operation of the one of production. Spectral takes many seconds for each.
test('Spectral finds nothing in the document of the sandbox', async () => {
  const spectral = new spectralCore.Spectral()
  // Its own type is a little wider than the type of a ruleset.
  spectral.setRuleset({ extends: [oas as unknown as RulesetDefinition] })
  const lint = (document: Node) => spectral.run(JSON.stringify(document))
  expect((await lint(document)).map(({ code, path }) => `${code} ${path.join('/')}`)).toEqual([])
  // The linter works: it finds missing tags.
  const [first] = Object.entries(paths)
  const found = await lint({ ...document, components: {}, paths: Object.fromEntries(first ? [first] : []), tags: [] })
  expect(found.map(({ code }) => code)).toContain('operation-tag-defined')
})

const document = documentOf(['sandbox', { sandboxControlUrl: 'http://127.0.0.1:9' }, 'http://127.0.0.1:8080'])
const { components, paths } = document as {
  components: { schemas: Record<string, Node>; headers: Node }
  paths: Record<string, Record<string, Node>>
}
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, method, operation })),
)

/** Places of schemas for which a generator makes a type: objects with members, and enums of several values. */
function findTypes(value: unknown, place: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { type, properties, enum: values } = value as Node
  const isObject = [type].flat().includes('object') && typeof properties === 'object'
  const isEnum = Array.isArray(values) && values.filter((one) => one !== null).length > 1
  return [
    ...(isObject || isEnum ? [place] : []),
    ...Object.entries(value).flatMap(([key, member]) => findTypes(member, `${place}/${key}`)),
  ]
}

test('every schema has a name', () => {
  const inOperations = operations.flatMap(({ name, operation }) => findTypes(operation, name))
  const inSchemas = Object.entries(components.schemas).flatMap(([name, one]) => findTypes(one, name))
  const { responses } = document['components'] as Node
  expect([...inOperations, ...findTypes(responses, 'responses')]).toEqual([])
  expect(inSchemas.filter((place) => !(place in components.schemas))).toEqual([])
  expect(Object.keys(components.schemas)).toEqual(
    expect.arrayContaining(['CreatePrivateExchangeBody', 'PrivateRateQuote', 'Refund', 'RawTransactions', 'ErrorCode']),
  )
})

test('error codes are an enum: those of the server that partners get', () => {
  const ofOperators: ReadonlySet<string> = new Set(schema.adminErrorCodeNames)
  const ofPartners = Object.keys(errorCodes).filter((code) => !ofOperators.has(code))
  expect(components.schemas['ErrorCode']?.['enum']).toEqual(ofPartners.toSorted())
  for (const name of ['ErrorBody', 'Problem'])
    expect(components.schemas[name]).toMatchObject({
      properties: { code: { $ref: '#/components/schemas/ErrorCode' } },
    })
  for (const names of [schema.partnerErrorCodeNames, schema.adminErrorCodeNames, schema.errorCodeNames])
    expect([...names].toSorted()).toEqual([...names])
})

test('the document of operators lists every error code', () => {
  const { components: ofOperators } = JSON.parse(
    JSON.stringify(schema.adminOpenApiDocument(schema.adminRoutes, { serverUrl: 'https://a.test', cookie: 'c' })),
  )
  expect(ofOperators.schemas.ErrorCode.enum).toEqual(Object.keys(errorCodes).toSorted())
})

test('every operation declares 405 with Allow, and its headers', () => {
  for (const { name, method, operation } of operations) {
    const responses = operation['responses'] as Record<string, Node>
    const headersOf = (status: string) => Object.keys((responses[status]?.['headers'] ?? {}) as Node)
    expect([name, '405' in responses]).toEqual([name, true])
    for (const status of Object.keys(responses).filter((one) => one < '400'))
      expect(headersOf(status)).toContain('X-Request-Id')
    if (!('304' in responses)) continue
    const parameters = (operation['parameters'] as Node[]).map((one) => one['name'])
    expect([name, method, parameters.includes('If-None-Match'), headersOf('200').includes('ETag')]).toEqual([
      name,
      method,
      true,
      true,
    ])
  }
  const { responses } = document['components'] as { responses: Record<string, { headers: Node }> }
  expect(Object.keys(responses['Error405']?.headers ?? {})).toContain('Allow')
  expect(Object.keys(responses['Error429']?.headers ?? {})).toEqual(
    expect.arrayContaining(['Retry-After', 'RateLimit', 'RateLimit-Policy']),
  )
  expect(Object.keys(responses['Error503']?.headers ?? {})).toContain('Retry-After')
})

test('every body has an example', () => {
  const bodies = operations.flatMap(({ name, operation }) => {
    const contents = [operation['requestBody'], ...Object.values(operation['responses'] as Node)]
    return contents
      .flatMap((one) => Object.values(((one as Node | undefined)?.['content'] ?? {}) as Node))
      .map((media) => [name, media] as const)
  })
  expect(bodies.length).toBeGreaterThan(25)
  expect(bodies.filter(([, media]) => !('example' in (media as Node))).map(([name]) => name)).toEqual([])
})

test('null is accepted by the schema of every optional member of a body', () => {
  for (const name of ['CreateExchangeBody', 'CreatePrivateExchangeBody', 'SendSwapBody', 'SandboxDepositBody']) {
    const { properties, required } = components.schemas[name] as {
      properties: Record<string, Node>
      required: string[]
    }
    const optional = Object.entries(properties).filter(([member]) => !required.includes(member))
    expect(optional.length).toBeGreaterThan(0)
    for (const [member, { type, anyOf }] of optional) {
      const types = [type, ...((anyOf ?? []) as Node[]).map((form) => form['type'])].flat()
      expect([name, member, types]).toEqual([name, member, expect.arrayContaining(['null'])])
    }
  }
})

test('network parameters of swaps name the networks, and accept aliases (I21)', () => {
  const known = [{ $ref: '#/components/schemas/DefiNetworkTicker' }, { type: 'string', minLength: 1, maxLength: 64 }]
  const parameters = operations
    .filter(({ name }) => name.includes(' /v1/defi/'))
    .flatMap(({ operation }) => (operation['parameters'] ?? []) as readonly Node[])
    .filter(({ name }) => name === 'network')
  expect(parameters.map((one) => one['schema'])).toEqual(Array.from({ length: 4 }, () => ({ anyOf: known })))
  for (const name of ['BuildSwapBody', 'SendApprovalBody', 'SendSwapBody'])
    expect(components.schemas[name]?.['properties']).toMatchObject({ network: { anyOf: known } })
})
