import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
