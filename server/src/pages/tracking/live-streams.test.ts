import type { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLiveStreams, type LiveStreamOptions, type Snapshot } from './live-streams.ts'

const LOOK_MS = 2_000
let state: { version: string; pace: Snapshot['pace']; isDraining: boolean; error: Error | null }
beforeEach(() => {
  vi.useFakeTimers()
  state = { version: 'a', pace: 'live', isDraining: false, error: null }
})
afterEach(() => void vi.useRealTimers())

const snapshot = (): Snapshot => ({
  version: state.version,
  render: () => `<p>${state.version}</p>\n<p>second line</p>`,
  pace: state.pace,
})
const look = async () => {
  if (state.error) throw state.error
  return snapshot()
}
const create = (options: Partial<LiveStreamOptions> = {}) =>
  createLiveStreams({ perNetwork: 2, total: 3, isDraining: () => state.isDraining, lookMs: LOOK_MS, ...options })

function collect(stream: Readable | null) {
  const seen = { text: '', isOver: false }
  stream?.on('data', (chunk) => {
    seen.text += chunk
  })
  stream?.on('end', () => {
    seen.isOver = true
  })
  return seen
}

const event = (version: string) => `event: page\nid: ${version}\ndata: <p>${version}</p>\ndata: <p>second line</p>\n\n`

test('a stream sends a state when it changes, and once', async () => {
  const seen = collect(create().open('n', '', snapshot(), look))
  await vi.advanceTimersByTimeAsync(3 * LOOK_MS)
  expect(seen.text).toBe(`retry: 2000\n\n${event('a')}`)
  state.version = 'b'
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(seen.text).toBe(`retry: 2000\n\n${event('a')}${event('b')}`)
})

test('a client that has the state gets it only when it changes', async () => {
  const seen = collect(create().open('n', 'a', snapshot(), look))
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(seen.text).toBe('retry: 2000\n\n')
})

test('a stream ends with the exchange', async () => {
  const seen = collect(create().open('n', '', snapshot(), look))
  Object.assign(state, { version: 'b', pace: 'final' })
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(seen.text.endsWith(`${event('b')}event: end\nid: b\ndata: \n\n`)).toBe(true)
  expect(seen.isOver).toBe(true)
})

test('a stream of a failed exchange ends, and the browser asks again after half a minute', async () => {
  const seen = collect(create().open('n', '', snapshot(), look))
  Object.assign(state, { version: 'b', pace: 'slow' })
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(seen.text.endsWith(`${event('b')}retry: 30000\n\n`)).toBe(true)
  expect(seen.isOver).toBe(true)
})

test('a failed look is repeated, and silence has a heartbeat', async () => {
  const seen = collect(create().open('n', 'a', snapshot(), look))
  state.error = new Error('no database')
  await vi.advanceTimersByTimeAsync(7 * LOOK_MS)
  expect(seen).toEqual({ text: 'retry: 2000\n\n:\n\n', isOver: false })
  Object.assign(state, { error: null, version: 'b' })
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(seen.text).toContain(event('b'))
})

test('streams are limited by network address and in total, and one may follow an ended one', async () => {
  const streams = create()
  const open = (network: string) => streams.open(network, '', snapshot(), look)
  const first = open('one')
  expect([first, open('one')].every(Boolean)).toBe(true)
  expect(open('one')).toBeNull()
  expect(open('two')).not.toBeNull()
  expect(open('three')).toBeNull()
  first?.destroy()
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(open('one')).not.toBeNull()
})

test('streams end when the process drains or closes, and none is opened', async () => {
  const streams = create()
  const seen = collect(streams.open('one', '', snapshot(), look))
  state.isDraining = true
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(seen.isOver).toBe(true)
  expect(streams.open('one', '', snapshot(), look)).toBeNull()
  state.isDraining = false
  const other = collect(streams.open('two', '', snapshot(), look))
  streams.close()
  await vi.advanceTimersByTimeAsync(0)
  expect(other.isOver).toBe(true)
})

test('a stream ends after ten minutes, and a client that does not read is cut off', async () => {
  const streams = create()
  const seen = collect(streams.open('one', '', snapshot(), look))
  const big = { ...snapshot(), version: 'big', render: () => 'x'.repeat(300_000) }
  const unread = streams.open('two', '', big, async () => big)
  await vi.advanceTimersByTimeAsync(LOOK_MS)
  expect(unread?.destroyed).toBe(true)
  await vi.advanceTimersByTimeAsync(599_000)
  expect(seen.isOver).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})
