import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PATIENCE } from '../../../test/support/patience.ts'
import type { Exchange } from '../../src/exchange/domain/exchange.ts'
import { makeBook } from '../../src/exchange/domain/pricing.fixture.ts'
import { plan, SMALL, startPrivateSpine } from './private-spine.ts'
import { ltc, market } from './spine.ts'

/*
 * What the two legs of one exchange do to each other when either chain takes something back. Between the legs nothing has
 * left the house yet: its own payment to itself is no payment.
 */

let spine: Awaited<ReturnType<typeof startPrivateSpine>>
beforeAll(async () => {
  spine = await startPrivateSpine()
})
afterAll(() => spine.close())
afterEach(() => spine.balanced())

const order = (rest: Parameters<typeof spine.order>[0] = {}) => spine.order({ via: ltc, plan, ...rest })
const arrived = (exchange: Exchange) => spine.fakes.eth.paidTo(exchange.recipient?.address ?? '').length
const expire = (exchange: Exchange) =>
  spine.database.query(
    "update exchanges set expires_at = created_at + interval '1 millisecond', next_check_at = clock_timestamp() where id = $1",
    [exchange.id],
  )
const statuses = async (exchange: Exchange) =>
  (await spine.executions(exchange)).map(({ leg, status, deposit }) => `${leg} ${status}${deposit.lost ? ' lost' : ''}`)
/** Everybody's turn until it is so. */
async function until(what: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 30; n++) {
    if (await what()) return
    await spine.blocks(1)
  }
  throw new Error('it does not come to it')
}
/** Attempts of the payment between the legs, the oldest first. */
const attempts = (exchange: Exchange) =>
  spine.database.query<{ tx_hash: string; raw: string }>(
    `select a.tx_hash, a.raw from attempts a join payouts p on p.transaction_id = a.transaction_id
     where p.exchange_id = $1 and p.leg = 0 order by a.id`,
    [exchange.id],
  )

/** Its payment between the legs was offered with a higher fee, and the first bytes are mined all the same. */
async function orderRaised(rest: Parameters<typeof order>[0] = {}) {
  const exchange = await order(rest)
  spine.deposit(exchange, SMALL)
  spine.fakes.btc.mine(2)
  spine.fakes.ltc.knobs.deaf = true
  await spine.turn(2)
  await spine.database.query("update attempts set created_at = created_at - interval '1 day'")
  await spine.turn(2)
  spine.fakes.ltc.knobs.deaf = false
  const [first, second] = await attempts(exchange)
  if (!first || !second) throw new Error('its fee was not raised')
  await spine.fakes.ltc.chain.sender.broadcast(first.raw)
  spine.fakes.ltc.mine()
  return { exchange, first, second }
}

describe('a payment between the legs whose fee was raised', () => {
  test('funds the second leg once, though a reorganisation puts the one in the other’s place', async () => {
    const { exchange, first, second } = await orderRaised()
    await until(async () => arrived(exchange) === 1)
    spine.fakes.ltc.reorg(6, (txHash) => txHash === first.tx_hash)
    await spine.fakes.ltc.chain.sender.broadcast(second.raw)
    await spine.blocks(16)
    expect(arrived(exchange)).toBe(1)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect((await spine.executions(exchange))[1]?.payinHash).toBe(second.tx_hash)
    expect(await spine.status(exchange)).toBe('finished')
  })

  test('before the second leg is signed: what was counted is taken back, and counted again', async () => {
    await spine.store.pauses.pause('payouts:eth', 'test', 'test')
    const { exchange, first, second } = await orderRaised()
    await until(async () => (await spine.executions(exchange))[1]?.payout?.state === 'reserved')
    spine.fakes.ltc.reorg(6, (txHash) => txHash === first.tx_hash)
    await spine.fakes.ltc.chain.sender.broadcast(second.raw)
    await spine.blocks(4)
    await spine.store.pauses.resume('payouts:eth')
    await spine.database.query('update payouts set held_until = null where held_until is not null')
    await spine.blocks(16)
    expect(arrived(exchange)).toBe(1)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
  })
})

