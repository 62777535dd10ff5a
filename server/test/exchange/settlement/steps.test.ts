import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bookParts, btc, eth, makeBook, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/** $500: the least number of confirmations, and far below the limit of one payout. */
const SMALL = COIN / 200n
/** $30 000: above the limit of one payout. */
const LARGE = (COIN * 3n) / 10n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

const market = (at: number) => makeBook({ ...bookParts, at })

describe('a deposit', () => {
  test('is paid once, and the exchange owes nothing', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, SMALL)
    await fixture.turn()
    expect(await fixture.status(exchange)).toBe('confirming')
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('finished')
    const { sentUnits, receivedUnits, payoutHash } = await fixture.execution(exchange)
    expect(receivedUnits).toBe(SMALL)
    const paid = fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')
    expect(paid.map(({ units, txHash }) => ({ units, txHash }))).toEqual([{ units: sentUnits, txHash: payoutHash }])
    expect(await fixture.owed(exchange)).toEqual({})
  })

  test('below the minimum goes back, less the fee of one payment', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, 2_900n)
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('refunded')
    expect(await fixture.execution(exchange)).toMatchObject({ reason: 'BELOW_MIN', sentUnits: null })
    expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '').map(({ units }) => units)).toEqual([
      2_900n - 1_500n,
    ])
  })

  test('that does not cover its own refund fails as dust; one unit more goes back', async () => {
    const [dust, enough] = [await fixture.order(), await fixture.order()]
    fixture.deposit(dust, 1_500n + 545n)
    fixture.deposit(enough, 1_500n + 546n)
    await fixture.blocks(8)
    expect([await fixture.status(dust), await fixture.status(enough)]).toEqual(['failed', 'refunded'])
    expect((await fixture.execution(dust)).reason).toBe('DUST')
    expect(fixture.fakes.btc.paidTo(enough.refund?.address ?? '').map(({ units }) => units)).toEqual([546n])
  })

  test('whose payout would be dust is refunded and delays no other', async () => {
    // What the create accepted is executed although the minimum rose: here to less than an output carries.
    const exchange = await fixture.order({ from: eth, to: btc, fromUnits: ETHER / 1_000n })
    fixture.deposit(exchange, ETHER / 1_000n)
    await fixture.blocks(4)
    fixture.books.replace(market(Date.now() + 3_600_000))
    expect(await fixture.execution(exchange)).toMatchObject({ status: expect.stringMatching(/sending|finished/) })
    const poor = await fixture.order({ from: eth, to: btc, fromUnits: ETHER / 1_000n })
    fixture.books.replace(
      makeBook({
        ...bookParts,
        at: Date.now() + 3_600_000,
        prices: { ...bookParts.prices, eth: { bid: 2_000n * 10n ** 12n, ask: 2_001n * 10n ** 12n } },
      }),
    )
    fixture.deposit(poor, ETHER / 1_000n)
    await fixture.blocks(8)
    expect(await fixture.execution(poor)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
    fixture.books.replace(market(Date.now() + 3_600_000))
  })

  test('of the wrong asset goes back to its sender as what it is; an unlisted token is left alone, with an alarm', async () => {
    const exchange = await fixture.order({ from: usdt, to: eth, refund: null })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n, { sender: 'somebody' })
    fixture.fakes.eth.pay(exchange.deposit.address, 77n, { contract: '0xunknown', sender: 'somebody' })
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('refunded')
    expect(await fixture.execution(exchange)).toMatchObject({ reason: 'WRONG_ASSET', receivedUnits: null })
    expect(fixture.fakes.eth.paidTo('somebody')).toHaveLength(1)
    expect(await fixture.alarms()).toContain('stray')
    expect(await fixture.executions(exchange)).toHaveLength(1)
  })

  test('after the expiry goes back, and the exchange with it', async () => {
    const exchange = await fixture.order()
    await fixture.database.query(
      "update exchanges set expires_at = clock_timestamp() - interval '1 second', next_check_at = clock_timestamp() where id = $1",
      [exchange.id],
    )
    await fixture.turn()
    expect(await fixture.store.exchanges.find(exchange.partnerId, exchange.id)).toMatchObject({
      exchange: { status: 'failed', reason: 'EXPIRED' },
    })
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('refunded')
    expect((await fixture.execution(exchange)).reason).toBe('LATE_DEPOSIT')
  })

  test('after the exchange finished is an execution of its own; what is finished stays so', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(8)
    fixture.deposit(exchange, SMALL)
    fixture.deposit(exchange, 2_900n)
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('finished')
    const executions = (await fixture.executions(exchange)).map(({ status }) => status)
    expect(executions).toEqual(['finished', 'finished', 'refunded'])
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(2)
  })

  test('without a recipient is the partner’s', async () => {
    const exchange = await fixture.order({ recipient: null })
    const before = await fixture.store.ledger.balance(`liability:partner:${exchange.partnerId}`, 'eth@eth')
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(3)
    expect(await fixture.status(exchange)).toBe('finished')
    const { sentUnits } = await fixture.execution(exchange)
    const after = await fixture.store.ledger.balance(`liability:partner:${exchange.partnerId}`, 'eth@eth')
    expect(before - after).toBeGreaterThanOrEqual(sentUnits ?? 1n)
    expect(await fixture.payouts(exchange)).toEqual([])
  })
})

