import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { PATIENCE } from '../../test/support/patience.ts'
import { createSwapyard } from './client.ts'
import type { EventsOptions } from './events.ts'
import { failure, type Respond, reset, silence, startServer } from './server.fixture.ts'

const event = (id: string) => ({ id, type: 'exchange.finished', created: '2026-01-02T03:04:05.000Z', data: {} })
const block = (id: string, end = '\n') =>
  `id: ${id}${end}event: exchange.finished${end}data: ${JSON.stringify(event(id))}${end}${end}`

/** A stream that sends the parts one by one, and then closes or stays open. */
const stream =
  (
    parts: readonly (string | Buffer)[],
    after: (response: ServerResponse) => unknown = (response) => response.end(),
  ): Respond =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.flushHeaders()
    for (const part of parts) {
      response.write(part)
      // Each part leaves as a packet of its own.
      await new Promise((resolve) => void setImmediate(resolve))
    }
    after(response)
  }
const staysOpen = () => undefined

/** The ids of the first events, and the ids that the connections resumed after. */
async function read(answers: readonly Respond[], count: number, options: EventsOptions = {}) {
  const { baseUrl, received } = await startServer(...answers)
  const ids: string[] = []
  if (count > 0)
    for await (const { id } of createSwapyard({ baseUrl, apiKey: 'k' }).events(options)) {
      ids.push(id)
      if (ids.length === count) break
    }
  return { ids, resumedAfter: received.map(({ headers }) => headers['last-event-id'] ?? null), received }
}

