import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import { createTestApp, goodRate, listen, type TestApp } from './app-for-tests.ts'

/* Behaviour of single connections: request heads with their limits and framing, pipelining, slow clients, timeouts. */
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

/** Sends the pieces one by one, closes the sending side, and reads until the server closes the connection. */
async function sendPieces(port: number, ...pieces: readonly string[]): Promise<string> {
  const socket = await openSocket(port)
  const text = readAll(socket)
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    // Yields to the event loop, so that the kernel does not join this piece with the next.
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
        // The server refused the request before it had read all of it.
        if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
      })
  })
}

async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

const parseStatuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

/** Parses all answers on a connection by their Content-Length. */
function parseAnswers(text: string): { status: number; headers: string; body: string }[] {
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
const formatHead = ({ method = 'GET', target: requestTarget = target, version = 'HTTP/1.1', more = [] }: Head) =>
  [`${method} ${requestTarget} ${version}`, 'Host: here', 'X-Api-Key: sandbox', ...more, '', ''].join('\r\n')

describe('request heads', () => {
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
  ])('are accepted with %s', async (_name, head) => {
    const { port } = await start()
    expect(parseStatuses(await sendPieces(port, formatHead(head)))).toEqual([200])
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
  ])('are rejected with %s', async (_name, head, status, code) => {
    const { port } = await start()
    const [answer] = parseAnswers(await sendPieces(port, formatHead(head)))
    expect([answer?.status, JSON.parse(answer?.body ?? '').code]).toEqual([status, code])
  })

  test('are served, or rejected in the error format, after any mutation, and the server stays up', async () => {
    const { port } = await start()
    const inserted = fc.constantFrom(' ', '\t', '\r', '\n', '\r\n', '\0', ':', ',', 'é', '\x7f', 'a', '\r\n ', '/', '?')
    const mutatedHeads = fc
      .record({ at: fc.nat(quote.length), inserted, removed: fc.nat(2) })
      .map((mutation) => quote.slice(0, mutation.at) + mutation.inserted + quote.slice(mutation.at + mutation.removed))
    await fc.assert(
      fc.asyncProperty(mutatedHeads, async (head) => {
        for (const { status, headers, body } of parseAnswers(await sendPieces(port, head))) {
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
    expect(parseStatuses(await sendPieces(port, quote))).toEqual([200])
  })
})

describe('connections', () => {
  test('answer a request that arrives in two pieces, at any cut', async () => {
    const { port } = await start()
    for (let cut = 1; cut < quote.length; cut += 7) {
      expect(parseStatuses(await sendPieces(port, quote.slice(0, cut), quote.slice(cut)))).toEqual([200])
    }
  })

  test('answer pipelined requests in order', async () => {
    const { port } = await start()
    const text = await sendPieces(port, quote, quote + live + quote, quote)
    const bodies = text.split(/HTTP\/1\.1 200 OK/).map((answer) => (answer.includes(LIVE) ? 'live' : 'quote'))
    expect(bodies.slice(1)).toEqual(['quote', 'quote', 'live', 'quote', 'quote'])
  })

  test('check the key of every request', async () => {
    const { port } = await start()
    const other = quote.replace('sandbox', 'wrong')
    expect(parseStatuses(await sendPieces(port, quote, quote, other, quote))).toEqual([200, 200, 401, 200])
  })

  test('deliver every answer to a client that reads late', async () => {
    const { app, port } = await start()
    const connected = once(app.server, 'connection')
    const socket = await openSocket(port)
    const [peer] = (await connected) as [Socket]
    socket.pause()
    // More answers than the buffers of both sockets hold.
    const count = 20_000
    for (let sent = 0; sent < count; sent++) socket.write(quote)
    await until('the server waits for the client', () => peer.writableLength > 0)
    const text = readAll(socket)
    socket.resume()
    socket.end()
    expect(parseStatuses(await text)).toEqual(Array.from({ length: count }, () => 200))
  })

  test('answer 408 after the header timeout if no request arrives', async () => {
    const { port } = await start({ headersTimeoutMs: 500 })
    expect(parseStatuses(await readAll(await openSocket(port)))).toEqual([408])
  })

  test('are closed after the keep-alive timeout', async () => {
    const { app, port } = await start()
    app.server.keepAliveTimeout = 200
    const socket = await openSocket(port)
    socket.write(quote)
    expect(parseStatuses(await readAll(socket))).toEqual([200])
  })

  test('do not delay the shutdown of the server while idle', async () => {
    const { app, port } = await start()
    const socket = await openSocket(port)
    socket.write(quote)
    await once(socket, 'data')
    const closed = once(socket, 'close')
    socket.resume()
    await app.close()
    await closed
  })
})
