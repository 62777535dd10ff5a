import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quantity } from './replies.ts'
import { createRpc, failureOf, type Rpc, refusalOf } from './rpc.ts'

type Call = Readonly<{ id: number; method: string; params: readonly unknown[] }>
/** Undefined where it has answered by itself, or does not. */
type Answer = (body: Call | readonly Call[], reply: ServerResponse, request: IncomingMessage) => unknown

let answer: Answer
let url: string
const asked: unknown[] = []
const server = createServer(async (request, reply) => {
  const body = (await json(request)) as Call | Call[]
  const isCheck = !Array.isArray(body) && body.method === 'eth_chainId'
  if (!isCheck) asked.push(body)
  const said = isCheck ? { id: body.id, result: '0x1' } : answer(body, reply, request)
  if (said !== undefined) reply.end(JSON.stringify(said))
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
  asked.length = 0
  return createRpc('eth node 1', at, 1, { timeoutMs: 1_000, attempts: 2, replyBytesMax: 4_000 })
}

const double = ({ id, params }: Call) => ({ id, result: `0x${(2 * Number(params[0])).toString(16)}` })
const call = (n: number) => ({ method: 'double', params: [n] })
const failure = (asking: Promise<unknown>) =>
  asking.then(
    () => 'an answer',
    (error: unknown) => refusalOf(error)?.code ?? failureOf(error)?.message ?? (error as Error).message,
  )

test('calls of one turn are one batch of at most fifty, whose answers may come in any order', async () => {
  const rpc = open((body) => (body as Call[]).map(double).reverse())
  const calls = Array.from({ length: 120 }, (_, n) => n)
  const answers = await Promise.all([
    rpc.askMany(calls.slice(0, 60).map(call), quantity),
    rpc.askMany(calls.slice(60).map(call), quantity),
  ])
  expect(answers.flat()).toEqual(calls.map((n) => BigInt(2 * n)))
  expect(asked.map((body) => (body as Call[]).length).sort()).toEqual([20, 50, 50])
})

test.for<[string, Answer, unknown]>([
  ['refuses the batch as a whole', () => ({ error: { code: -32600, message: 'no batches' } }), -32600],
  ['answers a batch by one result', () => ({ result: '0x1' }), 'eth node 1 gave no answer to double'],
  ['leaves one out', (body) => (body as Call[]).slice(1).map(double), 'eth node 1 gave no answer to double'],
  [
    'answers other calls',
    (body) => (body as Call[]).map((one) => double({ ...one, id: -one.id })),
    'eth node 1 gave no answer to double',
  ],
  ['sends one elsewhere', (_, reply) => void reply.writeHead(307, { location: url }).end(), 'transport'],
  ['writes no JSON', (_, reply) => void reply.end('<html>'), 'transport'],
  ['writes too much', () => [{ id: 1, result: '0x'.padEnd(5_000, '0') }], 'the reply is too long'],
  ['ends in the middle', (_, reply) => void reply.destroy(), 'UND_ERR_SOCKET'],
  ['is silent', () => undefined, 'timeout'],
])('a node that %s gives no answer', async ([, to, said]) => {
  const rpc = open(to)
  expect(await failure(rpc.askMany([call(1), call(2)], quantity))).toBe(said)
})

test('a node behind a name and a password is told them, and no message holds them', async () => {
  let told = ''
  const rpc = open(
    (body, _, { headers }) => {
      told = headers.authorization ?? ''
      return double(body as Call)
    },
    url.replace('//', '//me:p%40ss@'),
  )
  expect(await rpc.ask('double', [4], quantity)).toBe(8n)
  expect(Buffer.from(told.slice('Basic '.length), 'base64').toString()).toBe('me:p@ss')
})
