import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ltc, market } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

/*
 * A network that stands still while an exchange is between its legs: the operator paused it, its nodes say nothing, or it
 * makes no blocks. It ends paid or refunded, and never both.
 */

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
beforeEach(() => {
  open()
  fixture.fakes.ltc.knobs.deaf = false
})
afterEach(() => fixture.balanced())

const at = () => Date.now() + 3_600_000
const open = () => fixture.books.replace(makeBook({ ...market, at: at() }))
const pause = (network: string) => {
  const book = makeBook({ ...market, at: at() })
  fixture.books.replace({ ...book, pauses: { networks: new Set([network]), assets: new Set() } })
}
/** No fee of it was read for long. */
const silence = (network: string) => {
  const fees = Object.fromEntries(Object.entries(market.fees).filter(([id]) => id !== network))
  fixture.books.replace(makeBook({ ...market, fees, at: at() }))
}
const stands: readonly (readonly [string, (network: string) => void])[] = [
  ['is paused', pause],
  ['says nothing', silence],
]

async function begin(units = SMALL): Promise<Exchange> {
  const exchange = await fixture.order({ via: ltc, plan, fromUnits: units })
  fixture.deposit(exchange, units)
  return exchange
}
const statuses = async (exchange: Exchange) =>
  (await fixture.executions(exchange)).map(({ leg, status }) => `${leg} ${status}`)
const hasArrived = async (exchange: Exchange) => (await fixture.executions(exchange)).length === 2
/** As if nothing had happened to it for longer than it waits. */
async function age(exchange: Exchange): Promise<void> {
  await fixture.database.query('alter table executions disable trigger execution_status')
  await fixture.database.query(
    "update executions set updated_at = updated_at - interval '2 hours' where exchange_id = $1",
    [exchange.id],
  )
  await fixture.database.query('alter table executions enable trigger execution_status')
}
const paid = (exchange: Exchange) => fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '').length
const back = (exchange: Exchange) => fixture.fakes.btc.paidTo(exchange.refund?.address ?? '').map(({ units }) => units)

describe.each(stands)('where the intermediary %s before its payment', (_name, stop) => {
  test('the exchange waits, and goes on when it is back', async () => {
    stop('ltc')
    const exchange = await begin()
    await fixture.blocks(6)
    expect(await statuses(exchange)).toEqual(['0 exchanging'])
    open()
    await fixture.blocks(14)
    expect(await fixture.status(exchange)).toBe('finished')
    expect([paid(exchange), back(exchange)]).toEqual([1, []])
  })

  test('for too long, the deposit goes back less one fee', async () => {
    stop('ltc')
    const exchange = await begin()
    await fixture.blocks(4)
    await age(exchange)
    await fixture.blocks(6)
    open()
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('refunded')
    expect([paid(exchange), back(exchange)]).toEqual([0, [SMALL - 1_500n]])
  })
})

describe.each(stands)('where the target %s once the intermediary was paid', (_name, stop) => {
  test('the exchange waits, and goes on when it is back', async () => {
    const exchange = await begin()
    await fixture.blocksUntil(() => hasArrived(exchange))
    stop('eth')
    await fixture.blocks(8)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 exchanging'])
    open()
    await fixture.blocks(10)
    expect(await fixture.status(exchange)).toBe('finished')
    expect([paid(exchange), back(exchange)]).toEqual([1, []])
  })

  test('for too long, it goes back in the source coin', async () => {
    const exchange = await begin()
    await fixture.blocksUntil(() => hasArrived(exchange))
    stop('eth')
    await fixture.blocks(6)
    await age(exchange)
    await fixture.blocks(8)
    open()
    await fixture.blocks(8)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 refunded'])
    expect(paid(exchange)).toBe(0)
    const [units = 0n, ...more] = back(exchange)
    expect(more).toEqual([])
    // Both spreads of 0.4 % and the fees of both payments, at prices that stand still.
    expect(units).toBeGreaterThan((SMALL * 98n) / 100n)
  })
})

describe('an intermediary that stops after its payment was signed', () => {
  test('keeps the exchange open however long it takes, and the recipient is paid once', async () => {
    fixture.fakes.ltc.knobs.deaf = true
    const exchange = await begin()
    await fixture.blocksUntil(async () => (await fixture.executions(exchange))[0]?.payout?.state === 'signed')
    await age(exchange)
    // No blocks of it, and no bytes: the others go on.
    for (let n = 0; n < 6; n++) {
      fixture.fakes.btc.mine()
      fixture.fakes.eth.mine()
      await fixture.turn()
    }
    expect(await statuses(exchange)).toEqual(['0 sending'])
    expect([paid(exchange), back(exchange)]).toEqual([0, []])
    fixture.fakes.ltc.knobs.deaf = false
    await fixture.blocks(14)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect([paid(exchange), back(exchange)]).toEqual([1, []])
  })

  test('for too long while the second leg counts its confirmations is no reason to send that back', async () => {
    const exchange = await begin()
    await fixture.blocksUntil(() => hasArrived(exchange))
    for (let n = 0; n < 3; n++) {
      fixture.fakes.btc.mine()
      fixture.fakes.eth.mine()
      await fixture.turn()
    }
    expect((await statuses(exchange))[1]).toMatch(/pending|confirming/)
    await age(exchange)
    await fixture.blocks(14)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect([paid(exchange), back(exchange)]).toEqual([1, []])
  })
})

test('a payment that a person let go after a long time has its own time from then on', async () => {
  // Above the limit of one payment, on both legs.
  const exchange = await begin(COIN / 2n)
  for (const leg of [0, 1]) {
    await fixture.blocksUntil(async () => (await fixture.executions(exchange))[leg]?.status === 'verifying')
    expect(await fixture.execution(exchange, leg)).toMatchObject({ reason: 'LIMIT' })
    await age(exchange)
    await fixture.decide(exchange, 'release')
  }
  await fixture.blocks(10)
  expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
  expect([paid(exchange), back(exchange)]).toEqual([1, []])
})
