import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createHttp, type Http } from './http.ts'

const open: { server: Server; http: Http }[] = []

afterEach(async () => {
  for (const { server, http } of open.splice(0)) {
    await http.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serve(listener: RequestListener): Promise<{ http: Http; url: string }> {
  const server = createServer(listener)
  const http = createHttp()
  open.push({ server, http })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { http, url: `http://127.0.0.1:${address.port}/` }
}

describe('outgoing HTTP', () => {
  test('answers with status, headers and body, whatever the status', async () => {
    const { http, url } = await serve((_request, response) => response.writeHead(503, { 'x-a': 'b' }).end('later'))
    const answer = await http.call({ url, method: 'POST', body: '{}' })
    expect(answer).toMatchObject({ kind: 'answer', status: 503, headers: { 'x-a': 'b' } })
    expect(answer.kind === 'answer' && answer.body.toString()).toBe('later')
  })

  test('does not follow redirects', async () => {
    const { http, url } = await serve((_request, response) => response.writeHead(302, { location: '/elsewhere' }).end())
    expect(await http.call({ url })).toMatchObject({ kind: 'answer', status: 302 })
  })

  test('gives up on a reply that is too long, without its end', async () => {
    const { http, url } = await serve((_request, response) => {
      response.writeHead(200)
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        response.once('drain', write)
      }
      write()
    })
    expect(await http.call({ url, replyBytesMax: 100_000 })).toMatchObject({
      kind: 'unknown',
      reason: 'the reply is too long',
    })
  })

  test('gives up on a reply that drips', async () => {
    const { http, url } = await serve((_request, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('.'), 20)
      response.once('close', () => clearInterval(timer))
    })
    expect(await http.call({ url, timeoutMs: 200 })).toMatchObject({ kind: 'unknown', reason: 'timeout' })
  })

  test('reports an unknown outcome if the port is closed', async () => {
    const { http, url } = await serve(() => undefined)
    const closed = open[0]?.server
    await new Promise((resolve) => closed?.close(resolve))
    expect(await http.call({ url })).toMatchObject({ kind: 'unknown', reason: 'ECONNREFUSED' })
  })
})
