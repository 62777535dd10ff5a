import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../src/exchange/domain/exchange.ts'
import { makeBook } from '../../src/exchange/domain/pricing.fixture.ts'
import { plan, SMALL, startPrivateSpine } from './private-spine.ts'
import { COIN, ltc, market } from './spine.ts'

/*
 * A network that stands still while an exchange is between its legs: the operator paused it, its nodes say nothing, or it
 * makes no blocks. It ends paid or refunded, and never both.
 */

let spine: Awaited<ReturnType<typeof startPrivateSpine>>
beforeAll(async () => {
  spine = await startPrivateSpine()
})
afterAll(() => spine.close())
beforeEach(() => {
  open()
  spine.fakes.ltc.knobs.deaf = false
})
afterEach(() => spine.balanced())

const at = () => Date.now() + 3_600_000
const open = () => spine.books.replace(makeBook({ ...market, at: at() }))
const pause = (network: string) => {
  const book = makeBook({ ...market, at: at() })
  spine.books.replace({ ...book, pauses: { networks: new Set([network]), assets: new Set() } })
}
/** No fee of it was read for long. */
const silence = (network: string) => {
  const fees = Object.fromEntries(Object.entries(market.fees).filter(([id]) => id !== network))
  spine.books.replace(makeBook({ ...market, fees, at: at() }))
}
const stands: readonly (readonly [string, (network: string) => void])[] = [
  ['is paused', pause],
  ['says nothing', silence],
]

async function begin(units = SMALL): Promise<Exchange> {
  const exchange = await spine.order({ via: ltc, plan, fromUnits: units })
  spine.deposit(exchange, units)
  return exchange
}
const statuses = async (exchange: Exchange) =>
  (await spine.executions(exchange)).map(({ leg, status }) => `${leg} ${status}`)
const hasArrived = async (exchange: Exchange) => (await spine.executions(exchange)).length === 2
/** As if nothing had happened to it for longer than it waits. */
async function age(exchange: Exchange): Promise<void> {
  await spine.database.query('alter table executions disable trigger execution_status')
  await spine.database.query(
    "update executions set updated_at = updated_at - interval '2 hours' where exchange_id = $1",
    [exchange.id],
  )
  await spine.database.query('alter table executions enable trigger execution_status')
}
const paid = (exchange: Exchange) => spine.fakes.eth.paidTo(exchange.recipient?.address ?? '').length
const back = (exchange: Exchange) => spine.fakes.btc.paidTo(exchange.refund?.address ?? '').map(({ units }) => units)

describe.each(stands)('where the intermediary %s before its payment', (_name, stop) => {
  test('the exchange waits, and goes on when it is back', async () => {
    stop('ltc')
    const exchange = await begin()
    await spine.blocks(6)
    expect(await statuses(exchange)).toEqual(['0 exchanging'])
    open()
    await spine.blocks(14)
    expect(await spine.status(exchange)).toBe('finished')
    expect([paid(exchange), back(exchange)]).toEqual([1, []])
  })

  test('for too long, the deposit goes back less one fee', async () => {
    stop('ltc')
    const exchange = await begin()
    await spine.blocks(4)
    await age(exchange)
    await spine.blocks(6)
    open()
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('refunded')
    expect([paid(exchange), back(exchange)]).toEqual([0, [SMALL - 1_500n]])
  })
})

describe.each(stands)('where the target %s once the intermediary was paid', (_name, stop) => {
  test('the exchange waits, and goes on when it is back', async () => {
    const exchange = await begin()
    await spine.blocksUntil(() => hasArrived(exchange))
    stop('eth')
    await spine.blocks(8)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 exchanging'])
    open()
    await spine.blocks(10)
    expect(await spine.status(exchange)).toBe('finished')
    expect([paid(exchange), back(exchange)]).toEqual([1, []])
  })

  test('for too long, it goes back in the source coin', async () => {
    const exchange = await begin()
    await spine.blocksUntil(() => hasArrived(exchange))
    stop('eth')
    await spine.blocks(6)
    await age(exchange)
    await spine.blocks(8)
    open()
    await spine.blocks(8)
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
    spine.fakes.ltc.knobs.deaf = true
    const exchange = await begin()
    await spine.blocksUntil(async () => (await spine.executions(exchange))[0]?.payout?.state === 'signed')
    await age(exchange)
    // No blocks of it, and no bytes: the others go on.
    for (let n = 0; n < 6; n++) {
      spine.fakes.btc.mine()
      spine.fakes.eth.mine()
      await spine.turn()
    }
    expect(await statuses(exchange)).toEqual(['0 sending'])
    expect([paid(exchange), back(exchange)]).toEqual([0, []])
    spine.fakes.ltc.knobs.deaf = false
    await spine.blocks(14)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect([paid(exchange), back(exchange)]).toEqual([1, []])
  })

  test('for too long while the second leg counts its confirmations is no reason to send that back', async () => {
    const exchange = await begin()
    await spine.blocksUntil(() => hasArrived(exchange))
    for (let n = 0; n < 3; n++) {
      spine.fakes.btc.mine()
      spine.fakes.eth.mine()
      await spine.turn()
    }
    expect((await statuses(exchange))[1]).toMatch(/pending|confirming/)
    await age(exchange)
    await spine.blocks(14)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect([paid(exchange), back(exchange)]).toEqual([1, []])
  })
})

test('a payment that a person let go after a long time has its own time from then on', async () => {
  // Above the limit of one payment, on both legs.
  const exchange = await begin(COIN / 2n)
  for (const leg of [0, 1]) {
    await spine.blocksUntil(async () => (await spine.executions(exchange))[leg]?.status === 'verifying')
    expect(await spine.execution(exchange, leg)).toMatchObject({ reason: 'LIMIT' })
    await age(exchange)
    await spine.decide(exchange, 'release')
  }
  await spine.blocks(10)
  expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
  expect([paid(exchange), back(exchange)]).toEqual([1, []])
})
