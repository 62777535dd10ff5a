import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createTestApp, goodRate, listen, type TestApp } from './app-for-tests.ts'

/*
 * A connection begins before Node's HTTP and becomes Node's with the first request that is not a plain quote. Whatever
 * bytes come, the answer is what Node gives to the same bytes on a connection that is its own already.
 */
const scenarios: TestApp[] = []
afterEach(async () => {
  for (const { app } of scenarios.splice(0)) await app.close()
})

async function start(settings: Parameters<typeof createTestApp>[0] = {}) {
  const scenario = createTestApp(settings)
  scenarios.push(scenario)
  return { ...scenario, port: await listen(scenario.app) }
}

const target = `/v1/cross-chain/rate?${new URLSearchParams(goodRate)}`
const plain = `GET ${target} HTTP/1.1\r\nHost: here\r\nX-Api-Key: sandbox\r\n\r\n`
const live = 'GET /health/live HTTP/1.1\r\nHost: here\r\n\r\n'
const LIVE = '{"status":"ok"}'

/** Sends these pieces, each by itself, ends its own side, and reads until the server has ended the other. */
async function converse(port: number, ...pieces: readonly string[]): Promise<string> {
  const socket = await open(port)
  const text = readAll(socket)
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    // A turn for it to leave: the kernel puts together what is sent at once.
    await new Promise(setImmediate)
    await new Promise(setImmediate)
  }
  socket.end()
  return text
}

function readAll(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1')
  })
  return new Promise((resolve, reject) => {
    socket
      .on('close', () => resolve(text))
      .on('error', (error: Error & { code?: string }) => {
        // Refused before all of it was read.
        if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
      })
  })
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

/** All answers, without what every one has of its own: their headers in one order and case. */
const comparable = (text: string) =>
  text
    .replace(/^(date|x-request-id|content-length): .*$/gim, '$1: …')
    .replace(/"(rateId|validUntil|requestId)":"[^"]+"/g, '"$1":"…"')
    .split('\r\n\r\n')
    .map((part) => part.toLowerCase().split('\r\n').sort())

const bytes = fc.constantFrom(
  ' ',
  '\t',
  '\r',
  '\n',
  '\r\n',
  '\0',
  ':',
  ',',
  'é',
  '\x7f',
  'a',
  '\r\n ',
  'HTTP/1.1',
  '/',
  '?',
)
const lines = fc.constantFrom(
  'Accept: */*',
  'Accept:application/json',
  'Accept:',
  'Accept: ',
  'Accept: a ',
  'Accept : a',
  'Connection: keep-alive',
  'Connection: close',
  'Connection: Upgrade',
  'Content-Length: 0',
  'Content-Length: 0\r\nContent-Length: 0',
  'Content-Length: -1',
  'Transfer-Encoding: identity',
  'Expect: 100-continue',
  'Expect: coffee',
  'Upgrade: h2c',
  'TE: trailers',
  'Host: there',
  'X-Api-Key: sandbox',
  'X-Api-Key: wrong',
  'x-api-key: strict',
  'X-Forwarded-For: 192.0.2.1',
  'X-Folded: a\r\n b',
  'X_Under: a',
  'X-High: é',
  'X-Bell: \x07',
  `X-Long: ${'a'.repeat(5_000)}`,
)
const targets = fc.constantFrom(
  `${target}&amount=1`,
  `${target}#there`,
  `http://here${target}`,
  `${target} `,
  `/${target}`,
)
const versions = fc.constantFrom('HTTP/1.0', 'HTTP/1.2', 'http/1.1', 'HTTP/2.0', '')
const methods = fc.constantFrom('get', 'HEAD', 'POST', 'OPTIONS')
type Head = { method?: string; target?: string; version?: string; more?: string[] }
const toHead = ({ method = 'GET', target: asked = target, version = 'HTTP/1.1', more = [] }: Head) =>
  [`${method} ${asked} ${version}`, 'Host: here', 'X-Api-Key: sandbox', ...more, '', ''].join('\r\n')
