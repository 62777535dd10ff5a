import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { createTestApp, goodRate, listen, type TestApp } from './app-for-tests.ts'

/* What a client sees on a connection of its own: heads, their limits and framing, pipelining, slow clients, timeouts. */
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
const quote = `GET ${target} HTTP/1.1\r\nHost: here\r\nX-Api-Key: sandbox\r\n\r\n`
const live = 'GET /health/live HTTP/1.1\r\nHost: here\r\n\r\n'
const LIVE = '{"status":"ok"}'

/** Sends the pieces one by one, ends its own side, and reads until the server has ended the other. */
async function converse(port: number, ...pieces: readonly string[]): Promise<string> {
  const socket = await open(port)
  const text = readAll(socket)
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    // One turn for the piece to leave: the kernel joins what is sent at once.
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
        // The server refused before it had read everything.
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

/** Every answer of a connection. Bodies are as long as their Content-Length says. */
function answersOf(text: string): { status: number; headers: string; body: string }[] {
  const answers: { status: number; headers: string; body: string }[] = []
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const headers = rest.slice(0, end)
    const length = Number(/^content-length: (\d+)\r?$/im.exec(headers)?.[1])
    const status = Number(headers.split(' ', 2)[1])
    answers.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

type Head = { method?: string; target?: string; version?: string; more?: string[] }
const toHead = ({ method = 'GET', target: asked = target, version = 'HTTP/1.1', more = [] }: Head) =>
  [`${method} ${asked} ${version}`, 'Host: here', 'X-Api-Key: sandbox', ...more, '', ''].join('\r\n')

describe('a head', () => {
  test.each<[string, Head]>([
    ['a header without a value', { more: ['Accept:'] }],
    ['white space around a value', { more: ['Accept:  a '] }],
    ['an underscore in a name', { more: ['X_Under: a'] }],
    ['Latin-1 in a value', { more: ['X-High: é'] }],
    ['5000 characters in a value', { more: [`X-Long: ${'a'.repeat(5_000)}`] }],
    ['Connection: keep-alive', { more: ['Connection: keep-alive'] }],
    ['Connection: close', { more: ['Connection: close'] }],
    ['an upgrade, which is ignored', { more: ['Connection: Upgrade', 'Upgrade: h2c'] }],
    ['an empty body', { more: ['Content-Length: 0'] }],
    ['the target in absolute form', { target: `http://here${target}` }],
    ['HTTP/1.0', { version: 'HTTP/1.0' }],
    ['HEAD', { method: 'HEAD' }],
  ])('is served with %s', async (_name, head) => {
    const { port } = await start()
    expect(statusesOf(await converse(port, toHead(head)))).toEqual([200])
  })

  test.each<[string, Head, number, string]>([
    ['white space before a colon', { more: ['Accept : a'] }, 400, 'VALIDATION_ERROR'],
    ['a folded line', { more: ['X-Folded: a\r\n b'] }, 400, 'VALIDATION_ERROR'],
    ['a control character in a value', { more: ['X-Bell: \x07'] }, 400, 'VALIDATION_ERROR'],
    ['more than 16 KiB', { more: [`X-Long: ${'a'.repeat(17_000)}`] }, 431, 'HEADERS_TOO_LARGE'],
    ['two lengths', { more: ['Content-Length: 0', 'Content-Length: 0'] }, 400, 'VALIDATION_ERROR'],
    ['a negative length', { more: ['Content-Length: -1'] }, 400, 'VALIDATION_ERROR'],
    ['an unknown expectation', { more: ['Expect: coffee'] }, 400, 'VALIDATION_ERROR'],
    ['the key twice', { more: ['X-Api-Key: sandbox'] }, 401, 'API_KEY_INVALID'],
    ['another key beside the good one', { more: ['X-Api-Key: wrong'] }, 401, 'API_KEY_INVALID'],
    ['a member of the query twice', { target: `${target}&amount=1` }, 400, 'VALIDATION_ERROR'],
    ['two slashes', { target: `/${target}` }, 404, 'ROUTE_NOT_FOUND'],
    ['an unknown version', { version: 'HTTP/1.2' }, 400, 'VALIDATION_ERROR'],
    ['a version in lower case', { version: 'http/1.1' }, 400, 'VALIDATION_ERROR'],
    ['no version', { version: '' }, 400, 'VALIDATION_ERROR'],
    ['a method in lower case', { method: 'get' }, 400, 'VALIDATION_ERROR'],
    ['POST', { method: 'POST' }, 405, 'METHOD_NOT_ALLOWED'],
    ['OPTIONS', { method: 'OPTIONS' }, 405, 'METHOD_NOT_ALLOWED'],
  ])('is refused with %s', async (_name, head, status, code) => {
    const { port } = await start()
    const [answer] = answersOf(await converse(port, toHead(head)))
    expect([answer?.status, JSON.parse(answer?.body ?? '').code]).toEqual([status, code])
  })

  test('that was spoilt anywhere is served, or refused in the error shape, and the server lives on', async () => {
    const { port } = await start()
    const put = fc.constantFrom(' ', '\t', '\r', '\n', '\r\n', '\0', ':', ',', 'é', '\x7f', 'a', '\r\n ', '/', '?')
    const spoilt = fc
      .record({ at: fc.nat(quote.length), put, taken: fc.nat(2) })
      .map((drawn) => quote.slice(0, drawn.at) + drawn.put + quote.slice(drawn.at + drawn.taken))
    await fc.assert(
      fc.asyncProperty(spoilt, async (head) => {
        for (const { status, headers, body } of answersOf(await converse(port, head))) {
          expect([200, 400, 401, 404, 405]).toContain(status)
          expect(headers).toMatch(/^content-type: application\/json; charset=utf-8\r?$/im)
          expect(headers).toMatch(/^x-request-id: \S+\r?$/im)
          const answer = JSON.parse(body)
          if (status !== 200)
            expect(Object.keys(answer)).toEqual(['message', 'error', 'statusCode', 'code', 'requestId', 'errors'])
        }
      }),
      { numRuns: 300 },
    )
    expect(statusesOf(await converse(port, quote))).toEqual([200])
  })
})

describe('a connection', () => {
  test('answers a request that comes in two pieces, wherever it is cut', async () => {
    const { port } = await start()
    for (let cut = 1; cut < quote.length; cut += 7) {
      expect(statusesOf(await converse(port, quote.slice(0, cut), quote.slice(cut)))).toEqual([200])
    }
  })

  test('answers pipelined requests in their order', async () => {
    const { port } = await start()
    const text = await converse(port, quote, quote + live + quote, quote)
    const bodies = text.split(/HTTP\/1\.1 200 OK/).map((answer) => (answer.includes(LIVE) ? 'live' : 'quote'))
    expect(bodies.slice(1)).toEqual(['quote', 'quote', 'live', 'quote', 'quote'])
  })

  test('checks the key of every request', async () => {
    const { port } = await start()
    const other = quote.replace('sandbox', 'wrong')
    expect(statusesOf(await converse(port, quote, quote, other, quote))).toEqual([200, 200, 401, 200])
  })

  test('delivers every answer to a client that reads late', async () => {
    const { port } = await start()
    const socket = await open(port)
    const count = 5_000
    socket.pause()
    for (let sent = 0; sent < count; sent++) {
      if (!socket.write(quote))
        await Promise.race([once(socket, 'drain'), new Promise((resolve) => setTimeout(resolve, 50))])
    }
    const text = readAll(socket)
    socket.resume()
    socket.end()
    expect(statusesOf(await text)).toEqual(Array.from({ length: count }, () => 200))
  })

  test('without a request is answered 408 after the header timeout', async () => {
    const { port } = await start({ headersTimeoutMs: 500 })
    expect(statusesOf(await readAll(await open(port)))).toEqual([408])
  })

  test('is closed when it stays idle longer than the keep-alive timeout', async () => {
    const { app, port } = await start()
    app.server.keepAliveTimeout = 200
    const socket = await open(port)
    socket.write(quote)
    expect(statusesOf(await readAll(socket))).toEqual([200])
  })

  test('that is idle does not keep the server from closing', async () => {
    const { app, port } = await start()
    const socket = await open(port)
    socket.write(quote)
    await once(socket, 'data')
    const closed = once(socket, 'close')
    socket.resume()
    await app.close()
    await closed
  })
})
