import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { createClient } from './client.ts'
import { createInterruptions, type Symptom } from './interruptions.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'
const closings: (() => unknown)[] = []
afterEach(() => {
  for (const close of closings.splice(0)) close()
})

/** A process that treats its first connection in its own way, and answers all others. */
async function serve(first: (socket: Socket) => void): Promise<string> {
  let count = 0
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => (count++ === 0 ? first(socket) : socket.end(OK)))
  }).listen(0, '127.0.0.1')
  closings.push(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

const kill = (socket: Socket) => socket.resetAndDestroy()
const UNAVAILABLE = '503 Service Unavailable\r\nretry-after: 1'
const answer = (head: string) => (socket: Socket) => socket.end(`HTTP/1.1 ${head}\r\ncontent-length: 2\r\n\r\n{}`)

type Stage = Readonly<{ symptoms?: readonly Symptom[]; isOther?: boolean; isOver?: boolean }>

/** Requests a path from a process. With `symptoms` the suite interrupts it: instead another process, or until before the request. */
async function get(first: (socket: Socket) => void, { symptoms, isOther, isOver }: Stage = {}) {
  const url = await serve(first)
  const interruptions = createInterruptions({ isServing: async () => true, steadyMs: 0 })
  if (symptoms !== undefined) {
    const finish = interruptions.begin('the test', [isOther ? 'http://127.0.0.1:1' : url], symptoms)
    if (isOver) {
      finish()
      await until('it has ended', () => interruptions.listOpen().length === 0)
      const endedAt = Date.now()
      await until('the next millisecond', () => Date.now() > endedAt)
    }
  }
  const client = createClient([url], { interruptions })
  return { client, interruptions, reply: client.call('GET', '/path') }
}

test('a lost connection is repeated and no finding while the suite ends or starts the process', async () => {
  const { client, reply } = await get(kill, { symptoms: ['503', 'lost'] })
  expect((await reply).status).toBe(200)
  expect(client.unexpectedReplies()).toEqual([])
})

test.each<[string, Stage]>([
  ['without an interruption', {}],
  ['while the suite interrupts Postgres', { symptoms: ['503'] }],
  ['while the suite interrupts another process', { symptoms: ['lost'], isOther: true }],
  ['after the interruption', { symptoms: ['lost'], isOver: true }],
])('a lost connection is a finding %s', async (_when, stage) => {
  const { client, reply } = await get(kill, stage)
  await expect(reply).rejects.toThrow()
  expect(client.unexpectedReplies()).toEqual([expect.stringMatching(/^GET \/path: /)])
})

const CLAIMED = '{"message":"a request with this Idempotency-Key is still running: send it again"}'
const claimed = (socket: Socket) =>
  socket.end(`HTTP/1.1 ${UNAVAILABLE}\r\ncontent-length: ${CLAIMED.length}\r\n\r\n${CLAIMED}`)

test('a claim of the key by a process that was killed is repeated elsewhere, and without a killed one a finding', async () => {
  const [killed, other] = [await serve(kill), await serve(claimed)]
  const interruptions = createInterruptions({ isServing: async () => true, steadyMs: 0 })
  interruptions.begin('the test', [killed], ['lost'])
  const client = createClient([killed, other], { interruptions })
  expect((await client.call('POST', '/path', {})).status).toBe(200)
  expect(client.unexpectedReplies()).toEqual([])
  const { client: unharmed, reply } = await get(claimed)
  expect((await reply).status).toBe(503)
  expect(unharmed.unexpectedReplies()).toHaveLength(1)
})

test('a reply that is no HTTP is a finding everywhere, and is not repeated', async () => {
  const { client, reply } = await get((socket) => socket.end('no HTTP\r\n\r\n'), { symptoms: ['503', 'lost'] })
  await expect(reply).rejects.toThrow(/Parse Error/)
  expect(client.unexpectedReplies()).toHaveLength(1)
})

test('a 503 is repeated, counted and no finding while the suite interrupts the process', async () => {
  const { client, interruptions, reply } = await get(answer(UNAVAILABLE), { symptoms: ['503'] })
  expect((await reply).status).toBe(200)
  expect(client.unexpectedReplies()).toEqual([])
  expect(interruptions.takeCounts()).toEqual([expect.stringMatching(/^1 times 503 of http:.*: the test$/)])
  expect(interruptions.takeCounts()).toEqual([])
})

test.each<[string, string, Stage]>([
  ['503 of a process that is ready', UNAVAILABLE, {}],
  ['503 while the suite interrupts another process', UNAVAILABLE, { symptoms: ['503'], isOther: true }],
  ['503 of a process that the suite may kill, and has not', UNAVAILABLE, { symptoms: ['lost'] }],
  ['503 after the interruption', UNAVAILABLE, { symptoms: ['503', 'lost'], isOver: true }],
  ['503 without Retry-After', '503 Service Unavailable', { symptoms: ['503', 'lost'] }],
  ['500', '500 Internal Server Error', { symptoms: ['503', 'lost'] }],
])('a %s is a finding, and is not repeated', async (_what, head, stage) => {
  const { client, interruptions, reply } = await get(answer(head), stage)
  expect((await reply).status).toBe(Number.parseInt(head, 10))
  expect(client.unexpectedReplies()).toEqual([expect.stringMatching(/^GET \/path: 50[03] /)])
  expect(interruptions.takeCounts()).toEqual([])
})
