import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createOutwardHttp, type OutwardHttp, type OutwardOptions } from './outward-http.ts'

const clients: OutwardHttp[] = []
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const close of closers.splice(0)) await close()
})

function create(options: OutwardOptions): OutwardHttp {
  const client = createOutwardHttp(options)
  clients.push(client)
  return client
}

/** Answers each look-up of a host with the next of these lists. */
const resolveTo = (...lists: readonly string[][]): NonNullable<OutwardOptions['lookup']> => {
  let n = 0
  return async () => {
    const addresses = lists[Math.min(n++, lists.length - 1)] ?? []
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}

/** A listener on loopback that counts connections. */
async function countConnections(): Promise<{ port: number; count(): number }> {
  let count = 0
  const server = createTcpServer((socket) => {
    count++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  return { port: (server.address() as AddressInfo).port, count: () => count }
}

describe('in production', () => {
  test.each([
    ['http://partner.example/hook', 'it must begin with https://'],
    ['ftp://partner.example/', 'it must begin with https://'],
    ['partner.example', 'it is not a URL'],
    ['https://', 'it is not a URL'],
    ['https://user:pass@partner.example/', 'it contains credentials'],
    ['https://user@partner.example/', 'it contains credentials'],
    ['https://127.0.0.1/', 'its address is not public'],
    // Other forms of 127.0.0.1 that system resolvers accept.
    ['https://2130706433/', 'its address is not public'],
    ['https://0x7f.1/', 'its address is not public'],
    ['https://0177.0.0.1/', 'its address is not public'],
    ['https://127.1/', 'its address is not public'],
    ['https://[::1]/', 'its address is not public'],
    ['https://[::ffff:127.0.0.1]/', 'its address is not public'],
    ['https://[::ffff:a00:1]/', 'its address is not public'],
    ['https://169.254.169.254/latest/meta-data', 'its address is not public'],
  ])('B169 %s is refused: %s', async (url, problem) => {
    const client = create({ allowsAll: false, lookup: resolveTo(['8.8.8.8']) })
    expect(await client.findProblem(url)).toBe(problem)
    expect(await client.post(url, {}, '')).toEqual({ status: null, error: problem })
  })

  test('a public name and a public address may be called, and a name that does not resolve now, too', async () => {
    expect(
      await create({ allowsAll: false, lookup: resolveTo(['8.8.8.8', '2001:4860:4860::8888']) }).findProblem(
        'https://a.example/',
      ),
    ).toBeNull()
    expect(await create({ allowsAll: false }).findProblem('https://8.8.8.8/hook')).toBeNull()
    const unknown = () => Promise.reject(new Error('ENOTFOUND'))
    expect(await create({ allowsAll: false, lookup: unknown }).findProblem('https://a.example/')).toBeNull()
  })

  test('a name with one private address among public ones is refused at the create and at each call', async () => {
    const { port, count } = await countConnections()
    const client = create({ allowsAll: false, lookup: resolveTo(['8.8.8.8', '127.0.0.1']) })
    expect(await client.findProblem(`https://a.example:${port}/`)).toBe('its host has an address that is not public')
    expect(await client.post(`https://a.example:${port}/`, {}, '{}')).toEqual({
      status: null,
      error: 'its host has an address that is not public',
    })
    expect(count()).toBe(0)
  })

  test('a name that is public when it is checked and private when it is called is refused, without a connection', async () => {
    const { port, count } = await countConnections()
    const client = create({ allowsAll: false, lookup: resolveTo(['8.8.8.8'], ['127.0.0.1']) })
    expect(await client.findProblem(`https://a.example:${port}/`)).toBeNull()
    expect((await client.post(`https://a.example:${port}/`, {}, '{}')).error).toBe(
      'its host has an address that is not public',
    )
    expect(count()).toBe(0)
  })

  test('a look-up of a host holds no thread of the process', async () => {
    const checked = create({ allowsAll: false }).findProblem('https://host.invalid/')
    expect(process.getActiveResourcesInfo()).not.toContain('GetAddrInfoReqWrap')
    expect(await checked).toBeNull()
  })

  test('localhost is refused', async () => {
    const { port, count } = await countConnections()
    const client = create({ allowsAll: false })
    expect(await client.findProblem(`https://localhost:${port}/`)).toBe('its host has an address that is not public')
    expect((await client.post(`https://localhost:${port}/`, {}, '{}')).status).toBeNull()
    expect(count()).toBe(0)
  })
})

test('the sandbox may call http and loopback, but no URL with credentials', async () => {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (chunk: string) => bodies.push(chunk))
    request.on('end', () => response.writeHead(202).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const client = create({ allowsAll: true })
  expect(await client.findProblem(url)).toBeNull()
  expect(await client.post(url, { 'content-type': 'application/json' }, '{"a":1}')).toEqual({
    status: 202,
    error: null,
  })
  expect(bodies).toEqual(['{"a":1}'])
  expect(await client.findProblem('http://user:pass@127.0.0.1/')).toBe('it contains credentials')
})
