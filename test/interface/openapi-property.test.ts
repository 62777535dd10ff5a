import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ask, checkOperations } from '../../server/test/core/http/openapi-property.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { createTableReader } from './tables.ts'

/** A machine that other tests keep busy makes the app refuse work for a moment. */
/** Controls that would move the chains which other tests work with. */
const MOVING = ['/sandbox/deposits', '/sandbox/blocks', '/sandbox/reorgs']

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'ltc', 'eth', 'bsc'] })
  // Blocks would write rows beside those that requests write.
  await scenario.stopWorkers()
})
afterAll(() => scenario.stop())

/** As a partner does: asks again where the app has too much to do. */
const request: Ask = async (method, url, headers, body) => {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const answer = await fetch(scenario.url + url, { method, headers, body })
    const text = await answer.text()
    const busy = answer.status === 503 && text.includes('"code":"OVERLOADED"')
    if (!busy || Date.now() > deadline) {
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: text }
    }
    await delay(100)
  }
}

test('the app keeps the promises of its OpenAPI document, and what it refuses leaves no row', async () => {
  const contents = await createTableReader(scenario)
  const before = await contents()
  const { operations, answers, created } = await checkOperations({
    apiKey: 'sandbox',
    runs: 60,
    seed: 20_260_103,
    includes: (path) => !MOVING.includes(path),
    contents,
    request,
  })
  expect(operations).toBe(23)
  expect(answers).toBeGreaterThan(1_000)
  // The property is worth little where every request is refused.
  expect(created).toBeGreaterThan(5)
  const after = await contents()
  for (const table of ['public.exchanges', 'public.deposit_targets']) {
    expect((after[table]?.rows ?? 0) - (before[table]?.rows ?? 0), table).toBe(created)
  }
})
