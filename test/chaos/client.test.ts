import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createClient } from './client.ts'

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
const get = (url: string, isInterrupted: boolean) => {
  const client = createClient([url], { isInterrupted })
  return { client, reply: client.call('GET', '/path') }
}

test('a lost connection is repeated and no finding where the suite kills processes', async () => {
  const { client, reply } = get(await serve(kill), true)
  expect((await reply).status).toBe(200)
  expect(client.unexpectedReplies()).toEqual([])
})

test('a lost connection is a finding elsewhere', async () => {
  const { client, reply } = get(await serve(kill), false)
  await expect(reply).rejects.toThrow()
  expect(client.unexpectedReplies()).toEqual([expect.stringMatching(/^GET \/path: /)])
})

test('a reply that is no HTTP is a finding everywhere, and is not repeated', async () => {
  const { client, reply } = get(await serve((socket) => socket.end('no HTTP\r\n\r\n')), true)
  await expect(reply).rejects.toThrow(/Parse Error/)
  expect(client.unexpectedReplies()).toHaveLength(1)
})

test.each([
  ['500 Internal Server Error', 500, 1],
  ['503 Service Unavailable\r\nretry-after: 1', 200, 0],
])('of a suite that kills processes the reply %s is a finding or repeated', async (head, status, findings) => {
  const url = await serve((socket) => socket.end(`HTTP/1.1 ${head}\r\ncontent-length: 2\r\n\r\n{}`))
  const { client, reply } = get(url, true)
  expect((await reply).status).toBe(status)
  expect(client.unexpectedReplies()).toHaveLength(findings)
})