describe('events', () => {
  test('come one by one and narrow by their type', async () => {
    const { baseUrl, received } = await startServer(stream([': open\n\n', block('1')], staysOpen))
    for await (const one of createSwapyard({ baseUrl, apiKey: 'k' }).events()) {
      if (one.type !== 'exchange.finished') throw new Error('another type')
      const { data } = one
      // Compiles only for the data of an exchange.
      const status: string | undefined = 'exchange' in data ? data.exchange?.status : undefined
      expect([one.id, status]).toEqual(['1', undefined])
      break
    }
    expect(received[0]).toMatchObject({ url: '/v1/events', headers: { 'x-api-key': 'k' } })
  })

  test('continue after the last whole event when the connection ends or breaks within one', async () => {
    const torn = stream([block('2'), block('3').slice(0, 40)], (response) => response.socket?.resetAndDestroy())
    const answers = [stream([block('1')]), torn, stream([block('3'), block('4')], staysOpen)]
    expect(await read(answers, 4)).toMatchObject({ ids: ['1', '2', '3', '4'], resumedAfter: [null, '1', '2'] })
  })

  test('resume where the stream began if it breaks before its first event', async () => {
    const answers = [stream([': open\nid: start\n\n']), stream([block('1')], staysOpen)]
    expect((await read(answers, 1)).resumedAfter).toEqual([null, 'start'])
    expect((await read([stream([block('1')])], 1, { lastEventId: 'mine' })).resumedAfter).toEqual(['mine'])
  })

  test.each(['\n', '\r\n', '\r'])('are the same with lines that end with %j, cut at every byte', async (end) => {
    const text = `: comment${end}${end}${block('ä\u2028', end)}data: {"id":"2",${end}data: "type":"x"}${end}${end}${block('3', end)}`
    // The last CR of a stream waits for its LF.
    const bytes = Buffer.from(text + (end === '\r' ? ': beat' : ''))
    const parts = Array.from(bytes, (_, n) => bytes.subarray(n, n + 1))
    expect((await read([stream(parts, staysOpen)], 3)).ids).toEqual(['ä\u2028', '2', '3'])
  })

  test('continue through refusals that pass, after `Retry-After`', async () => {
    const codes: string[] = []
    const answers = [failure(503, 'OVERLOADED', { 'retry-after': '0' }), reset, failure(429, 'RATE_LIMIT_EXCEEDED')]
    const onError = ({ code }: { code: string }) => void codes.push(code)
    expect((await read([...answers, stream([block('1')], staysOpen)], 1, { onError })).ids).toEqual(['1'])
    expect(codes).toEqual(['OVERLOADED', 'CONNECTION_FAILED', 'RATE_LIMIT_EXCEEDED'])
  })

  test.each([
    ['retry:', stream(['retry: 3600000\n\n'])],
    ['Retry-After', failure(503, 'OVERLOADED', { 'retry-after': '3600' })],
  ])('wait as long as `%s` says before the next connection', async (_, first) => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const controller = new AbortController()
    const end = new Error('seen')
    const reading = read([first, stream([block('1')], staysOpen)], 1, { signal: controller.signal })
    reading.catch(() => undefined)
    await expect.poll(() => timers.mock.calls.map(([, delayMs]) => delayMs), PATIENCE).toContain(3_600_000)
    timers.mockRestore()
    controller.abort(end)
    await expect(reading).rejects.toBe(end)
  })

  test('wait as long as a timer can if their idle time is longer: it would fire at once', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => void timers.mockRestore())
    const answers = [stream([block('1')], staysOpen)]
    expect((await read(answers, 1, { idleTimeoutMs: Number.POSITIVE_INFINITY })).ids).toEqual(['1'])
    const delays = timers.mock.calls.map(([, delayMs]) => delayMs)
    expect(delays).toContain(2 ** 31 - 1)
    expect(delays).not.toContain(Number.POSITIVE_INFINITY)
  })

  test('connect again after a silence', async () => {
    const answers = [silence, stream([block('1')], staysOpen), stream([block('2')], staysOpen)]
    expect(await read(answers, 2, { idleTimeoutMs: 1_500 })).toMatchObject({
      ids: ['1', '2'],
      resumedAfter: [null, null, '1'],
    })
  })

  test.each([
    ['API_KEY_INVALID', failure(401, 'API_KEY_INVALID')],
    ['EVENT_NOT_FOUND', failure(404, 'EVENT_NOT_FOUND')],
    [
      'INVALID_RESPONSE',
      ((response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')) as Respond,
    ],
    ['INVALID_RESPONSE', stream(['data: {\n\n'])],
  ])('reject with the lasting failure %s', async (code, answer) => {
    await expect(read([answer, stream([block('1')])], 1)).rejects.toMatchObject({ code })
  })

  test('reject an event above the limit', async () => {
    const { baseUrl } = await startServer(stream([`data: ${'x'.repeat(3_000)}`], staysOpen))
    const events = createSwapyard({ baseUrl, maxResponseBytes: 2_000 }).events()
    await expect(events.next()).rejects.toMatchObject({ code: 'INVALID_RESPONSE' })
  })

  test('reject with the reason of the signal, while they wait and between two events', async () => {
    const reason = new Error('the page was closed')
    const controller = new AbortController()
    const { baseUrl } = await startServer(stream([block('1') + block('2')], staysOpen))
    const ids: string[] = []
    const readAll = async (signal: AbortSignal, onId: () => void) => {
      for await (const { id } of createSwapyard({ baseUrl }).events({ signal })) {
        ids.push(id)
        onId()
      }
    }
    await expect(readAll(controller.signal, () => controller.abort(reason))).rejects.toBe(reason)
    expect(ids).toEqual(['1'])
    const second = new AbortController()
    const atTheEnd = () => void (ids.length === 3 && setImmediate(() => second.abort(reason)))
    await expect(readAll(second.signal, atTheEnd)).rejects.toBe(reason)
    expect(ids).toEqual(['1', '1', '2'])
  })

  test('close the connection when the loop ends', async () => {
    let isClosed = false
    const answer: Respond = (response, request) => {
      response.on('close', () => {
        isClosed = true
      })
      void stream([block('1')], staysOpen)(response, request)
    }
    await read([answer], 1)
    await expect.poll(() => isClosed, PATIENCE).toBe(true)
  })
})