describe('a source deposit that leaves its chain between the legs', () => {
  const paused = async () => {
    const exchange = await order({ plan: { ...plan, delaysMs: [0, 3_600_000] } })
    const hash = spine.deposit(exchange, SMALL)
    await until(async () => (await spine.executions(exchange))[1]?.payout?.state === 'reserved')
    const [transfer] = spine.fakes.btc.paidTo(exchange.deposit.address)
    spine.fakes.btc.reorg(8, (txHash) => txHash === hash)
    await spine.turn(2)
    await spine.database.query('update payouts set held_until = null where exchange_id = $1', [exchange.id])
    await spine.blocks(4)
    return { exchange, transfer }
  }

  test('pays nobody: the second leg is held, and goes on when the deposit is back', async () => {
    const { exchange, transfer } = await paused()
    expect(arrived(exchange)).toBe(0)
    expect(await statuses(exchange)).toEqual(['0 finished lost', '1 verifying'])
    expect(await spine.execution(exchange, 1)).toMatchObject({ reason: 'DEPOSIT_VANISHED' })
    expect(await spine.alarms()).toContain('reorg')
    spine.fakes.btc.offer(transfer)
    await spine.blocks(14)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(arrived(exchange)).toBe(1)
  })

  test('for good: a person closes it, and nothing has left the house', async () => {
    const { exchange } = await paused()
    await spine.decide(exchange, 'fail')
    await spine.blocks(6)
    expect(await statuses(exchange)).toEqual(['0 finished lost', '1 failed'])
    expect(await spine.status(exchange)).toBe('failed')
    expect(arrived(exchange)).toBe(0)
    expect(spine.fakes.btc.paidTo(exchange.refund?.address ?? '')).toEqual([])
    expect(await spine.owed(exchange)).toEqual({})
  })

  test('is nobody’s reason to refund it, however long it stands', async () => {
    const exchange = await order({ plan: { ...plan, stallMs: 2_000, delaysMs: [0, 0] } })
    await spine.store.pauses.pause('payouts:eth', 'test', 'test')
    const hash = spine.deposit(exchange, SMALL)
    await until(async () => (await spine.executions(exchange)).length === 2)
    spine.fakes.btc.reorg(8, (txHash) => txHash === hash)
    await spine.blocks(4)
    await expect
      .poll(async () => {
        await spine.blocks(1)
        return (await spine.execution(exchange, 1)).status
      }, PATIENCE)
      .toBe('verifying')
    await spine.store.pauses.resume('payouts:eth')
    await spine.blocks(8)
    expect(spine.fakes.btc.paidTo(exchange.refund?.address ?? '')).toEqual([])
    expect(arrived(exchange)).toBe(0)
  })
})

describe('the time of an exchange', () => {
  test('is up while the payment between the legs is in no block: it waits for that, and pays', async () => {
    const exchange = await order()
    spine.deposit(exchange, SMALL)
    await until(async () => (await spine.executions(exchange)).length === 2)
    await expire(exchange)
    const [payment] = await attempts(exchange)
    spine.fakes.ltc.reorg(2, (txHash) => txHash === payment?.tx_hash)
    spine.fakes.ltc.knobs.deaf = true
    await spine.blocks(2)
    expect(await spine.status(exchange)).not.toBe('failed')
    spine.fakes.ltc.knobs.deaf = false
    await spine.blocks(16)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(arrived(exchange)).toBe(1)
    expect(await spine.status(exchange)).toBe('finished')
  })

  test('or its end by another deposit is no reason to send a second leg back', async () => {
    const exchange = await order()
    spine.deposit(exchange, SMALL)
    await until(async () => (await spine.executions(exchange)).length === 2)
    const [payment] = await attempts(exchange)
    spine.fakes.ltc.knobs.deaf = true
    spine.fakes.ltc.reorg(3, (txHash) => txHash === payment?.tx_hash)
    await spine.turn()
    expect((await statuses(exchange))[1]).toBe('1 pending')
    // Its status is one that stays, whatever comes later.
    await spine.database.query("update exchanges set status = 'finished' where id = $1", [exchange.id])
    spine.fakes.ltc.knobs.deaf = false
    await spine.blocks(16)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect(arrived(exchange)).toBe(1)
  })
})

describe('a payment back in the source coin', () => {
  test('that is provably dead is promised again until it is signed anew, and comes once', async () => {
    const exchange = await order()
    spine.deposit(exchange, SMALL)
    await until(async () => (await spine.executions(exchange)).length === 2)
    const reserves = { ...market.reserves, 'eth@eth': 10n ** 12n }
    spine.books.replace(makeBook({ ...market, reserves, at: Date.now() + 3_600_000 }))
    spine.fakes.btc.knobs.deaf = true
    await until(async () => (await spine.executions(exchange))[1]?.payout?.state === 'signed')
    spine.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    const [back] = await spine.database.query<{ key: string; units: string }>(
      `select t.conflict_key as key, p.units from transactions t join payouts p on p.transaction_id = t.id
       where p.exchange_id = $1 and p.purpose = 'refund'`,
      [exchange.id],
    )
    const promised = async () =>
      BigInt(
        (
          await spine.database.query<{ units: string }>(
            "select promised as units from inventory where asset_id = 'btc@btc'",
          )
        )[0]?.units ?? 0,
      )
    const before = await promised()
    // Nothing is signed meanwhile: what is given back is seen as it lies.
    await spine.store.pauses.pause('payouts:btc', 'test', 'test')
    spine.fakes.btc.steal(back?.key ?? '')
    await until(async () => (await spine.executions(exchange))[1]?.payout?.state === 'reserved')
    expect(await promised()).toBe(before + BigInt(back?.units ?? 0))
    spine.fakes.btc.knobs.deaf = false
    await spine.store.pauses.resume('payouts:btc')
    await spine.database.query("delete from pauses where scope = 'payouts:btc'")
    await spine.database.query('update payouts set held_until = null where held_until is not null')
    await spine.blocks(8)
    expect(await statuses(exchange)).toEqual(['0 finished', '1 refunded'])
    expect(spine.fakes.btc.paidTo(exchange.refund?.address ?? '')).toHaveLength(1)
    expect(await promised()).toBe(before)
  })
})
