import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Throttle } from '../../../src/core/ports/throttle.ts'
import { trackExchange } from '../../../src/exchange/domain/tracked-exchange.ts'
import { present } from '../../../src/lib/assert.ts'
import { usdcToken } from '../../swap/routes/swaps-in-memory.ts'
import { createTestApp, goodOrder, listen, type TestApp } from './app-for-tests.ts'
import type { Answer } from './bad-input-case.ts'
import { sendOnSocket } from './send-on-socket.ts'

/* Every response of the OpenAPI document is provoked on every operation. Its headers are compared with the declared ones. */

type Members = Readonly<Record<string, unknown>>
type Response = Readonly<{ $ref?: string; headers?: Members }>
type Operation = Readonly<{
  method: string
  path: string
  /** The path with the examples of its parameters. */
  url: string
  responses: Readonly<Record<string, Response>>
  inputs: readonly Members[]
}>
type Document = Readonly<{
  paths: Readonly<Record<string, Readonly<Record<string, Members>>>>
  components: Readonly<{
    responses: Readonly<Record<string, Response>>
    schemas: Readonly<Record<string, Readonly<{ required?: readonly string[] }>>>
  }>
}>

/** Headers of HTTP itself and of the Fetch standard. */
const ofHttp = new Set([
  ...['access-control-allow-origin', 'access-control-expose-headers', 'cache-control', 'connection'],
  ...['content-encoding', 'content-length'],
  ...['content-type', 'date', 'keep-alive', 'transfer-encoding', 'vary'],
])
const key = { 'x-api-key': 'sandbox' }
const admit: Throttle = { take: (_key, _cost, limit) => ({ allowed: true, limit, remaining: limit, resetSeconds: 1 }) }
const refuse: Throttle = { take: (_key, _cost, limit) => ({ allowed: false, limit, remaining: 0, resetSeconds: 9 }) }

/** What a service throws for each status that the HTTP layer alone cannot answer. */
const thrown: Readonly<Record<number, Error>> = {
  404: new AppError('EXCHANGE_NOT_FOUND', 'unknown id'),
  409: new AppError('IDEMPOTENCY_CONFLICT', 'another body'),
  410: new AppError('RATE_ID_EXPIRED', 'too late'),
  // As the quote of a token whose data is being read.
  422: new AppError('NO_ROUTE', 'no route yet', { retryAfterSeconds: 2 }),
  451: new AppError('RESTRICTED', 'not here'),
  500: new Error('a bug'),
  503: new AppError('NETWORK_UNAVAILABLE', 'no node answers'),
}

const apps: TestApp[] = []
let control: Server
let document: Document
let operations: readonly Operation[]

beforeAll(async () => {
  control = createServer((_request, response) => response.end('{}'))
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
  document = (await start().app.inject({ url: '/openapi.json' })).json()
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...{ method: method.toUpperCase(), path, url: toPath(path, operation) },
      ...{ responses: operation['responses'] as Operation['responses'], inputs: listInputs(operation) },
    })),
  )
})
afterAll(async () => {
  for (const { app } of apps.splice(0)) await app.close()
  await new Promise((resolve) => control.close(resolve))
})

function start(throttle = admit): TestApp {
  const sandboxControlUrl = `http://127.0.0.1:${(control.address() as AddressInfo).port}`
  const app = createTestApp({ throttle, sandboxControlUrl, requestTimeoutMs: 10_000, headersTimeoutMs: 10_000 })
  apps.push(app)
  return app
}

