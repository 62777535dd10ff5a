import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createSwapyard } from '../client.ts'
import { failure, json, type Respond, startServer } from '../server.fixture.ts'
import { readArguments } from './arguments.ts'
import { exchange } from './exchange-commands.ts'

const expiresAt = '2026-01-03T03:04:05.678Z'
const fixedUntil = '2026-01-02T03:24:05.678Z'

/** What the command prints beside its result. */
async function createWith(flow: string, created: object): Promise<readonly string[]> {
  const request = { depositAddress: 'bc1qdeposit', amountFromRequested: '0.1', fromCurrency: 'btc', fromNetwork: 'btc' }
  const { baseUrl } = await startServer(json({ id: 'x-1', request, expiresAt, ...created }, 201))
  const lines: string[] = []
  const args = [
    'exchange',
    'btc@btc',
    'eth@eth',
    '0.1',
    '--flow',
    flow,
    '--rate-id',
    'r-1',
    '--address',
    '0x1',
    '--no-wait',
  ]
  const code = await exchange({
    swapyard: createSwapyard({ baseUrl, apiKey: 'sandbox' }),
    args: readArguments(args),
    timeoutMs: undefined,
    progress: (line) => void lines.push(line),
    result: () => undefined,
  })
  expect(code).toBe(0)
  return lines
}

test('a fixed rate is printed with the time until which it holds, which is before that of the exchange', async () => {
  const lines = await createWith('fixed-rate', { fixedUntil })
  expect(lines).toContain(`send 0.1 btc on btc before ${expiresAt} to`)
  expect(lines).toContain(`the rate is fixed for a payment that is seen before ${fixedUntil}`)
})

test('a floating rate has no such time', async () => {
  const lines = await createWith('standard', { fixedUntil: null })
  expect(lines.filter((line) => line.includes('fixed'))).toEqual([])
})

/** The program against a server with these answers. */
async function runCli(args: readonly string[], ...answers: readonly Respond[]) {
  const { baseUrl, received } = await startServer(...answers)
  const child = spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url)), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { SWAPYARD_URL: baseUrl, SWAPYARD_API_KEY: 'sandbox' },
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const errors = await text(child.stderr)
  return { code: await ended, errors, key: received.at(-1)?.headers['idempotency-key'] }
}

describe('a create', () => {
  const html: Respond = (response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in</p>')
  const overloaded = failure(503, 'OVERLOADED', { 'retry-after': '0' })
  const exchangeArgs = ['exchange', 'btc@btc', 'eth@eth', '0.1', '--address', '0x1', '--no-wait']

  test.each([
    ['503', overloaded],
    ['408', failure(408, 'REQUEST_TIMEOUT', { 'retry-after': '0' })],
    ['HTML', html],
  ])('whose result is unknown after %s: exit code 6 with the key of a repeat', async (_, answer) => {
    const { code, errors, key } = await runCli(exchangeArgs, answer)
    expect(errors).toContain(`repeat the command with --idempotency-key ${key}\n`)
    expect(code).toBe(6)
  })

  test('at a fixed rate is repeated with the rate id of the first run, too', async () => {
    const { errors, key } = await runCli([...exchangeArgs, '--flow', 'fixed-rate'], json({ rateId: 'r-7' }), overloaded)
    expect(errors).toContain(`--idempotency-key ${key} --rate-id r-7\n`)
  })

  test('that the API refuses is not to be repeated: exit code 3', async () => {
    const { code, errors } = await runCli(exchangeArgs, failure(422, 'PAIR_UNAVAILABLE'))
    expect(errors).not.toContain('--idempotency-key')
    expect(code).toBe(3)
  })
})

describe('a wait that fails after the create', () => {
  const args = ['exchange', 'btc@btc', 'eth@eth', '0.1', '--address', '0x1']
  const request = { depositAddress: 'bc1qdeposit', amountFromRequested: '0.1', fromCurrency: 'btc', fromNetwork: 'btc' }
  const created = json({ id: 'x-1', request, expiresAt, fixedUntil: null }, 201)
  const hint = 'continue with swapyard-partner status x-1 --wait\n'

  test('without a valid answer names the command that continues, and no key of a repeat: exit code 6', async () => {
    const html: Respond = (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
    const { code, errors } = await runCli(args, created, html)
    expect(errors).toContain(hint)
    expect(errors).not.toContain('--idempotency-key')
    expect(code).toBe(6)
  })

  test('by its time names the command that continues: exit code 5', async () => {
    const pending = json({ type: 'standard', exchange: { id: 'x-1', status: 'pending', statusReason: null } })
    const { code, errors } = await runCli([...args, '--timeout', '1'], created, pending)
    expect(errors).toContain(hint)
    expect(code).toBe(5)
  })
})

test('a swap has no key to repeat, so none is named', async () => {
  const quoted = json({ fromAmount: '1', toAmount: '1' })
  const args = ['swap', 'base', 'a', 'b', '1', '--account', '0x1', '--hash', '0x2']
  const { code, errors } = await runCli(args, quoted, failure(500, 'INTERNAL', { 'retry-after': '0' }))
  expect(errors).not.toContain('--idempotency-key')
  expect(code).toBe(6)
})
