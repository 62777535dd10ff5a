import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { ltc, market } from '../money-path.ts'
import { SMALL, startPrivateMoneyPath, plan as usual } from './private-money-path.ts'

/*
 * Each payment of a private exchange waits in the queue for as long as was drawn for its leg: the longest wait is published,
 * and an observer could not detect a shorter one.
 */

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

/** Seconds: longer than any test takes, and not alike. */
const [FIRST, SECOND] = [3_600, 1_234]
const plan = { ...usual, delaysMs: [FIRST * 1_000, SECOND * 1_000] }

/** Of each payment, in their order; whole seconds, for one statement reads the clock twice. */
function waits({ id }: Exchange) {
  return fixture.database.query<{ leg: number; purpose: string; state: string; waits: number }>(
    `select leg, purpose, state, round(extract(epoch from held_until - created_at))::int as waits
     from payouts where exchange_id = $1 and state <> 'void' order by created_at`,
    [id],
  )
}
const letGo = ({ id }: Exchange) =>
  fixture.database.query(
    "update payouts set held_until = clock_timestamp() - interval '1 second' where exchange_id = $1 and state = 'reserved'",
    [id],
  )

async function begin(): Promise<Exchange> {
  const exchange = await fixture.order({ via: ltc, plan })
  fixture.deposit(exchange, SMALL)
  await fixture.blocks(6)
  return exchange
}

describe('a private exchange', () => {
  test('waits as long as was drawn before each payout', async () => {
    const exchange = await begin()
    expect(await waits(exchange)).toEqual([{ leg: 0, purpose: 'payout', state: 'reserved', waits: FIRST }])
    await letGo(exchange)
    await fixture.blocks(8)
    expect((await waits(exchange)).slice(1)).toEqual([{ leg: 1, purpose: 'payout', state: 'reserved', waits: SECOND }])
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toEqual([])
    await letGo(exchange)
    await fixture.blocks(6)
    expect(await fixture.status(exchange)).toBe('finished')
  })

  test('waits as long as was drawn for its second leg before that goes back', async () => {
    const exchange = await begin()
    await letGo(exchange)
    await fixture.blocks(2)
    // The target's reserve is empty.
    const reserves = { ...market.reserves, 'eth@eth': 10n ** 12n }
    fixture.books.replace(makeBook({ ...market, reserves, at: Date.now() + 3_600_000 }))
    await fixture.blocks(6)
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    expect((await waits(exchange)).slice(1)).toEqual([{ leg: 1, purpose: 'refund', state: 'reserved', waits: SECOND }])
    expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '')).toEqual([])
    await letGo(exchange)
    await fixture.blocks(6)
    expect(await fixture.status(exchange)).toBe('refunded')
  })
})
