import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

const suspense = () => fixture.store.ledger.balance('expense:suspense', 'btc@btc')
const paid = (exchange: Exchange) => fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '').length
const expire = (exchange: Exchange) =>
  fixture.database.query(
    "update exchanges set expires_at = clock_timestamp() - interval '1 second', next_check_at = clock_timestamp() where id = $1",
    [exchange.id],
  )
/** No payout of ether is signed until it is resumed. */
const pause = () => fixture.store.pauses.pause('payouts:eth', 'test', 'test')
const resume = async () => {
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.database.query('update payouts set held_until = null where held_until is not null')
}
/** Replaces blocks by ones without this transaction, and runs the watchers. */
const replaceBlocks = async (depth: number, txHash: string) => {
  fixture.fakes.btc.reorg(depth, (one) => one === txHash)
  await fixture.turn()
}

describe('a deposit leaves the chain (D8)', () => {
  test('before it was counted: the exchange waits again, and fails with its time', async () => {
    const exchange = await fixture.order()
    const txHash = fixture.deposit(exchange, SMALL)
    await fixture.blocks(1)
    expect(await fixture.status(exchange)).toBe('confirming')
    await replaceBlocks(1, txHash)
    expect(await fixture.status(exchange)).toBe('pending')
    await expire(exchange)
    await fixture.turn()
    expect(await fixture.store.exchanges.find(exchange.partnerId, exchange.id)).toMatchObject({
      exchange: { status: 'failed', reason: 'DEPOSIT_VANISHED' },
    })
  })

  test('counted and converted, not signed: everything is taken back; back on the chain it is paid once', async () => {
    await pause()
    const [exchange, before] = [await fixture.order(), await fixture.wallet('btc@btc')]
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(2)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'exchanging', payout: { state: 'reserved' } })
    fixture.fakes.btc.reorg(2)
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({
      status: 'pending',
      payout: null,
      order: null,
      receivedUnits: null,
    })
    expect(await fixture.wallet('btc@btc')).toBe(before)
    expect(await fixture.owed(exchange)).toEqual({})
    await resume()
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(paid(exchange)).toBe(1)
  })

  test('and comes back before anybody looked: nothing is signed until it is as deep as it must be', async () => {
    await pause()
    const exchange = await fixture.order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(2)
    await resume()
    fixture.fakes.btc.reorg(2)
    await fixture.services.record(fixture.fakes.btc.chain)
    await fixture.services.dispatch('eth')
    expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'reserved' }])
    fixture.fakes.btc.mine()
    await fixture.services.record(fixture.fakes.btc.chain)
    // In a block again, counted still, and one block too shallow.
    expect((await fixture.execution(exchange)).deposit).toMatchObject({ status: 'credited', block: expect.anything() })
    await fixture.services.dispatch('eth')
    expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'reserved' }])
    await fixture.blocks(6)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(paid(exchange)).toBe(1)
  })

  test('signed: a loss that is shown; the payout takes its suite, and a deposit that is back is no loss', async () => {
    const [exchange, before] = [await fixture.order(), await suspense()]
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(2)
    expect(await fixture.status(exchange)).toBe('sending')
    fixture.fakes.btc.reorg(2)
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REORG_AFTER_PAYOUT',
      deposit: { lost: true },
    })
    expect((await suspense()) - before).toBe(SMALL)
    expect(await fixture.alarms()).toContain('reorg')
    await fixture.blocks(6)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(await suspense()).toBe(before)
    expect(await fixture.alarms()).not.toContain('reorg')
    expect(paid(exchange)).toBe(1)
  })

  test('finished: the loss is booked and the exchange stays finished', async () => {
    const [exchange, before] = [await fixture.order(), await suspense()]
    const txHash = fixture.deposit(exchange, SMALL)
    await fixture.blocks(7)
    expect(await fixture.status(exchange)).toBe('finished')
    await replaceBlocks(7, txHash)
    expect(await fixture.status(exchange)).toBe('finished')
    expect((await suspense()) - before).toBe(SMALL)
  })

  test('signed, and that transaction is invalidated: nothing is lost or paid', async () => {
    const [exchange, before] = [await fixture.order(), await suspense()]
    const txHash = fixture.deposit(exchange, SMALL)
    fixture.fakes.eth.knobs.deaf = true
    await fixture.blocks(2)
    const [{ conflict_key: key } = { conflict_key: '' }] = await fixture.database.query<{ conflict_key: string }>(
      "select conflict_key from transactions where state = 'live'",
    )
    await replaceBlocks(2, txHash)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', deposit: { lost: true } })
    fixture.fakes.eth.steal(key)
    await fixture.blocks(12)
    fixture.fakes.eth.knobs.deaf = false
    expect(await fixture.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'DEPOSIT_VANISHED',
      deposit: { lost: false },
      payout: null,
    })
    expect(await suspense()).toBe(before)
    await expire(exchange)
    await fixture.blocks(3)
    expect(await fixture.status(exchange)).toBe('failed')
    expect(await fixture.owed(exchange)).toEqual({})
    expect(paid(exchange)).toBe(0)
  })

  test('given up, and is on the chain after all: it goes back', async () => {
    const exchange = await fixture.order()
    const txHash = fixture.deposit(exchange, SMALL)
    await fixture.blocks(1)
    const [payment] = fixture.fakes.btc.paidTo(exchange.deposit.address)
    await replaceBlocks(1, txHash)
    await expire(exchange)
    await fixture.turn()
    expect(await fixture.status(exchange)).toBe('failed')
    fixture.fakes.btc.offer(payment)
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('refunded')
    expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '')).toHaveLength(1)
  })

  test('while it is held for its refund address: closed at the expiry, and nothing is owed', async () => {
    const exchange = await fixture.order({ refund: null })
    const txHash = fixture.deposit(exchange, 2_900n)
    await fixture.blocks(2)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'NO_REFUND_ADDRESS' })
    await replaceBlocks(2, txHash)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'DEPOSIT_VANISHED' })
    await fixture.decide(exchange, 'release')
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying' })
    await expire(exchange)
    await fixture.turn()
    expect(await fixture.status(exchange)).toBe('failed')
  })
})

describe('a payout leaves the chain', () => {
  test('before and after its confirmations: the same bytes are there again, once', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(3)
    expect(paid(exchange)).toBe(1)
    fixture.fakes.eth.reorg(1, () => true)
    await fixture.turn()
    expect(paid(exchange)).toBe(0)
    await fixture.blocks(4)
    expect(await fixture.status(exchange)).toBe('finished')
    fixture.fakes.eth.reorg(4, () => true)
    await fixture.turn(2)
    expect(paid(exchange)).toBe(0)
    await fixture.blocks(3)
    expect(paid(exchange)).toBe(1)
    expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'confirmed' }])
    expect(
      await fixture.database.query(
        'select 1 from attempts a join payouts p on p.transaction_id = a.transaction_id where p.exchange_id = $1',
        [exchange.id],
      ),
    ).toHaveLength(1)
  })
})
