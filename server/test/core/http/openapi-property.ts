import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import fc from 'fast-check'
import { generateBadInput, generateGoodInput, type Input } from './openapi-inputs.ts'
import { type Operation, readOperations } from './openapi-operations.ts'

export type PropertyAnswer = { status: number; headers: Record<string, string>; body: string }
/** Sends one HTTP request to the server under test. */
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
  /** Selects operations by path; all by default. Exclude operations that change chains which other tests share. */
  includes?: (path: string) => boolean
  /** Reads the server's tables, which a refused request must not change. Default: the number of exchanges. */
  contents?: () => Promise<unknown>
}>

const ANSWER_MS_MAX = 5_000
const CREATES = ['/v1/cross-chain/exchange', '/v1/cross-chain/exchange/private']
const LIST = '/v1/cross-chain/exchange/list'

type AskOperation = (input: Input, headers: Record<string, string>) => Promise<PropertyAnswer>
type Report = { operations: number; answers: number; created: number }

/**
 * Sends valid and invalid inputs to every operation of the server's OpenAPI document, and checks each answer against the
 * document. Rejects with the smallest failing input and its seed. `created` counts the created exchanges.
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
      const answer = await sendRequest(options.request, operation, input, headers)
      if (CREATES.includes(operation.path) && answer.status === 201) ids.add(JSON.parse(answer.body).id)
      return answer
    }
    await checkOperation(options, operation, ask)
  }
  return { operations: operations.length, answers, created: ids.size }
}

async function checkOperation(options: PropertyOptions, operation: Operation, ask: AskOperation): Promise<void> {
  const parameters = { numRuns: options.runs, seed: options.seed }
  const headers: Record<string, string> = operation.needsKey ? { 'x-api-key': options.apiKey } : {}
  const readContents = options.contents ?? (async () => readTotal(options))
  let before = await readContents()
  await fc.assert(
    fc.asyncProperty(generateGoodInput(operation), async (input) => {
      const { status } = await ask(input, headers)
      if (operation.method !== 'POST') return
      const after = await readContents()
      if (status >= 400) deepEqual(after, before, 'a refused request changed stored data')
      before = after
    }),
    parameters,
  )
  const badInputs = generateBadInput(operation)
  if (badInputs) {
    await fc.assert(
      fc.asyncProperty(badInputs, async (input) => {
        const answer = await ask(input, headers)
        ok([400, 429].includes(answer.status), `expected 400, not ${answer.status} ${answer.body}`)
      }),
      parameters,
    )
  }
  if (operation.needsKey) await checkWithoutKey(operation, ask, options.seed)
  deepEqual(await readContents(), before, `a refused ${operation.method} ${operation.path} changed stored data`)
}

async function checkWithoutKey(operation: Operation, ask: AskOperation, seed: number): Promise<void> {
  const requestWithoutKey = fc.asyncProperty(generateGoodInput(operation), async (input) => {
    equal((await ask(input, {})).status, 401)
    ok([401, 429].includes((await ask(input, { 'x-api-key': 'no-such-key' })).status))
  })
  await fc.assert(requestWithoutKey, { numRuns: 5, seed })
}

async function readTotal({ request, apiKey }: PropertyOptions): Promise<unknown> {
  const answer = await request('GET', `${LIST}?limit=1`, { 'x-api-key': apiKey }, null)
  return (JSON.parse(answer.body) as { total?: unknown }).total
}

async function sendRequest(
  request: Ask,
  operation: Operation,
  input: Input,
  headers: Record<string, string>,
): Promise<PropertyAnswer> {
  const query = new URLSearchParams(input.query.map(([name, value]): [string, string] => [name, value])).toString()
  const path = input.path.reduce(
    (text, [name, value]) => text.replace(`{${name}}`, () => encodeURIComponent(value)),
    operation.path,
  )
  const url = query === '' ? path : `${path}?${query}`
  const type: Record<string, string> = input.body === null ? {} : { 'content-type': 'application/json' }
  const startedAt = performance.now()
  const answer = await request(operation.method, url, { ...input.headers, ...headers, ...type }, input.body)
  ok(performance.now() - startedAt < ANSWER_MS_MAX, `no answer within ${ANSWER_MS_MAX} ms`)
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
  ok(!/node_modules|\bat \w+ \(|FST_ERR|select .* from/i.test(JSON.stringify(body)), 'the error reveals internals')
}
