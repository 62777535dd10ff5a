import { expect, test } from 'vitest'
import { createSwapyard } from '../client.ts'
import { json, startServer } from '../server.fixture.ts'
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
