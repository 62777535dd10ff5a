import { afterEach, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { createInterruptions, type Overload, STARTS_TAKE_CORES } from './interruptions.ts'

const [API, OTHER] = ['http://api', 'http://other']
const closings: (() => void)[] = []
afterEach(() => {
  for (const close of closings.splice(0)) close()
})

/** Interruptions of processes that are ready from the moment at which the test adds them to `serving`. */
function create(options: Readonly<{ steadyMs?: number; overload?: Overload }> = { steadyMs: 0 }) {
  const serving = new Set<string>()
  const looked: string[] = []
  const interruptions = createInterruptions({
    isServing: async (url) => {
      looked.push(url)
      return serving.has(url)
    },
    ...options,
  })
  closings.push(interruptions.close)
  return { ...interruptions, serving, looked }
}

test('an interruption lasts until its fault is removed and the process is ready again', async () => {
  const { begin, explain, listOpen, serving, looked } = create()
  serving.add(OTHER)
  const finish = begin('a fault', [API, OTHER], ['503'])
  const names = (urls: string[]) => urls.map((url) => `${url} is not ready since: a fault`)
  expect(listOpen()).toEqual(names([API, OTHER]))
  finish()
  await until('the other one has ended', () => listOpen().length === 1)
  await until('the process is asked again', () => looked.filter((url) => url === API).length > 1)
  expect(listOpen()).toEqual(names([API]))
  expect(explain(API, Date.now(), '503')).toBe(true)
  serving.add(API)
  await until('it has ended', () => listOpen().length === 0)
  const later = Date.now() + 1
  expect(explain(API, later, '503')).toBe(false)
})

test('explains a request that was under way during the interruption, and no other one', async () => {
  const { begin, explain, listOpen, serving } = create()
  serving.add(API)
  const before = Date.now()
  expect(explain(API, before, 'lost')).toBe(false)
  begin('a fault', [API], ['lost'])()
  await until('it has ended', () => listOpen().length === 0)
  expect(explain(API, before, 'lost')).toBe(true)
  expect(explain(API, before, '503')).toBe(false)
  expect(explain(OTHER, before, 'lost')).toBe(false)
  expect(explain(API, Date.now() + 1, 'lost')).toBe(false)
})

test('counts what each interruption explains', () => {
  const { begin, explain, takeCounts } = create()
  begin('a fault', [API], ['503', 'lost'])
  for (const symptom of ['503', 'lost', '503'] as const) explain(API, Date.now(), symptom)
  explain(OTHER, Date.now(), '503')
  expect(takeCounts()).toEqual([`2 times 503 of ${API}: a fault`, `1 times lost of ${API}: a fault`])
  expect(takeCounts()).toEqual([])
})

test('a process must be ready for a while, because it measures its load over a second', async () => {
  const { begin, listOpen, serving, looked } = create({ steadyMs: 300 })
  serving.add(API)
  begin('a fault', [API], ['503'])()
  await until('it was ready', () => looked.length > 0)
  serving.delete(API)
  const count = looked.length
  await until('it is asked again', () => looked.length > count + 5)
  expect(listOpen()).toHaveLength(1)
  serving.add(API)
  await until('it has ended', () => listOpen().length === 0)
})

test('a suite may permit 503 while a process starts, and no lost connection', async () => {
  const { explain, noteStart, takeCounts } = create({ steadyMs: 0, overload: STARTS_TAKE_CORES })
  expect(explain(API, Date.now(), '503')).toBe(false)
  const finish = noteStart()
  expect(explain(API, Date.now(), 'lost')).toBe(false)
  expect(explain(API, Date.now(), '503')).toBe(true)
  expect(takeCounts()).toEqual([`1 times 503 of ${API}: a starting process takes the cores`])
  const other = noteStart()
  finish()
  const since = Date.now()
  expect(explain(API, since, '503')).toBe(true)
  other()
  // A request that was under way during the start.
  expect(explain(API, since, '503')).toBe(true)
  expect(explain(API, Date.now() + 1, '503')).toBe(false)
})

test('a suite without that permission, or without a start, permits none', () => {
  const { explain, noteStart, listExcess } = create()
  noteStart()
  expect(explain(API, Date.now(), '503')).toBe(false)
  expect(listExcess()).toEqual([])
})

test('more than five percent of the answers is a finding, also if all of them are in one second', () => {
  const { explain, noteStart, countAnswer, listExcess } = create({ steadyMs: 0, overload: STARTS_TAKE_CORES })
  noteStart()
  const refuse = () => explain(API, Date.now(), '503')
  for (let n = 0; n < 200; n++) countAnswer()
  expect(Array.from({ length: 10 }, refuse)).not.toContain(false)
  expect(listExcess()).toEqual([])
  expect(refuse()).toBe(true)
  expect(listExcess()).toEqual(['processes that no fault touches answered 11 requests with 503, and 200 otherwise'])
})
