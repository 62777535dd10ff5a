import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resolveHost } from './resolve-host.ts'

/** Records of this server by name and type (1 = A, 28 = AAAA). It does not answer for `silent.example`. */
const records: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>> = {
  'both.example': { 1: [8, 8, 8, 8], 28: [0x20, 0x01, 0x48, 0x60, 0x48, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x88] },
  'quick.example': { 1: [8, 8, 4, 4] },
}

let server: Socket
let servers: string[]
beforeAll(async () => {
  server = createSocket('udp4', (query, { port, address }) => {
    const answer = answerTo(query)
    if (answer) server.send(answer, port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  servers = [`127.0.0.1:${server.address().port}`]
})
afterAll(async () => {
  server.close()
  await once(server, 'close')
})

/** RFC 1035 §4.1: the header, the question of the query, and one record or the code 3, "name error". */
function answerTo(query: Buffer): Buffer | null {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const name = labels.join('.').toLowerCase()
  if (name === 'silent.example') return null
  const type = query.readUInt16BE(at + 1)
  const data = records[name]?.[type]
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(name in records ? 0x8180 : 0x8183, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(data ? 1 : 0, 6)
  const record = data ? [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data] : []
  return Buffer.concat([header, query.subarray(12, at + 5), Buffer.from(record)])
}

const failureOf = (work: Promise<unknown>) => work.then(String, ({ code }: NodeJS.ErrnoException) => code)

test('a name has the addresses of both families, and one is enough', async () => {
  expect(await resolveHost('both.example', { servers })).toEqual([
    { address: '8.8.8.8', family: 4 },
    { address: '2001:4860:4860::8888', family: 6 },
  ])
  expect(await resolveHost('quick.example', { servers })).toEqual([{ address: '8.8.4.4', family: 4 }])
})

test('a name that does not exist is refused with the code of DNS', async () => {
  expect(await failureOf(resolveHost('unknown.example', { servers }))).toBe('ENOTFOUND')
})

test('look-ups that get no answer hold no thread, delay no other one, and end', async () => {
  const silent = Array.from({ length: 8 }, () => failureOf(resolveHost('silent.example', { servers, timeoutMs: 500 })))
  expect(process.getActiveResourcesInfo()).not.toContain('GetAddrInfoReqWrap')
  expect(await resolveHost('quick.example', { servers })).toEqual([{ address: '8.8.4.4', family: 4 }])
  expect(await Promise.all(silent)).toEqual(Array(8).fill('ETIMEOUT'))
})

test.each(['localhost', 'localhost.', 'a.localhost'])('%s is loopback, without DNS', async (host) => {
  expect(await resolveHost(host, { servers: ['127.0.0.1:9'] })).toEqual([
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
})
