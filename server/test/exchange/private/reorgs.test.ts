import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { ltc, market } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

/*
 * What the two legs of one exchange do to each other when either chain takes something back. Between the legs nothing has
 * left the app yet: its own payment to itself is no payment.
 */

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

const order = (rest: Parameters<typeof fixture.order>[0] = {}) => fixture.order({ via: ltc, plan, ...rest })
const arrived = (exchange: Exchange) => fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '').length
const expire = (exchange: Exchange) =>
  fixture.database.query(
    "update exchanges set expires_at = created_at + interval '1 millisecond', next_check_at = clock_timestamp() where id = $1",
    [exchange.id],
  )
const statuses = async (exchange: Exchange) =>
  (await fixture.executions(exchange)).map(
    ({ leg, status, deposit }) => `${leg} ${status}${deposit.lost ? ' lost' : ''}`,
  )
/** Attempts of the payment between the legs, the oldest first. */
const attempts = (exchange: Exchange) =>
  fixture.database.query<{ tx_hash: string; raw: string }>(
    `select a.tx_hash, a.raw from attempts a join payouts p on p.transaction_id = a.transaction_id
     where p.exchange_id = $1 and p.leg = 0 order by a.id`,
    [exchange.id],
  )

/** Its payment between the legs was offered with a higher fee, and the first bytes are mined all the same. */
async function orderRaised(rest: Parameters<typeof order>[0] = {}) {
  const exchange = await order(rest)
  fixture.deposit(exchange, SMALL)
  fixture.fakes.btc.mine(2)
  fixture.fakes.ltc.knobs.deaf = true
  await fixture.turn(2)
  await fixture.database.query("update attempts set created_at = created_at - interval '1 day'")
  await fixture.turn(2)
  fixture.fakes.ltc.knobs.deaf = false
  const [first, second] = await attempts(exchange)
  if (!first || !second) throw new Error('its fee was not raised')
  await fixture.fakes.ltc.chain.sender.broadcast(first.raw)
  fixture.fakes.ltc.mine()
  return { exchange, first, second }
}

describe('a payment between the legs whose fee was raised', () => {
  test('funds the second leg once, though a reorganisation puts the one in the other’s place', async () => {
    const { exchange, first, second } = await orderRaised()
    await fixture.blocksUntil(async () => arrived(exchange) === 1)
    fixture.fakes.ltc.reorg(6, (txHash) => txHash === first.tx_hash)
    await fixture.fakes.ltc.chain.sender.broadcast(second.raw)
    await fixture.blocks(16)
    expect(arrived(exchange)).toBe(1)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect((await fixture.executions(exchange))[1]?.payinHash).toBe(second.tx_hash)
    expect(await fixture.status(exchange)).toBe('finished')
  })

  test('before the second leg is signed: what was counted is taken back, and counted again', async () => {
    await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
    const { exchange, first, second } = await orderRaised()
    await fixture.blocksUntil(async () => (await fixture.executions(exchange))[1]?.payout?.state === 'reserved')
    fixture.fakes.ltc.reorg(6, (txHash) => txHash === first.tx_hash)
    await fixture.fakes.ltc.chain.sender.broadcast(second.raw)
    await fixture.blocks(4)
    await fixture.store.pauses.resume('payouts:eth')
    await fixture.database.query('update payouts set held_until = null where held_until is not null')
    await fixture.blocks(16)
    expect(arrived(exchange)).toBe(1)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
  })
})

