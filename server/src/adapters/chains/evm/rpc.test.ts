import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quantity } from './replies.ts'
import { createRpc, failureOf, type Rpc, refusalOf } from './rpc.ts'

type Call = Readonly<{ id: number; method: string; params: readonly unknown[] }>
/** The reply; undefined if the function answered on its own or does not answer. */
type Answer = (body: Call | readonly Call[], reply: ServerResponse, request: IncomingMessage) => unknown

let answer: Answer
let url: string
const requests: unknown[] = []
const server = createServer(async (request, reply) => {
  const body = (await json(request)) as Call | Call[]
  const isCheck = !Array.isArray(body) && body.method === 'eth_chainId'
  if (!isCheck) requests.push(body)
  const result = isCheck ? { id: body.id, result: '0x1' } : answer(body, reply, request)
  if (result !== undefined) reply.end(JSON.stringify(result))
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function open(to: Answer, at: string = url): Rpc {
  answer = to
  requests.length = 0
  return createRpc('eth node 1', at, 1, { timeoutMs: 1_000, attempts: 2, replyBytesMax: 4_000 })
}

const double = ({ id, params }: Call) => ({ id, result: `0x${(2 * Number(params[0])).toString(16)}` })
const call = (n: number) => ({ method: 'double', params: [n] })
const failure = (call: Promise<unknown>) =>
  call.then(
    () => 'an answer',
    (error: unknown) => refusalOf(error)?.code ?? failureOf(error)?.message ?? (error as Error).message,
  )

test('batches the calls of one turn, at most fifty each, and accepts answers in any order', async () => {
  const rpc = open((body) => (body as Call[]).map(double).reverse())
  const calls = Array.from({ length: 120 }, (_, n) => n)
  const answers = await Promise.all([
    rpc.askMany(calls.slice(0, 60).map(call), quantity),
    rpc.askMany(calls.slice(60).map(call), quantity),
  ])
  expect(answers.flat()).toEqual(calls.map((n) => BigInt(2 * n)))
  expect(requests.map((body) => (body as Call[]).length).sort()).toEqual([20, 50, 50])
})

test.for<[string, Answer, unknown]>([
  ['refuses the batch as a whole', () => ({ error: { code: -32600, message: 'no batches' } }), -32600],
  ['answers a batch with a single result', () => ({ result: '0x1' }), 'eth node 1 gave no answer to double'],
  ['omits an answer', (body) => (body as Call[]).slice(1).map(double), 'eth node 1 gave no answer to double'],
  [
    'answers with other ids',
    (body) => (body as Call[]).map((one) => double({ ...one, id: -one.id })),
    'eth node 1 gave no answer to double',
  ],
  ['redirects', (_, reply) => void reply.writeHead(307, { location: url }).end(), 'transport'],
  ['returns no JSON', (_, reply) => void reply.end('<html>'), 'transport'],
  ['returns too many bytes', () => [{ id: 1, result: '0x'.padEnd(5_000, '0') }], 'the reply is too long'],
  ['closes the connection', (_, reply) => void reply.destroy(), 'UND_ERR_SOCKET'],
  ['is silent', () => undefined, 'timeout'],
])('fails if a node %s', async ([, to, expected]) => {
  const rpc = open(to)
  expect(await failure(rpc.askMany([call(1), call(2)], quantity))).toBe(expected)
})

type Refusal = (body: readonly Call[], reply: ServerResponse) => unknown
const tooLarge: Refusal = ([first]) => ({ id: first?.id, error: { code: -32600, message: 'batch too large' } })
/** A node that refuses batches of more than this many calls. */
const refuseAbove =
  (most: number, refuse: Refusal): Answer =>
  (body, reply) =>
    !Array.isArray(body) ? double(body as Call) : body.length > most ? refuse(body, reply) : body.map(double)

describe('a node that refuses a batch (T58)', () => {
  test.for<[string, number, Refusal]>([
    ['above a size', 7, tooLarge],
    ['of any size', 0, tooLarge],
    ['as geth does, by a list of one error', 7, (body, reply) => [tooLarge(body, reply)]],
    ['with a code of its own', 3, () => ({ error: { code: 31, message: 'batches are limited to 3 requests' } })],
    ['with 413 and no JSON', 5, (_, reply) => void reply.writeHead(413).end('Payload Too Large')],
    ['with 413 and JSON', 5, (_, reply) => void reply.writeHead(413).end('{"message":"request entity too large"}')],
  ])('%s gets smaller ones, down to single calls', async ([, most, refuse]) => {
    const rpc = open(refuseAbove(most, refuse))
    const calls = Array.from({ length: 50 }, (_, n) => n)
    const expected = calls.map((n) => BigInt(2 * n))
    expect(await rpc.askMany(calls.map(call), quantity)).toEqual(expected)
    expect(requests.length).toBeLessThan(100)
    // The node is not asked for a size again that it refused.
    requests.length = 0
    expect(await rpc.askMany(calls.map(call), quantity)).toEqual(expected)
    const sizes = requests.map((body) => (Array.isArray(body) ? body.length : 1))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(Math.max(1, most))
    expect(sizes.reduce((sum, size) => sum + size)).toBe(50)
  })

  test('gets few requests if it refuses single calls for the same reason', async () => {
    const rpc = open(() => ({ error: { code: -32600, message: 'no' } }))
    const calls = Array.from({ length: 50 }, (_, n) => call(n))
    expect(await failure(rpc.askMany(calls, quantity))).toBe(-32600)
    expect(requests.length).toBeLessThan(10)
  })

  test('keeps the refusals of single calls apart', async () => {
    const rpc = open((body) => {
      if (Array.isArray(body)) return { error: { code: -32000, message: 'batches are not supported' } }
      const one = body as Call
      return one.params[0] === 1 ? { id: one.id, error: { code: -32000, message: 'execution reverted' } } : double(one)
    })
    const answers = [1, 2, 3].map((n) => rpc.askMany([call(n)], quantity).catch((error) => refusalOf(error)?.message))
    expect(await Promise.all(answers)).toEqual(['-32000 execution reverted', [4n], [6n]])
  })

  test('and is then silent fails in time', async () => {
    const rpc = open((body, reply) => (Array.isArray(body) ? tooLarge(body, reply) : undefined))
    expect(await failure(rpc.askMany([call(1), call(2)], quantity))).toBe('timeout')
  })
})

test('sends the credentials of the URL in the authorization header', async () => {
  let authorization = ''
  const rpc = open(
    (body, _, { headers }) => {
      authorization = headers.authorization ?? ''
      return double(body as Call)
    },
    url.replace('//', '//me:p%40ss@'),
  )
  expect(await rpc.ask('double', [4], quantity)).toBe(8n)
  expect(Buffer.from(authorization.slice('Basic '.length), 'base64').toString()).toBe('me:p@ss')
})
