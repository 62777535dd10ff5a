import { describe, expect, test } from 'vitest'
import { createSwapyard } from './client.ts'
import { failure, json, reset, startServer } from './server.fixture.ts'

const answer = (status: string, more = {}) => json({ type: 'standard', exchange: { id: '1', status, ...more } })
const fast = { minIntervalMs: 1, maxIntervalMs: 2 }

describe('waitForExchange', () => {
  test.each(['finished', 'failed', 'refunded'])('resolves once the status is %s', async (status) => {
    const { baseUrl, received } = await startServer(answer('pending'), answer('confirming'), answer(status))
    expect(await createSwapyard({ baseUrl }).waitForExchange({ id: '1' }, fast)).toMatchObject({ status })
    expect(received.map(({ url }) => url)).toEqual(Array(3).fill('/v1/cross-chain/exchange/status?id=1'))
  })

  test('reports each change once', async () => {
    const { baseUrl } = await startServer(
      ...[answer('pending'), answer('pending'), answer('confirming', { confirmationsSeen: 0 })],
      ...[
        answer('confirming', { confirmationsSeen: 1 }),
        answer('confirming', { confirmationsSeen: 1 }),
        answer('finished'),
      ],
    )
    const seen: string[] = []
    const onChange = ({ status, confirmationsSeen = 0 }: { status: string; confirmationsSeen?: number }) =>
      void seen.push(`${status} ${confirmationsSeen}`)
    await createSwapyard({ baseUrl }).waitForExchange({ id: '1' }, { ...fast, onChange })
    expect(seen).toEqual(['pending 0', 'confirming 0', 'confirming 1', 'finished 0'])
  })

  test('continues through an outage and reports it', async () => {
    const { baseUrl } = await startServer(answer('pending'), reset, failure(500, 'INTERNAL'), answer('finished'))
    const failures: string[] = []
    const swapyard = createSwapyard({ baseUrl, retries: 0 })
    await swapyard.waitForExchange({ id: '1' }, { ...fast, onError: ({ code }) => void failures.push(code) })
    expect(failures).toEqual(['CONNECTION_FAILED', 'INTERNAL'])
  })

  test('waits for the Retry-After of a failure', async () => {
    const later = failure(503, 'OVERLOADED', { 'retry-after': '3600' })
    const { baseUrl, received } = await startServer(later, answer('finished'))
    const swapyard = createSwapyard({ baseUrl, retries: 0 })
    const wait = swapyard.waitForExchange({ id: '1' }, { ...fast, timeoutMs: 500 })
    await expect(wait).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' })
    expect(received).toHaveLength(1)
  })

  test('rejects with a lasting failure', async () => {
    const { baseUrl } = await startServer(failure(404, 'EXCHANGE_NOT_FOUND'))
    const wait = createSwapyard({ baseUrl }).waitForExchange({ id: '1' }, fast)
    await expect(wait).rejects.toMatchObject({ code: 'EXCHANGE_NOT_FOUND' })
  })

  test('rejects with WAIT_TIMEOUT after its time', async () => {
    const { baseUrl } = await startServer(answer('verifying'))
    const wait = createSwapyard({ baseUrl }).waitForExchange({ id: '1' }, { ...fast, timeoutMs: 500 })
    await expect(wait).rejects.toMatchObject({ code: 'WAIT_TIMEOUT', statusCode: null })
  })

  test('rejects with the reason of its signal, also between two reads', async () => {
    const { baseUrl, received } = await startServer(answer('pending'))
    const controller = new AbortController()
    const reason = new Error('the page was closed')
    const wait = createSwapyard({ baseUrl }).waitForExchange(
      { id: '1' },
      { minIntervalMs: 3_600_000, signal: controller.signal, onChange: () => controller.abort(reason) },
    )
    await expect(wait).rejects.toBe(reason)
    expect(received).toHaveLength(1)
  })
})

test('waitForSwap finds a swap by its hash and resolves once it is final', async () => {
  const { baseUrl, received } = await startServer(
    json({ status: 'pending' }),
    json({ status: 'failed', statusReason: 'reverted' }),
  )
  const swap = await createSwapyard({ baseUrl }).waitForSwap({ hash: '0x12' }, fast)
  expect(swap).toEqual({ status: 'failed', statusReason: 'reverted' })
  expect(received[0]?.url).toBe('/v1/defi/exchange/status?hash=0x12')
})