/** Inputs from the examples: the required members alone, with each optional one, and with all. */
function listInputs({ parameters, requestBody }: Members): Members[] {
  const body = requestBody as { content: { 'application/json': { schema: { $ref: string }; example: Members } } }
  const { schema, example = {} } = body?.content['application/json'] ?? {}
  const { required = [] } = document.components.schemas[schema?.$ref.split('/').at(-1) ?? ''] ?? {}
  const query = (parameters as { name: string; in: string; required: boolean; example: unknown }[]).filter(
    (parameter) => parameter.in === 'query',
  )
  const members = [
    ...Object.entries(example).map(([name, value]) => ({ name, required: required.includes(name), example: value })),
    ...query,
  ]
  const least = members.filter((member) => member.required)
  const optional = members.filter((member) => !member.required)
  return [least, ...optional.map((one) => [...least, one]), members].map((some) =>
    Object.fromEntries(some.map(({ name, example: value }) => [name, value])),
  )
}

const toPath = (path: string, { parameters }: Members): string =>
  (parameters as { name: string; in: string; example: string }[])
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, { name, example }) => text.replace(`{${name}}`, example), path)

const toUrl = ({ method, url }: Operation, input: Members) =>
  method === 'POST' ? url : `${url}?${new URLSearchParams(input as Record<string, string>)}`

type Observed = Readonly<{ operation: Operation; status: number; headers: readonly string[] }>

const observe = (operation: Operation, { status, headers }: Pick<Answer, 'status' | 'headers'>): Observed => ({
  ...{ operation, status },
  headers: Object.keys(headers).filter((name) => !ofHttp.has(name)),
})

type Changes = Readonly<{ headers?: Record<string, string>; method?: string; payload?: string; url?: string }>

/** Sends one request for each input. `changes` replace parts of the request. */
async function ask({ app }: TestApp, operation: Operation, changes: Changes = {}): Promise<Observed[]> {
  const answers = await Promise.all(
    operation.inputs.map((input) =>
      app.inject({
        method: operation.method as 'GET',
        url: toUrl(operation, input),
        headers: key,
        ...(operation.method === 'POST' ? { payload: input } : {}),
        ...(changes as object),
      }),
    ),
  )
  return answers.map(({ statusCode, headers }) =>
    observe(operation, { status: statusCode, headers: headers as Record<string, string> }),
  )
}

/** An app with an exchange of each type and a swap that every id names. */
async function startWithRows(): Promise<TestApp> {
  const testApp = start()
  const { app, services } = testApp
  const { flow: _, ...order } = goodOrder
  for (const [path, payload] of [['', goodOrder] as const, ['/private', { ...order, toCurrency: 'eth' }] as const]) {
    const url = `/v1/cross-chain/exchange${path}`
    expect((await app.inject({ method: 'POST', url, headers: key, payload })).statusCode).toBe(201)
  }
  const side = { token: usdcToken.address.toLowerCase(), decimals: 6, units: 1_000_000n }
  const swap = {
    ...{ id: 'one', hash: '0x01', partnerId: 'p1', network: 'eth', sender: 'me', recipient: 'me', nonce: 1 },
    ...{ from: side, to: side, minReceived: 1n, feePpm: 0, feeTo: null, expiry: { by: 'never' }, status: 'pending' },
    ...{
      reason: null,
      receivedUnits: null,
      block: null,
      createdAt: new Date(0),
      updatedAt: new Date(0),
      externalId: null,
    },
  } as const
  Object.assign(services, {
    findExchange: async (_owner: unknown, _id: string, type = 'standard') =>
      services.rows.find(({ view }) => view.exchange.type === type)?.view ?? null,
    tracking: {
      ...services.tracking,
      find: async () => trackExchange(present(services.rows[0], 'an exchange').view),
    },
    nameRefundAddress: async (_owner: unknown, { refundAddress: address }: { refundAddress: string }) => ({
      address,
      memo: null,
    }),
    cancelExchange: async () => undefined,
    expireExchange: async () => new Date(0),
  })
  Object.assign(services.swaps, { findSwap: async () => ({ swap, formatAddress: (address: string) => address }) })
  return testApp
}

