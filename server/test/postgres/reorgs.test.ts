import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../src/exchange/domain/exchange.ts'
import { COIN, ETHER, startSpine } from './spine.ts'

const SMALL = COIN / 200n

let spine: Awaited<ReturnType<typeof startSpine>>
beforeAll(async () => {
  spine = await startSpine()
  await spine.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => spine.close())
afterEach(() => spine.balanced())

const suspense = () => spine.store.ledger.balance('expense:suspense', 'btc@btc')
const paid = (exchange: Exchange) => spine.fakes.eth.paidTo(exchange.recipient?.address ?? '').length
const expire = (exchange: Exchange) =>
  spine.database.query(
    "update exchanges set expires_at = clock_timestamp() - interval '1 second', next_check_at = clock_timestamp() where id = $1",
    [exchange.id],
  )
/** No payout of ether is signed until it is resumed. */
const pause = () => spine.store.pauses.pause('payouts:eth', 'test', 'test')
const resume = async () => {
  await spine.store.pauses.resume('payouts:eth')
  await spine.database.query('update payouts set held_until = null where held_until is not null')
}
/** Other blocks without this transaction, and whoever looks at them. */
const replaceBlocks = async (depth: number, txHash: string) => {
  spine.fakes.btc.reorg(depth, (one) => one === txHash)
  await spine.turn()
}

describe('a deposit leaves the chain (D8)', () => {
  test('before it was counted: the exchange waits again, and fails with its time', async () => {
    const exchange = await spine.order()
    const txHash = spine.deposit(exchange, SMALL)
    await spine.blocks(1)
    expect(await spine.status(exchange)).toBe('confirming')
    await replaceBlocks(1, txHash)
    expect(await spine.status(exchange)).toBe('pending')
    await expire(exchange)
    await spine.turn()
    expect(await spine.store.exchanges.find(exchange.partnerId, exchange.id)).toMatchObject({
      exchange: { status: 'failed', reason: 'DEPOSIT_VANISHED' },
    })
  })

  test('counted and converted, not signed: everything is taken back; back on the chain it is paid once', async () => {
    await pause()
    const [exchange, before] = [await spine.order(), await spine.wallet('btc@btc')]
    spine.deposit(exchange, SMALL)
    await spine.blocks(2)
    expect(await spine.execution(exchange)).toMatchObject({ status: 'exchanging', payout: { state: 'reserved' } })
    spine.fakes.btc.reorg(2)
    await spine.turn()
    expect(await spine.execution(exchange)).toMatchObject({
      status: 'pending',
      payout: null,
      order: null,
      receivedUnits: null,
    })
    expect(await spine.wallet('btc@btc')).toBe(before)
    expect(await spine.owed(exchange)).toEqual({})
    await resume()
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('finished')
    expect(paid(exchange)).toBe(1)
  })

  test('and comes back before anybody looked: nothing is signed until it is as deep as it must be', async () => {
    await pause()
    const exchange = await spine.order()
    spine.deposit(exchange, SMALL)
    await spine.blocks(2)
    await resume()
    spine.fakes.btc.reorg(2)
    await spine.services.record(spine.fakes.btc.chain)
    await spine.services.dispatch('eth')
    expect(await spine.payouts(exchange)).toMatchObject([{ state: 'reserved' }])
    spine.fakes.btc.mine()
    await spine.services.record(spine.fakes.btc.chain)
    // In a block again, counted still, and one block too shallow.
    expect((await spine.execution(exchange)).deposit).toMatchObject({ status: 'credited', block: expect.anything() })
    await spine.services.dispatch('eth')
    expect(await spine.payouts(exchange)).toMatchObject([{ state: 'reserved' }])
    await spine.blocks(6)
    expect(await spine.status(exchange)).toBe('finished')
    expect(paid(exchange)).toBe(1)
  })

  test('signed: a loss that is shown; the payout takes its course, and a deposit that is back is no loss', async () => {
    const [exchange, before] = [await spine.order(), await suspense()]
    spine.deposit(exchange, SMALL)
    await spine.blocks(2)
    expect(await spine.status(exchange)).toBe('sending')
    spine.fakes.btc.reorg(2)
    await spine.turn()
    expect(await spine.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REORG_AFTER_PAYOUT',
      deposit: { lost: true },
    })
    expect((await suspense()) - before).toBe(SMALL)
    expect(await spine.alarms()).toContain('reorg')
    await spine.blocks(6)
    expect(await spine.status(exchange)).toBe('finished')
    expect(await suspense()).toBe(before)
    expect(await spine.alarms()).not.toContain('reorg')
    expect(paid(exchange)).toBe(1)
  })

  test('finished: the loss is booked and the exchange stays finished', async () => {
    const [exchange, before] = [await spine.order(), await suspense()]
    const txHash = spine.deposit(exchange, SMALL)
    await spine.blocks(7)
    expect(await spine.status(exchange)).toBe('finished')
    await replaceBlocks(7, txHash)
    expect(await spine.status(exchange)).toBe('finished')
    expect((await suspense()) - before).toBe(SMALL)
  })

  test('signed, and that signature turns out dead: nothing was lost, and nothing is paid', async () => {
    const [exchange, before] = [await spine.order(), await suspense()]
    const txHash = spine.deposit(exchange, SMALL)
    spine.fakes.eth.knobs.deaf = true
    await spine.blocks(2)
    const [{ conflict_key: key } = { conflict_key: '' }] = await spine.database.query<{ conflict_key: string }>(
      "select conflict_key from transactions where state = 'live'",
    )
    await replaceBlocks(2, txHash)
    expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying', deposit: { lost: true } })
    spine.fakes.eth.steal(key)
    await spine.blocks(12)
    spine.fakes.eth.knobs.deaf = false
    expect(await spine.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'DEPOSIT_VANISHED',
      deposit: { lost: false },
      payout: null,
    })
    expect(await suspense()).toBe(before)
    await expire(exchange)
    await spine.blocks(3)
    expect(await spine.status(exchange)).toBe('failed')
    expect(await spine.owed(exchange)).toEqual({})
    expect(paid(exchange)).toBe(0)
  })

  test('given up, and is on the chain after all: it goes back', async () => {
    const exchange = await spine.order()
    const txHash = spine.deposit(exchange, SMALL)
    await spine.blocks(1)
    const [payment] = spine.fakes.btc.paidTo(exchange.deposit.address)
    await replaceBlocks(1, txHash)
    await expire(exchange)
    await spine.turn()
    expect(await spine.status(exchange)).toBe('failed')
    spine.fakes.btc.offer(payment)
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('refunded')
    expect(spine.fakes.btc.paidTo(exchange.refund?.address ?? '')).toHaveLength(1)
  })

  test('while it is held for its refund address: closed at the expiry, and nothing is owed', async () => {
    const exchange = await spine.order({ refund: null })
    const txHash = spine.deposit(exchange, 2_900n)
    await spine.blocks(2)
    expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'NO_REFUND_ADDRESS' })
    await replaceBlocks(2, txHash)
    expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'DEPOSIT_VANISHED' })
    await spine.decide(exchange, 'release')
    await spine.turn()
    expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying' })
    await expire(exchange)
    await spine.turn()
    expect(await spine.status(exchange)).toBe('failed')
  })
})

describe('a payout leaves the chain', () => {
  test('before and after its confirmations: the same bytes are there again, once', async () => {
    const exchange = await spine.order()
    spine.deposit(exchange, SMALL)
    await spine.blocks(3)
    expect(paid(exchange)).toBe(1)
    spine.fakes.eth.reorg(1, () => true)
    await spine.turn()
    expect(paid(exchange)).toBe(0)
    await spine.blocks(4)
    expect(await spine.status(exchange)).toBe('finished')
    spine.fakes.eth.reorg(4, () => true)
    await spine.turn(2)
    expect(paid(exchange)).toBe(0)
    await spine.blocks(3)
    expect(paid(exchange)).toBe(1)
    expect(await spine.payouts(exchange)).toMatchObject([{ state: 'confirmed' }])
    expect(
      await spine.database.query(
        'select 1 from attempts a join payouts p on p.transaction_id = a.transaction_id where p.exchange_id = $1',
        [exchange.id],
      ),
    ).toHaveLength(1)
  })
})
