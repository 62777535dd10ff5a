import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeAggregators, startFakeAggregators } from './fake-aggregators.ts'
import { LOCK_MS, NATIVE, type Stage, startStage, trade } from './partner.ts'

// Decision 0064: an aggregator without callable contracts is compared in quotes only.

const BUDGET_MS = 1_000
let routers: FakeAggregators
let stage: Stage
let asked: Record<string, string>

beforeAll(async () => {
  routers = await startFakeAggregators()
  const { url, key } = routers
  const contracts = new Map([['eth', []]])
  const three = [
    { id: '0x', key, url, contracts },
    { id: 'openocean', key: null, url, contracts },
    { id: 'kyberswap', key: 'swapyard', url, contracts },
  ] as const
  stage = await startStage('eth', { aggregators: { asked: three, budgetMs: BUDGET_MS } })
  const usdc = stage.token('usdc')
  asked = { fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1.5', slippage: '1', referrerFee: '0.5' }
}, LOCK_MS)
afterAll(async () => {
  await stage?.scenario.stop()
  await routers?.stop()
})
beforeEach(() => {
  routers.behave({})
  routers.asked()
})

async function timed(query = asked) {
  const startedAt = performance.now()
  const { status, body } = await stage.quote(query)
  return { status, body, ms: performance.now() - startedAt }
}

describe('alternatives of a quote', () => {
  test('are what others would pay before any fee, the best first, beside our own route', async () => {
    routers.behave({ '0x': { pays: 4_512_345_678n }, openocean: { pays: 4_400_000_000n }, kyberswap: { pays: 1n } })
    const { status, body } = await timed()
    expect(status).toBe(200)
    expect([...routers.asked()].sort()).toEqual(['0x', 'kyberswap', 'openocean'])
    expect(body.alternatives).toEqual([
      { source: '0x', toAmount: '4512.345678' },
      { source: 'openocean', toAmount: '4400' },
      { source: 'kyberswap', toAmount: '0.000001' },
    ])
    // Ours is what is quoted, whoever else would pay more.
    expect(Number(body.toAmount)).toBeGreaterThan(0)
    expect(body.routes.length).toBeGreaterThan(0)
  })

  test('never change what we quote, nor what is built and paid', async () => {
    routers.behave({ '0x': { pays: 10n ** 15n }, openocean: { pays: 10n ** 15n }, kyberswap: { pays: 10n ** 15n } })
    const user = await stage.user()
    const { quote, raws, hash } = await trade(stage, user, { ...asked, referrerFee: '0' } as Parameters<
      typeof trade
    >[2])
    expect(quote.alternatives).toHaveLength(3)
    expect(raws).toHaveLength(1)
    expect((await stage.becomes(hash, 'finished')).amountTo).toBe(quote.receivedAmount)
    // A build asks nobody: only the quote did.
    expect(routers.asked()).toHaveLength(3)
  })

  test('leave out who has no route, fails, or answers nonsense, and cost no time then', async () => {
    routers.behave({ '0x': 'no-route', openocean: 'fails', kyberswap: 'nonsense' })
    const { status, body, ms } = await timed()
    expect([status, body.alternatives]).toEqual([200, []])
    expect(routers.asked()).toHaveLength(3)
    expect(ms).toBeLessThan(BUDGET_MS)
  })

  test('cost the budget at most where others hang, and keep who answered', async () => {
    routers.behave({ '0x': 'hangs', openocean: { pays: 4_400_000_000n }, kyberswap: 'hangs-half-way' })
    const { status, body, ms } = await timed()
    expect(status).toBe(200)
    expect(body.alternatives).toEqual([{ source: 'openocean', toAmount: '4400' }])
    expect(ms).toBeGreaterThanOrEqual(BUDGET_MS - 5)
    // What the app itself takes is far below, on a busy machine too.
    expect(ms).toBeLessThan(BUDGET_MS + 1_000)
  })

  test('of many quotes at once cost the budget once, and leave no connection hanging', async () => {
    routers.behave({ '0x': 'hangs', openocean: 'hangs', kyberswap: 'hangs-half-way' })
    const startedAt = performance.now()
    const answers = await Promise.all(Array.from({ length: 20 }, () => timed()))
    expect(answers.map(({ status, body }) => [status, body.alternatives])).toEqual(answers.map(() => [200, []]))
    expect(performance.now() - startedAt).toBeLessThan(BUDGET_MS + 3_000)
    await stage.scenario.until('connections that hang are closed', async () => (await routers.open()) <= 3)
  })

  test('of a quote that is refused keep nobody waiting', async () => {
    routers.behave({ '0x': 'hangs', openocean: 'hangs', kyberswap: 'hangs' })
    const { body, ms } = await timed({ ...asked, toTokenAddress: stage.token('levy') })
    expect(body).toMatchObject({ statusCode: 422, code: 'NO_ROUTE' })
    expect(ms).toBeLessThan(BUDGET_MS)
  })

  test('name the native coin and its amount as those routers do', async () => {
    routers.behave({
      '0x': { pays: 10n ** 18n },
      openocean: { pays: 2n * 10n ** 18n },
      kyberswap: { pays: 10n ** 17n },
    })
    const { body } = await timed({ ...asked, fromTokenAddress: stage.token('usdc'), toTokenAddress: NATIVE })
    expect(body.alternatives.map(({ toAmount }: { toAmount: string }) => toAmount)).toEqual(['2', '1', '0.1'])
  })
})