describe('a source deposit that leaves its chain between the legs', () => {
  const paused = async () => {
    const exchange = await order({ plan: { ...plan, delaysMs: [0, 3_600_000] } })
    const hash = fixture.deposit(exchange, SMALL)
    await fixture.blocksUntil(async () => (await fixture.executions(exchange))[1]?.payout?.state === 'reserved')
    const [transfer] = fixture.fakes.btc.paidTo(exchange.deposit.address)
    fixture.fakes.btc.reorg(8, (txHash) => txHash === hash)
    await fixture.turn(2)
    await fixture.database.query('update payouts set held_until = null where exchange_id = $1', [exchange.id])
    await fixture.blocks(4)
    return { exchange, transfer }
  }

  test('pays nothing: the second leg is held, and continues when the deposit is back', async () => {
    const { exchange, transfer } = await paused()
    expect(arrived(exchange)).toBe(0)
    expect(await statuses(exchange)).toEqual(['0 finished lost', '1 verifying'])
    expect(await fixture.execution(exchange, 1)).toMatchObject({ reason: 'DEPOSIT_VANISHED' })
    expect(await fixture.alarms()).toContain('reorg')
    fixture.fakes.btc.offer(transfer)
    await fixture.blocks(14)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(arrived(exchange)).toBe(1)
  })

  test('for good: a person closes it, and nothing has left the app', async () => {
    const { exchange } = await paused()
    await fixture.decide(exchange, 'fail')
    await fixture.blocks(6)
    expect(await statuses(exchange)).toEqual(['0 finished lost', '1 failed'])
    expect(await fixture.status(exchange)).toBe('failed')
    expect(arrived(exchange)).toBe(0)
    expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '')).toEqual([])
    expect(await fixture.owed(exchange)).toEqual({})
  })

  test('does not cause a refund, however long it lasts', async () => {
    const exchange = await order({ plan: { ...plan, stallMs: 2_000, delaysMs: [0, 0] } })
    await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
    const hash = fixture.deposit(exchange, SMALL)
    await fixture.blocksUntil(async () => (await fixture.executions(exchange)).length === 2)
    fixture.fakes.btc.reorg(8, (txHash) => txHash === hash)
    await fixture.blocks(4)
    await expect
      .poll(async () => {
        await fixture.blocks(1)
        return (await fixture.execution(exchange, 1)).status
      }, PATIENCE)
      .toBe('verifying')
    await fixture.store.pauses.resume('payouts:eth')
    await fixture.blocks(8)
    expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '')).toEqual([])
    expect(arrived(exchange)).toBe(0)
  })
})

describe('the time of an exchange', () => {
  test('is up while the payment between the legs is in no block: it waits for that, and pays', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocksUntil(async () => (await fixture.executions(exchange)).length === 2)
    await expire(exchange)
    const [payment] = await attempts(exchange)
    fixture.fakes.ltc.reorg(2, (txHash) => txHash === payment?.tx_hash)
    fixture.fakes.ltc.knobs.deaf = true
    await fixture.blocks(2)
    expect(await fixture.status(exchange)).not.toBe('failed')
    fixture.fakes.ltc.knobs.deaf = false
    await fixture.blocks(16)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(arrived(exchange)).toBe(1)
    expect(await fixture.status(exchange)).toBe('finished')
  })

  test('or its end by another deposit is no reason to send a second leg back', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocksUntil(async () => (await fixture.executions(exchange)).length === 2)
    const [payment] = await attempts(exchange)
    fixture.fakes.ltc.knobs.deaf = true
    fixture.fakes.ltc.reorg(3, (txHash) => txHash === payment?.tx_hash)
    await fixture.turn()
    expect((await statuses(exchange))[1]).toBe('1 pending')
    // Its status is one that stays, whatever comes later.
    await fixture.database.query("update exchanges set status = 'finished' where id = $1", [exchange.id])
    fixture.fakes.ltc.knobs.deaf = false
    await fixture.blocks(16)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(arrived(exchange)).toBe(1)
  })
})

describe('a payment back in the source coin', () => {
  test('that is proven invalid is reserved again until it is signed again, and arrives once', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocksUntil(async () => (await fixture.executions(exchange)).length === 2)
    const reserves = { ...market.reserves, 'eth@eth': 10n ** 12n }
    fixture.books.replace(makeBook({ ...market, reserves, at: Date.now() + 3_600_000 }))
    fixture.fakes.btc.knobs.deaf = true
    await fixture.blocksUntil(async () => (await fixture.executions(exchange))[1]?.payout?.state === 'signed')
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    const [back] = await fixture.database.query<{ key: string; units: string }>(
      `select t.conflict_key as key, p.units from transactions t join payouts p on p.transaction_id = t.id
       where p.exchange_id = $1 and p.purpose = 'refund'`,
      [exchange.id],
    )
    const promised = async () =>
      BigInt(
        (
          await fixture.database.query<{ units: string }>(
            "select promised as units from inventory where asset_id = 'btc@btc'",
          )
        )[0]?.units ?? 0,
      )
    const before = await promised()
    // Nothing is signed meanwhile: what is given back is seen as it lies.
    await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
    fixture.fakes.btc.steal(back?.key ?? '')
    await fixture.blocksUntil(async () => (await fixture.executions(exchange))[1]?.payout?.state === 'reserved')
    expect(await promised()).toBe(before + BigInt(back?.units ?? 0))
    fixture.fakes.btc.knobs.deaf = false
    await fixture.store.pauses.resume('payouts:btc')
    await fixture.database.query("delete from pauses where scope = 'payouts:btc'")
    await fixture.database.query('update payouts set held_until = null where held_until is not null')
    await fixture.blocks(8)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 refunded'])
    expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '')).toHaveLength(1)
    expect(await promised()).toBe(before)
  })
})
