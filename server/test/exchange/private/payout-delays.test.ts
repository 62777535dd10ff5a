import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { ltc, market } from '../money-path.ts'
import { plan as defaultPlan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

/*
 * Each payout of a private exchange waits in the queue for the delay that its plan has for the leg. Only the maximum delay is
 * published, so a delay that is too short would not be noticed from outside.
 */

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

/** The delay of each leg in seconds: longer than the test takes, and different. */
const [FIRST, SECOND] = [3_600, 1_234]
const plan = { ...defaultPlan, delaysMs: [FIRST * 1_000, SECOND * 1_000] }

/** The payouts with their delays, in order. Rounded to seconds, because one statement reads the clock twice. */
function listDelays({ id }: Exchange) {
  return fixture.database.query<{ leg: number; purpose: string; state: string; delay: number }>(
    `select leg, purpose, state, round(extract(epoch from held_until - created_at))::int as delay
     from payouts where exchange_id = $1 and state <> 'void' order by created_at`,
    [id],
  )
}
const endDelay = ({ id }: Exchange) =>
  fixture.database.query(
    "update payouts set held_until = clock_timestamp() - interval '1 second' where exchange_id = $1 and state = 'reserved'",
    [id],
  )

async function payExchange(): Promise<Exchange> {
  const exchange = await fixture.createExchange({ via: ltc, plan })
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(6)
  return exchange
}

describe('a private exchange', () => {
  test('waits for the drawn delay before each payout', async () => {
    const exchange = await payExchange()
    expect(await listDelays(exchange)).toEqual([{ leg: 0, purpose: 'payout', state: 'reserved', delay: FIRST }])
    await endDelay(exchange)
    await fixture.mineBlocks(8)
    expect((await listDelays(exchange)).slice(1)).toEqual([
      { leg: 1, purpose: 'payout', state: 'reserved', delay: SECOND },
    ])
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toEqual([])
    await endDelay(exchange)
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('waits for the delay of its second leg before the refund of that leg', async () => {
    const exchange = await payExchange()
    await endDelay(exchange)
    await fixture.mineBlocks(2)
    // The target's reserve is empty, so the second leg has no quote.
    const reserves = { ...market.reserves, 'eth@eth': 10n ** 12n }
    fixture.books.replace(makeBook({ ...market, reserves, at: Date.now() + 3_600_000 }))
    await fixture.mineBlocks(6)
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    expect((await listDelays(exchange)).slice(1)).toEqual([
      { leg: 1, purpose: 'refund', state: 'reserved', delay: SECOND },
    ])
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toEqual([])
    await endDelay(exchange)
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
  })
})
