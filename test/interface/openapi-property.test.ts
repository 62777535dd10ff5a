import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ask, checkOperations } from '../../server/test/core/http/openapi-property.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { createTableReader } from './tables.ts'

/** Controls that would change the chains of other tests, and a stream, which does not end. */
const EXCLUDED_PATHS = ['/sandbox/deposits', '/sandbox/blocks', '/sandbox/reorgs', '/sandbox/mining', '/v1/events']

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'ltc', 'eth', 'bsc'] })
  // Stop the workers, because blocks write rows, too.
  await scenario.stopWorkers()
})
afterAll(() => scenario.stop())

const request: Ask = async (method, url, headers, body) => {
  const answer = await fetch(scenario.url + url, { method, headers, body })
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
}

test('responses match the OpenAPI document, and rejected requests write no rows', async () => {
  const contents = await createTableReader(scenario.app.database)
  const before = await contents()
  const { operations, answers, created } = await checkOperations({
    apiKey: 'sandbox',
    runs: 60,
    seed: 20_260_103,
    includes: (path) => !EXCLUDED_PATHS.includes(path),
    contents,
    request,
  })
  expect(operations).toBe(48)
  expect(answers).toBeGreaterThan(1_000)
  // Some creates must succeed, or the property tests only rejections.
  expect(created).toBeGreaterThan(5)
  const after = await contents()
  for (const table of ['public.exchanges', 'public.deposit_targets']) {
    expect((after[table]?.rows ?? 0) - (before[table]?.rows ?? 0), table).toBe(created)
  }
})
