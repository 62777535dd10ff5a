import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeAggregators, startFakeAggregators } from './fake-aggregators.ts'
import { LOCK_MS, NATIVE, type Stage, startStage, trade } from './partner.ts'

// Decision 0064: an aggregator without callable contracts is compared in quotes only.

/** Far above the app's own time for a quote on a busy machine. Cases with a silent aggregator wait this long. */
const BUDGET_MS = 8_000
let aggregators: FakeAggregators
let stage: Stage
let request: Record<string, string>

beforeAll(async () => {
  aggregators = await startFakeAggregators()
  const { url, key } = aggregators
  const contracts = new Map([['eth', []]])
  const three = [
    { id: '0x', key, url, contracts },
    { id: 'openocean', key: null, url, contracts },
    { id: 'kyberswap', key: 'swapyard', url, contracts },
  ] as const
  stage = await startStage('eth', { aggregators: { asked: three, budgetMs: BUDGET_MS } })
  const usdc = stage.token('usdc')
  request = { fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1.5', slippage: '1', referrerFee: '0.5' }
}, LOCK_MS)
afterAll(async () => {
  await stage?.scenario.stop()
  await aggregators?.stop()
})
beforeEach(() => {
  aggregators.behave({})
  aggregators.takeRequests()
})

async function timed(query = request) {
  const startedAt = performance.now()
  const { status, body } = await stage.quote(query)
  return { status, body, ms: performance.now() - startedAt }
}

describe('alternatives of a quote', () => {
  test('list the quotes of aggregators before any fee, best first', async () => {
    aggregators.behave({ '0x': { pays: 4_512_345_678n }, openocean: { pays: 4_400_000_000n }, kyberswap: { pays: 1n } })
    const { status, body } = await timed()
    expect(status).toBe(200)
    expect([...aggregators.takeRequests()].sort()).toEqual(['0x', 'kyberswap', 'openocean'])
    expect(body.alternatives).toEqual([
      { source: '0x', toAmount: '4512.345678' },
      { source: 'openocean', toAmount: '4400' },
      { source: 'kyberswap', toAmount: '0.000001' },
    ])
    // Our own route is quoted even if an aggregator would pay more.
    expect(Number(body.toAmount)).toBeGreaterThan(0)
    expect(body.routes.length).toBeGreaterThan(0)
  })

  test('never change our quote, nor the built swap', async () => {
    aggregators.behave({ '0x': { pays: 10n ** 15n }, openocean: { pays: 10n ** 15n }, kyberswap: { pays: 10n ** 15n } })
    const user = await stage.user()
    const { quote, raws, hash } = await trade(stage, user, { ...request, referrerFee: '0' } as Parameters<
      typeof trade
    >[2])
    expect(quote.alternatives).toHaveLength(3)
    expect(raws).toHaveLength(1)
    expect((await stage.becomes(hash, 'finished')).amountTo).toBe(quote.receivedAmount)
    // Only the quote asks aggregators, the build does not.
    expect(aggregators.takeRequests()).toHaveLength(3)
  })

  test('omit aggregators without a route, with an error or with an invalid reply, without delay', async () => {
    aggregators.behave({ '0x': 'no-route', openocean: 'fails', kyberswap: 'nonsense' })
    const { status, body, ms } = await timed()
    expect([status, body.alternatives]).toEqual([200, []])
    expect(aggregators.takeRequests()).toHaveLength(3)
    expect(ms).toBeLessThan(BUDGET_MS)
  })

  test('take at most the budget if aggregators hang, and keep the others', async () => {
    aggregators.behave({ '0x': 'hangs', openocean: { pays: 4_400_000_000n }, kyberswap: 'hangs-half-way' })
    const { status, body, ms } = await timed()
    expect(status).toBe(200)
    expect(body.alternatives).toEqual([{ source: 'openocean', toAmount: '4400' }])
    expect(ms).toBeGreaterThanOrEqual(BUDGET_MS - 5)
    // Waiting for one after the other would take twice the budget.
    expect(ms).toBeLessThan(2 * BUDGET_MS)
  })

  test('of concurrent quotes take the budget once and leave no connection open', async () => {
    aggregators.behave({ '0x': 'hangs', openocean: 'hangs', kyberswap: 'hangs-half-way' })
    const startedAt = performance.now()
    const answers = await Promise.all(Array.from({ length: 20 }, () => timed()))
    expect(answers.map(({ status, body }) => [status, body.alternatives])).toEqual(answers.map(() => [200, []]))
    expect(performance.now() - startedAt).toBeLessThan(2 * BUDGET_MS)
    await stage.scenario.until(
      'hanging connections are closed',
      async () => (await aggregators.countConnections()) <= 3,
    )
  })

  test('do not delay a quote that is refused', async () => {
    aggregators.behave({ '0x': 'hangs', openocean: 'hangs', kyberswap: 'hangs' })
    const { body, ms } = await timed({ ...request, toTokenAddress: stage.token('levy') })
    expect(body).toMatchObject({ statusCode: 422, code: 'NO_ROUTE' })
    expect(ms).toBeLessThan(BUDGET_MS)
  })

  test('name native currency and its amount as the aggregators do', async () => {
    aggregators.behave({
      '0x': { pays: 10n ** 18n },
      openocean: { pays: 2n * 10n ** 18n },
      kyberswap: { pays: 10n ** 17n },
    })
    const { body } = await timed({ ...request, fromTokenAddress: stage.token('usdc'), toTokenAddress: NATIVE })
    expect(body.alternatives.map(({ toAmount }: { toAmount: string }) => toAmount)).toEqual(['2', '1', '0.1'])
  })
})