describe('what is held', () => {
  test('without a refund address waits, is no loop, and can be closed', async () => {
    const exchange = await fixture.order({ refund: null })
    fixture.deposit(exchange, 2_900n)
    await fixture.blocks(3)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'NO_REFUND_ADDRESS' })
    expect(await fixture.alarms()).toContain('held')
    await fixture.decide(exchange, 'release')
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'NO_REFUND_ADDRESS',
      decision: null,
    })
    await fixture.decide(exchange, 'fail')
    await fixture.turn()
    expect(await fixture.status(exchange)).toBe('failed')
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'btc@btc')).toBeLessThanOrEqual(-2_900n)
  })

  test('above the limit of one payout goes when a person says so', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, LARGE)
    await fixture.blocks(10)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
    expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LIMIT' }])
    await fixture.decide(exchange, 'release')
    await fixture.blocks(4)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('above the limit can be sent back: the conversion is undone first', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, LARGE)
    await fixture.blocks(10)
    await fixture.decide(exchange, 'refund')
    await fixture.turn()
    // A refund of as much is above the limit as well.
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
    await fixture.decide(exchange, 'release')
    await fixture.blocks(4)
    expect(await fixture.status(exchange)).toBe('refunded')
    expect(await fixture.payouts(exchange)).toMatchObject([
      { purpose: 'payout', state: 'void' },
      { purpose: 'refund', state: 'confirmed' },
    ])
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toEqual([])
  })

  test('above the limit can be closed: nothing is paid, and nothing is owed', async () => {
    const exchange = await fixture.order()
    fixture.deposit(exchange, LARGE)
    await fixture.blocks(10)
    await fixture.decide(exchange, 'fail')
    await fixture.blocks(3)
    expect(await fixture.status(exchange)).toBe('failed')
    expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'void' }])
    expect(await fixture.owed(exchange)).toEqual({})
  })

  test('by the screening is paid, or sent back, as a person decides', async () => {
    const [good, bad] = [await fixture.order(), await fixture.order()]
    fixture.screening.verdict = 'review'
    fixture.deposit(good, SMALL)
    fixture.deposit(bad, SMALL)
    await fixture.blocks(3)
    for (const exchange of [good, bad])
      expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
    await fixture.decide(good, 'release')
    await fixture.decide(bad, 'refund')
    await fixture.blocks(6)
    expect([await fixture.status(good), await fixture.status(bad)]).toEqual(['finished', 'refunded'])
    fixture.screening.verdict = 'allow'
  })

  test('after its conversion: refunded, held without an address, and released after all: converted again, not twice', async () => {
    const exchange = await fixture.order({ refund: null })
    fixture.deposit(exchange, SMALL)
    fixture.books.replace(market(0))
    await fixture.blocks(3)
    expect(await fixture.status(exchange)).toBe('exchanging')
    fixture.screening.verdict = 'review'
    fixture.books.replace(market(Date.now() + 3_600_000))
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'SCREENING',
      order: { state: 'filled' },
    })
    const [first] = [(await fixture.execution(exchange)).orderId]
    await fixture.decide(exchange, 'refund')
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'NO_REFUND_ADDRESS',
      order: { state: 'cancelled' },
    })
    fixture.screening.verdict = 'allow'
    // A release lets the refund go on, which has no address yet.
    await fixture.decide(exchange, 'release')
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'NO_REFUND_ADDRESS' })
    await fixture.decide(exchange, 'convert')
    await fixture.blocks(4)
    expect(await fixture.status(exchange)).toBe('finished')
    expect((await fixture.execution(exchange)).orderId).not.toBe(first)
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('is tried again where no venue could fill it', async () => {
    const exchange = await fixture.order({ refund: null })
    await fixture.database.query(
      "update inventory set promised = promised + 10::numeric ^ 24 where asset_id = 'eth@eth'",
    )
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(3)
    expect(await fixture.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'NO_REFUND_ADDRESS',
      order: { state: 'rejected' },
    })
    await fixture.database.query(
      "update inventory set promised = promised - 10::numeric ^ 24 where asset_id = 'eth@eth'",
    )
    await fixture.decide(exchange, 'convert')
    await fixture.blocks(4)
    expect(await fixture.status(exchange)).toBe('finished')
  })
})

describe('a fixed rate', () => {
  const fixed = { flow: 'fixed-rate', fromUnits: SMALL, toUnits: 119_000_000_000_000_000n } as const

  test('serves the first deposit; the second floats', async () => {
    const exchange = await fixture.order(fixed)
    fixture.deposit(exchange, SMALL)
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(8)
    expect([(await fixture.execution(exchange, 0)).rateKind, (await fixture.execution(exchange, 1)).rateKind]).toEqual([
      'fixed',
      'floating',
    ])
    expect((await fixture.execution(exchange, 0)).sentUnits).toBe(fixed.toUnits)
  })

  test('is not used up by a deposit that vanished', async () => {
    const exchange = await fixture.order(fixed)
    const orphaned = fixture.deposit(exchange, SMALL)
    await fixture.blocks(1)
    fixture.fakes.btc.reorg(1, (txHash) => txHash === orphaned)
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(8)
    expect([(await fixture.execution(exchange, 0)).rateKind, (await fixture.execution(exchange, 1)).rateKind]).toEqual([
      null,
      'fixed',
    ])
    expect(await fixture.status(exchange)).toBe('finished')
  })

  test('keeps its coins while a deposit that came in time confirms', async () => {
    const exchange = await fixture.order(fixed)
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(1)
    await fixture.database.query(
      "update reservations set expires_at = clock_timestamp() - interval '1 second' where exchange_id = $1",
      [exchange.id],
    )
    await fixture.store.inventory.releaseExpired(100)
    expect(
      await fixture.database.query('select id from reservations where exchange_id = $1', [exchange.id]),
    ).toHaveLength(1)
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(await fixture.database.query('select id from reservations where exchange_id = $1', [exchange.id])).toEqual(
      [],
    )
  })
})