/** Mostly plain but for one line more: each of them must be met alone. */
const heads = fc
  .oneof(
    { weight: 6, arbitrary: fc.record({ more: fc.array(lines, { minLength: 1, maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ method: methods }) },
    { weight: 1, arbitrary: fc.record({ target: targets }) },
    { weight: 1, arbitrary: fc.record({ version: versions }) },
  )
  .map(toHead)
/** One byte or a few put in, or taken out, anywhere. */
const spoilt = fc
  .record({ head: fc.oneof(heads, fc.constant(plain)), at: fc.nat(400), put: bytes, taken: fc.nat(2) })
  .map(({ head, at, put, taken }) => head.slice(0, at) + put + head.slice(at + taken))

describe('the same bytes have the same answer before Node and after it', () => {
  test.each([
    ['whole heads', heads],
    ['spoilt ones', spoilt],
  ])('%s', async (_name, drawn) => {
    const { port } = await start({ headersTimeoutMs: 60_000 })
    await fc.assert(
      fc.asyncProperty(drawn, async (head) => {
        const fresh = await converse(port, head)
        const [first, ...rest] = (await converse(port, live, head)).split(LIVE)
        expect(first).toContain('200 OK')
        expect(comparable(fresh)).toEqual(comparable(rest.join(LIVE)))
      }),
      { numRuns: 300 },
    )
  })
})

test('a plain quote does not reach Node, and what is not plain does, from then on', async () => {
  const { app, port } = await start()
  let reached = 0
  app.server.on('request', () => {
    reached++
  })
  await converse(port, plain, plain, plain)
  expect(reached).toBe(0)
  await converse(port, plain, live, plain)
  expect(reached).toBe(2)
})

test('a request in pieces is answered wherever it is cut', async () => {
  const { port } = await start()
  for (let cut = 1; cut < plain.length; cut += 7) {
    expect(statusesOf(await converse(port, plain.slice(0, cut), plain.slice(cut)))).toEqual([200])
  }
})

test('two at once are answered in their order, and so is what follows', async () => {
  const { port, services } = await start()
  const asked = vi.spyOn(services, 'authenticate')
  const text = await converse(port, plain, plain + live + plain, plain)
  const bodies = text.split(/HTTP\/1\.1 200 OK/).map((answer) => (answer.includes(LIVE) ? 'live' : 'quote'))
  expect(bodies.slice(1)).toEqual(['quote', 'quote', 'live', 'quote', 'quote'])
  expect(asked).not.toHaveBeenCalled()
})

test('the key of every request counts, on one connection', async () => {
  const { port } = await start()
  const other = plain.replace('sandbox', 'wrong')
  expect(statusesOf(await converse(port, plain, plain, other, plain))).toEqual([200, 200, 401, 200])
})

test('a client that does not read gets every answer once it reads', async () => {
  const { port } = await start()
  const socket = await open(port)
  const count = 20_000
  socket.pause()
  for (let sent = 0; sent < count; sent++) {
    if (!socket.write(plain))
      await Promise.race([once(socket, 'drain'), new Promise((resolve) => setTimeout(resolve, 50))])
  }
  const text = readAll(socket)
  socket.resume()
  socket.end()
  expect(statusesOf(await text)).toEqual(Array.from({ length: count }, () => 200))
})

test('who says nothing is told so by Node, in its time', async () => {
  const { port } = await start({ headersTimeoutMs: 500 })
  expect(statusesOf(await readAll(await open(port)))).toEqual([408])
})

test('who asks nothing more is let go', async () => {
  const { app, port } = await start()
  app.server.keepAliveTimeout = 200
  const socket = await open(port)
  socket.write(plain)
  expect(statusesOf(await readAll(socket))).toEqual([200])
})

test('connections that wait for their next quote do not keep the server from closing', async () => {
  const { app, port } = await start()
  const socket = await open(port)
  socket.write(plain)
  await once(socket, 'data')
  const closed = once(socket, 'close')
  socket.resume()
  await app.close()
  await closed
})
