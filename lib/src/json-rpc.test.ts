import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createJsonRpc, type JsonRpc, parseExact } from './json-rpc.ts'

const open: { server: Server; rpc: JsonRpc }[] = []

afterEach(async () => {
  for (const { server, rpc } of open.splice(0)) {
    await rpc.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serve(
  listener: RequestListener,
  options: { userinfo?: string; timeoutMs?: number; replyBytesMax?: number } = {},
) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { userinfo = '', ...rest } = options
  const rpc = createJsonRpc({ url: `http://${userinfo}127.0.0.1:${port}/node?key=secret`, ...rest })
  open.push({ server, rpc })
  return { rpc, port }
}

/** Answers every call with what `reply` makes of it. */
function answering(
  reply: (call: { id: number; method: string; params: unknown[] }) => { status?: number; body: string },
): RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { status = 200, body } = reply(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }
}

describe('one call', () => {
  test('returns the result', async () => {
    const { rpc } = await serve(
      answering(({ id, method, params }) => ({ body: JSON.stringify({ id, result: { method, params } }) })),
    )
    expect(await rpc.call('getblock', ['aa', 2])).toEqual({
      kind: 'result',
      result: { method: 'getblock', params: ['aa', 2] },
    })
  })

  test('an error of the node is an answer, whatever its status', async () => {
    const { rpc } = await serve(
      answering(({ id }) => ({
        status: 500,
        body: JSON.stringify({ id, result: null, error: { code: -26, message: 'dust' } }),
      })),
    )
    expect(await rpc.call('sendrawtransaction', ['00'])).toEqual({ kind: 'error', code: -26, message: 'dust' })
  })

  test.each([
    ['a page of a proxy', 502, '<html>Bad Gateway</html>'],
    ['an empty refusal of credentials', 401, ''],
    ['a result to another call', 200, '{"id":-1,"result":true}'],
    ['neither result nor error', 200, '{"id":1}'],
    ['a result with a status of failure', 500, '{"id":1,"result":true}'],
    ['an error without a code', 500, '{"id":1,"error":{"message":"?"}}'],
    ['a list', 200, '[]'],
    ['half a reply', 200, '{"id":1,"resu'],
  ])('%s is unknown', async (_name, status, body) => {
    const { rpc } = await serve(answering(() => ({ status, body })))
    expect(await rpc.call('m', [])).toMatchObject({ kind: 'unknown' })
  })

  test('a reply that does not end in time is unknown', async () => {
    const { rpc } = await serve((_request, response) => void response.writeHead(200).write('{"id":1,'), {
      timeoutMs: 150,
    })
    expect(await rpc.call('m', [])).toMatchObject({ kind: 'unknown', reason: 'timeout' })
  })

  test('a reply above the bound is cut off', async () => {
    const { rpc } = await serve(
      answering(({ id }) => ({ body: JSON.stringify({ id, result: 'x'.repeat(5000) }) })),
      { replyBytesMax: 4000 },
    )
    expect(await rpc.call('m', [])).toMatchObject({ kind: 'unknown', reason: 'the reply is too long' })
  })

  test('a closed socket is unknown', async () => {
    const { rpc } = await serve((request) => request.socket.destroy())
    expect(await rpc.call('m', [])).toMatchObject({ kind: 'unknown' })
  })
})

describe('reads', () => {
  test('are repeated while the outcome is unknown', async () => {
    let calls = 0
    const { rpc } = await serve(
      answering(({ id }) =>
        ++calls < 3 ? { status: 503, body: 'busy' } : { body: JSON.stringify({ id, result: 7 }) },
      ),
    )
    expect(await rpc.read('getblockcount', [])).toEqual({ kind: 'result', result: 7 })
    expect(calls).toBe(3)
  })

  test('end after their bound, and calls are never repeated', async () => {
    let calls = 0
    const { rpc } = await serve(answering(() => ({ status: 503, body: `busy ${++calls}` })))
    expect(await rpc.read('getblockcount', [])).toMatchObject({ kind: 'unknown', reason: 'status 503 without JSON' })
    expect(calls).toBe(3)
    await rpc.call('sendrawtransaction', [])
    expect(calls).toBe(4)
  })

  test('an error of the node is not asked for again', async () => {
    let calls = 0
    const { rpc } = await serve(
      answering(({ id }) => ({
        status: 500,
        body: JSON.stringify({ id, error: { code: -5, message: String(++calls) } }),
      })),
    )
    expect(await rpc.read('getrawtransaction', [])).toEqual({ kind: 'error', code: -5, message: '1' })
  })
})

describe('credentials', () => {
  test('user and password of the URL become basic authentication and nothing else', async () => {
    let seen: string | undefined
    const { rpc, port } = await serve(
      (request, response) => {
        seen = `${request.headers.authorization} ${request.url}`
        response.writeHead(401).end()
      },
      { userinfo: 'us%3Aer:p%40ss@' },
    )
    const answer = await rpc.call('m', [])
    // printf 'us:er:p@ss' | base64
    expect(seen).toBe('Basic dXM6ZXI6cEBzcw== /node?key=secret')
    expect(rpc.host).toBe(`127.0.0.1:${port}`)
    expect(JSON.stringify([answer, rpc])).not.toMatch(/p@ss|p%40ss|secret|dXM6/)
  })
})

describe('numbers', () => {
  test('that a double may not hold stay text', () => {
    const text =
      '{"a":12,"b":0.10000000,"c":1e-8,"d":92233720368.54775807,"e":9007199254740993,"f":-1,"g":"1.5","h":[2.5,null,true]}'
    expect(parseExact(text)).toEqual({
      a: 12,
      b: '0.10000000',
      c: '1e-8',
      d: '92233720368.54775807',
      e: '9007199254740993',
      f: -1,
      g: '1.5',
      h: ['2.5', null, true],
    })
  })
})
