import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hasTestOf } from '../../../../test/support/test-titles.ts'
import { readOwnVectors } from '../../../../test/support/vectors.ts'
import { errorCodes } from '../../../src/core/domain/errors.ts'
import { exchangeFamilies, type Family, swapFamilies } from '../../../src/core/domain/network.ts'
import { createTestApp, goodRate, listen, type TestApp } from './app-for-tests.ts'
import { type Answer, type BadInput, inUnserved, type Missing, type Sent } from './bad-input-case.ts'
import { createDestinations, createTerms } from './bad-inputs-create.ts'
import { framing } from './bad-inputs-framing.ts'
import { rateInputs } from './bad-inputs-rate.ts'
import { reads } from './bad-inputs-reads.ts'
import { operatorInputs, swapInputs } from './bad-inputs-swaps.ts'
import { sendOnSocket } from './send-on-socket.ts'

const cases: readonly BadInput[] = [
  ...framing,
  ...rateInputs,
  ...createTerms,
  ...createDestinations,
  ...reads,
  ...swapInputs,
  ...operatorInputs,
]
type Elsewhere = Extract<BadInput, { elsewhere: string }>
type Executed = Exclude<BadInput, Elsewhere>
const isExecuted = (row: BadInput): row is Executed => !('elsewhere' in row)

const corpus = readOwnVectors<readonly { id: string; endpoint: string }[]>('bad_inputs.jsonl')
const endpoints = new Map(corpus.map(({ id, endpoint }) => [id, endpoint]))

/** The families that the half of an endpoint serves. */
const familiesOf = (endpoint: string): readonly Family[] =>
  endpoint.includes('/v1/defi') ? swapFamilies : exchangeFamilies

/** False as soon as the program could answer what the corpus expects of this endpoint. */
const isStillMissing = ({ family }: Pick<Missing, 'family'>, endpoint: string): boolean =>
  !familiesOf(endpoint).includes(family)

let scenario: TestApp

beforeEach(() => {
  scenario = createTestApp({ requestTimeoutMs: 1_000, headersTimeoutMs: 1_000 })
})
afterEach(() => scenario.app.close())

describe('bad inputs', () => {
  test('are those of the corpus, each once', () => {
    expect(corpus).toHaveLength(169)
    expect(cases.map(({ id }) => id)).toEqual(corpus.map(({ id }) => id))
  })

  test('that another file tests are in the title of a test there', () => {
    const root = new URL('../../../../', import.meta.url)
    // `test/interface/bad-inputs.test.ts` runs this table, and compares it with the rows of this corpus.
    const elsewhere = cases.filter((row) => 'elsewhere' in row && row.elsewhere !== inUnserved) as Elsewhere[]
    expect(elsewhere.length).toBeGreaterThan(70)
    const untitled = elsewhere.filter(
      ({ id, elsewhere: file }) =>
        !(file.endsWith('.test.ts') && hasTestOf(id, readFileSync(new URL(file, root), 'utf8'))),
    )
    expect(untitled).toEqual([])
  })

  test('are found in titles only: not in comments, and not in tests that are skipped', () => {
    const source = [
      '// B001 is tested here',
      "const note = 'B002'",
      "  testRow('B003', 'rejects', run)",
      'test(',
      "  'rejects (B004)',",
      "test.each(rows)('%s, B005', run)",
      "test.skip('B006', run)",
      "// test('B007', run)",
    ]
    const ids = ['B001', 'B002', 'B003', 'B004', 'B005', 'B006', 'B007', 'B00']
    expect(ids.filter((id) => hasTestOf(id, source.join('\n')))).toEqual(['B003', 'B004', 'B005'])
  })

  test('are only answered otherwise while their chain family is missing', () => {
    const missing = cases.flatMap((row) =>
      'elsewhere' in row && row.missing ? [{ id: row.id, missing: row.missing }] : [],
    )
    const endpointOf = (id: string) => endpoints.get(id) ?? ''
    expect(
      missing.filter(({ id, ...row }) => !isStillMissing(row.missing, endpointOf(id))).map(({ id }) => id),
    ).toEqual([])
    expect(missing.map(({ id }) => id)).toEqual('B077 B078 B087 B088'.split(' '))
    // A family that exists is no excuse.
    const [create, send] = ['POST /v1/cross-chain/exchange', 'POST /v1/defi/send/swap']
    expect(isStillMissing({ family: 'monero' }, create)).toBe(false)
    // Solana is served for swaps alone.
    expect(isStillMissing({ family: 'solana' }, create)).toBe(true)
    expect(isStillMissing({ family: 'solana' }, send)).toBe(false)
  })

  test.each(cases.filter(isExecuted).map((row) => [row.id, row] as const))('%s', async (_id, row) => {
    const answers = await collectAnswers(row)
    expect(answers.length).toBeGreaterThan(0)
    for (const answer of answers) {
      expect(row.status).toContain(answer.status)
      if (answer.status >= 400) expectErrorShape(answer, row.codes ?? [])
    }
    if ('also' in row) row.also?.(answers, scenario)
    await expectServerUp()
  })
})

async function collectAnswers(row: Executed): Promise<Answer[]> {
  if ('bytes' in row) return sendBytes(row.bytes)
  const requests = typeof row.requests === 'function' ? await row.requests(scenario) : row.requests
  return Promise.all(requests.map(send))
}

async function send({ method = 'GET', url, headers = {}, body }: Sent): Promise<Answer> {
  const answer = await scenario.app.inject({
    method: method as 'GET',
    url,
    headers,
    ...(body === undefined ? {} : { payload: body }),
  })
  return { status: answer.statusCode, headers: answer.headers as Record<string, string>, body: answer.body }
}

async function sendBytes(all: readonly string[]): Promise<Answer[]> {
  const port = await listen(scenario.app)
  return Promise.all(all.map((bytes) => sendOnSocket(port, bytes)))
}

function expectErrorShape({ status, headers, body }: Answer, codes: readonly string[]): void {
  expect(headers['content-type']).toMatch(/^application\/json/)
  const parsed = JSON.parse(body)
  expect(Object.keys(parsed)).toEqual(['message', 'error', 'statusCode', 'code', 'requestId', 'errors'])
  expect(parsed.statusCode).toBe(status)
  expect(codes).toContain(parsed.code)
  expect(parsed.requestId).toBe(headers['x-request-id'])
  expect(parsed.errors.every(({ code }: { code: string }) => code in errorCodes)).toBe(true)
  expect(body).not.toMatch(/node_modules|\.ts:|at \w+ \(|FST_|select |127\.0\.0\.1|Error:/)
}

async function expectServerUp(): Promise<void> {
  const health = await send({ url: '/health/live' })
  expect(health.status).toBe(200)
  const rate = await send({
    url: `/v1/cross-chain/rate?${new URLSearchParams(goodRate)}`,
    headers: { 'x-api-key': 'sandbox' },
  })
  expect(rate.status).toBe(200)
}