/** An app whose services throw. */
function startWithFailures(error: Error): TestApp {
  const testApp = start()
  const { services } = testApp
  const fail = () => {
    throw error
  }
  Object.assign(services.events.streams, { open: fail })
  for (const part of [services, services.swaps, services.tracking, services.events.webhooks])
    for (const [name, member] of Object.entries(part))
      if (typeof member === 'function' && !['authenticate', 'readiness'].includes(name))
        Object.assign(part, { [name]: fail })
  services.broken.reasons = ['no node answers']
  return testApp
}

/** Answers of the HTTP layer alone, and of the parser. `plain` listens on the port. */
async function askForRefusals(
  operation: Operation,
  { plain, port, throttled }: Readonly<{ plain: TestApp; port: number; throttled: TestApp }>,
): Promise<Observed[]> {
  const jsonHeaders = { ...key, 'content-type': 'application/json' }
  const observed = [
    await ask(plain, operation, { headers: {} }),
    await ask(plain, operation, { headers: { 'x-api-key': 'read-only' } }),
    await ask(plain, operation, { headers: { 'x-api-key': 'far-away' } }),
    await ask(plain, operation, { headers: { 'x-api-key': 'strict' }, url: `${operation.path}?unknown=1` }),
    await ask(plain, operation, { method: 'DELETE', payload: '' }),
    await ask(plain, operation, { url: `${operation.path}?${'x'.repeat(9_000)}` }),
    await ask(throttled, operation),
  ]
  if (operation.method === 'POST')
    observed.push(
      await ask(plain, operation, { headers: { ...key, 'content-type': 'text/plain' }, payload: '{}' }),
      await ask(plain, operation, { headers: jsonHeaders, payload: JSON.stringify('x'.repeat(70_000)) }),
    )
  const head = `${operation.method} ${operation.path} HTTP/1.1\r\n`
  const bytes = [
    `${head}Connection: close\r\n\r\n`,
    `${head}Host: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    `${head}Host: x\r\n`,
  ]
  const answers = await Promise.all(bytes.map((some) => sendOnSocket(port, some)))
  return [...observed.flat(), ...answers.map((answer) => observe(operation, answer))]
}

test('the document declares every header that the server sends with an operation and status, and no other', async () => {
  const withRows = await startWithRows()
  const [plain, throttled] = [start(), start(refuse)]
  const refusing = { plain, throttled, port: await listen(plain.app) }
  const failing = Object.entries(thrown).map(([status, error]) => [status, startWithFailures(error)] as const)
  const perOperation = await Promise.all(
    operations.map(async (operation) => [
      await ask(withRows, operation),
      await ask(withRows, operation, { headers: { ...key, 'if-none-match': '*' } }),
      ...(await Promise.all(
        failing.filter(([status]) => status in operation.responses).map(([, app]) => ask(app, operation)),
      )),
      await askForRefusals(operation, refusing),
    ]),
  )
  const seen = new Map<string, Set<string>>()
  const undeclared = new Set<string>()
  for (const { operation, status, headers } of perOperation.flat(2)) {
    const response = operation.responses[status]
    const place = `${operation.method} ${operation.path} ${status}`
    const declared = response === undefined ? [] : declaredBy(response)
    for (const name of headers) if (!declared.includes(name)) undeclared.add(`${place}: ${name}`)
    if (response !== undefined) {
      const name = response.$ref ?? place
      seen.set(name, new Set([...(seen.get(name) ?? []), ...headers]))
    }
  }
  expect([...undeclared].toSorted()).toEqual([])
  const unsent = operations.flatMap(({ method, path, responses }) =>
    Object.entries(responses).flatMap(([status, response]) => {
      const name = response.$ref ?? `${method} ${path} ${status}`
      return declaredBy(response).flatMap((header) => (seen.get(name)?.has(header) ? [] : [`${name}: ${header}`]))
    }),
  )
  expect([...new Set(unsent)]).toEqual([])
})

function declaredBy({ $ref, headers }: Response): string[] {
  const named = $ref === undefined ? headers : document.components.responses[$ref.split('/').at(-1) ?? '']?.headers
  return Object.keys(named ?? {}).map((name) => name.toLowerCase())
}
