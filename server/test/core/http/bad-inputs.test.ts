import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { errorCodes } from '../../../src/core/domain/errors.ts'
import { createTestApp, goodRate, listen, type TestApp } from './app-for-tests.ts'
import type { Answer, BadInput, Sent } from './bad-input-case.ts'
import { createDestinations, createTerms } from './bad-inputs-create.ts'
import { framing } from './bad-inputs-framing.ts'
import { rateInputs } from './bad-inputs-rate.ts'
import { reads } from './bad-inputs-reads.ts'

/** The corpus lies beside the repository where it is developed; it is not part of it. */
const corpus = new URL('../../../../../shared/vectors/bad_inputs.jsonl', import.meta.url)
const ours = (id: string) => id >= 'B001' && id <= 'B119'
const cases: readonly BadInput[] = [...framing, ...rateInputs, ...createTerms, ...createDestinations, ...reads]
const listed = existsSync(corpus) ? readCorpus() : null
if (listed === null) console.info('bad inputs: the corpus is not beside the repository, its ids are not compared')

let scenario: TestApp

beforeEach(() => {
  scenario = createTestApp({ requestTimeoutMs: 1_000, headersTimeoutMs: 1_000 })
})
afterEach(() => scenario.app.close())

describe('bad inputs', () => {
  test('that are not tested here are tested in a file that exists, or wait for an issue', () => {
    const reasons = cases.flatMap((row) => ('elsewhere' in row ? [row.elsewhere] : []))
    const root = new URL('../../../../', import.meta.url)
    const isTrue = (reason: string) => reason.startsWith('a later issue: ') || existsSync(new URL(reason, root))
    expect(reasons.filter((reason) => !isTrue(reason))).toEqual([])
  })

  test.skipIf(listed === null)('every row of the corpus is here, once', () => {
    expect(cases.map(({ id }) => id)).toEqual([...(listed?.keys() ?? [])])
  })

  test.each(cases.filter((row) => !('elsewhere' in row)).map((row) => [row.id, row] as const))(
    '%s',
    async (_id, row) => {
      if ('elsewhere' in row) return
      const answers = await answersTo(row)
      expect(answers.length).toBeGreaterThan(0)
      for (const answer of answers) {
        expect(row.status).toContain(answer.status)
        if (answer.status >= 400) expectErrorShape(answer, row.codes ?? [])
      }
      if ('also' in row) row.also?.(answers, scenario)
      await expectAlive()
    },
  )
})

function readCorpus(): Map<string, unknown> {
  const rows = readFileSync(corpus, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string })
  return new Map(rows.filter(({ id }) => ours(id)).map((row) => [row.id, row]))
}

async function answersTo(row: Exclude<BadInput, { elsewhere: string }>): Promise<Answer[]> {
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
  return Promise.all(all.map((bytes) => exchangeBytes(port, bytes)))
}

/** Writes, and reads until the server closes. An interim 100 is passed over. */
function exchangeBytes(port: number, bytes: string): Promise<Answer> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    // The server may reset what it will not read to its end.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => resolve(parseAnswer(text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, ''))))
  })
}

function parseAnswer(text: string): Answer {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(': ', 2) as [string, string]))
  return { status: Number(statusLine.split(' ')[1]), headers, body }
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

async function expectAlive(): Promise<void> {
  const health = await send({ url: '/health/live' })
  expect(health.status).toBe(200)
  const good = await send({
    url: `/v1/cross-chain/rate?${new URLSearchParams(goodRate)}`,
    headers: { 'x-api-key': 'sandbox' },
  })
  expect(good.status).toBe(200)
}
