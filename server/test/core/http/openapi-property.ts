import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import fc from 'fast-check'
import { badInput, goodInput, type Input } from './openapi-inputs.ts'
import { type Operation, readOperations } from './openapi-operations.ts'

export type PropertyAnswer = { status: number; headers: Record<string, string>; body: string }
/** One HTTP exchange with the server under test, whichever it is. */
export type Ask = (
  method: string,
  url: string,
  headers: Record<string, string>,
  body: string | null,
) => Promise<PropertyAnswer>

export type PropertyOptions = Readonly<{
  request: Ask
  apiKey: string
  /** Inputs per operation, of each kind. */
  runs: number
  seed: number
  /** Which operations to drive; all where it is absent. Leave out what changes the chains of a server that others use. */
  includes?: (path: string) => boolean
  /** Everything that the server keeps, by table, where it can be seen: compared around what is refused. */
  contents?: () => Promise<unknown>
}>

const ANSWER_MS_MAX = 5_000
const CREATES = ['/v1/cross-chain/exchange', '/v1/cross-chain/exchange/private']
const LIST = '/v1/cross-chain/exchange/list'

type AskOperation = (input: Input, headers: Record<string, string>) => Promise<PropertyAnswer>
type Report = { operations: number; answers: number; created: number }

/**
 * Drives every operation of the server's own OpenAPI document with inputs that fit it and inputs that don't, and holds
 * each answer to the document. Rejects with the smallest input that breaks a promise, and the seed that found it.
 * `created` is how many exchanges came of it.
 */
export async function checkOperations(options: PropertyOptions): Promise<Report> {
  const document = await options.request('GET', '/openapi.json', {}, null)
  const includes = options.includes ?? (() => true)
  const operations = readOperations(JSON.parse(document.body)).filter(({ path }) => includes(path))
  const ids = new Set<string>()
  let answers = 0
  for (const operation of operations) {
    const ask: AskOperation = async (input, headers) => {
      answers += 1
      const answer = await answerTo(options.request, operation, input, headers)
      if (CREATES.includes(operation.path) && answer.status === 201) ids.add(JSON.parse(answer.body).id)
      return answer
    }
    await checkOperation(options, operation, ask)
  }
  return { operations: operations.length, answers, created: ids.size }
}

async function checkOperation(options: PropertyOptions, operation: Operation, ask: AskOperation): Promise<void> {
  const parameters = { numRuns: options.runs, seed: options.seed }
  const headers: Record<string, string> = operation.keyed ? { 'x-api-key': options.apiKey } : {}
  const contents = options.contents ?? (async () => listed(options))
  let before = await contents()
  await fc.assert(
    fc.asyncProperty(goodInput(operation), async (input) => {
      const { status } = await ask(input, headers)
      if (operation.method !== 'POST') return
      const after = await contents()
      if (status >= 400) deepEqual(after, before, 'what is refused leaves nothing behind')
      before = after
    }),
    parameters,
  )
  const bad = badInput(operation)
  if (bad) {
    await fc.assert(
      fc.asyncProperty(bad, async (input) => {
        const answer = await ask(input, headers)
        ok([400, 429].includes(answer.status), `expected 400, not ${answer.status} ${answer.body}`)
      }),
      parameters,
    )
  }
  if (operation.keyed) await checkKeyless(operation, ask, options.seed)
  deepEqual(await contents(), before, `${operation.method} ${operation.path} leaves nothing of what it refuses`)
}

async function checkKeyless(operation: Operation, ask: AskOperation, seed: number): Promise<void> {
  const keyless = fc.asyncProperty(goodInput(operation), async (input) => {
    equal((await ask(input, {})).status, 401)
    ok([401, 429].includes((await ask(input, { 'x-api-key': 'no-such-key' })).status))
  })
  await fc.assert(keyless, { numRuns: 5, seed })
}

async function listed({ request, apiKey }: PropertyOptions): Promise<unknown> {
  const answer = await request('GET', `${LIST}?limit=1`, { 'x-api-key': apiKey }, null)
  return (JSON.parse(answer.body) as { total?: unknown }).total
}

async function answerTo(
  request: Ask,
  operation: Operation,
  input: Input,
  headers: Record<string, string>,
): Promise<PropertyAnswer> {
  const query = new URLSearchParams(input.query.map(([name, value]): [string, string] => [name, value])).toString()
  const url = query === '' ? operation.path : `${operation.path}?${query}`
  const type: Record<string, string> = input.body === null ? {} : { 'content-type': 'application/json' }
  const startedAt = performance.now()
  const answer = await request(operation.method, url, { ...input.headers, ...headers, ...type }, input.body)
  ok(performance.now() - startedAt < ANSWER_MS_MAX, 'an answer comes in time')
  checkAnswer(operation, answer)
  return answer
}

function checkAnswer(operation: Operation, { status, headers, body }: PropertyAnswer): void {
  ok(operation.responses.has(status), `${operation.method} ${operation.path} documents no ${status}: ${body}`)
  ok(status < 500 || status === 503, `${status}: ${body}`)
  match(headers['x-request-id'] ?? '', /^.{8,64}$/)
  const documented = operation.responses.get(status)
  if (!documented) {
    equal(body, '')
    return
  }
  ok(headers['content-type']?.startsWith(documented.contentType), `content-type ${headers['content-type']}`)
  if (documented.check === null) return
  const parsed: unknown = JSON.parse(body)
  deepEqual(documented.check.Errors(parsed), [])
  if (status >= 400) checkError(status, headers, parsed as Record<string, unknown>)
}

function checkError(status: number, headers: Record<string, string>, body: Record<string, unknown>): void {
  deepEqual(Object.keys(body).slice(0, 6), ['message', 'error', 'statusCode', 'code', 'requestId', 'errors'])
  equal(body['statusCode'], status)
  equal(body['error'], STATUS_CODES[status])
  equal(body['requestId'], headers['x-request-id'])
  ok(status !== 429 || Number(headers['retry-after']) >= 1)
  ok(!/node_modules|\bat \w+ \(|FST_ERR|select .* from/i.test(JSON.stringify(body)), 'nothing of the inside shows')
}
