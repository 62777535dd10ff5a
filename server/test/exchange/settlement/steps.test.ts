import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bookParts, btc, eth, makeBook, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startSpine } from '../money-path.ts'

/** $500: the least number of confirmations, and far below the limit of one payout. */
const SMALL = COIN / 200n
/** $30 000: above the limit of one payout. */
const LARGE = (COIN * 3n) / 10n

let spine: Awaited<ReturnType<typeof startSpine>>
beforeAll(async () => {
  spine = await startSpine()
  await spine.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => spine.close())
afterEach(() => spine.balanced())

const market = (at: number) => makeBook({ ...bookParts, at })

describe('a deposit', () => {
  test('is paid once, and the exchange owes nothing', async () => {
    const exchange = await spine.order()
    spine.deposit(exchange, SMALL)
    await spine.turn()
    expect(await spine.status(exchange)).toBe('confirming')
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('finished')
    const { sentUnits, receivedUnits, payoutHash } = await spine.execution(exchange)
    expect(receivedUnits).toBe(SMALL)
    const paid = spine.fakes.eth.paidTo(exchange.recipient?.address ?? '')
    expect(paid.map(({ units, txHash }) => ({ units, txHash }))).toEqual([{ units: sentUnits, txHash: payoutHash }])
    expect(await spine.owed(exchange)).toEqual({})
  })

  test('below the minimum goes back, less the fee of one payment', async () => {
    const exchange = await spine.order()
    spine.deposit(exchange, 2_900n)
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('refunded')
    expect(await spine.execution(exchange)).toMatchObject({ reason: 'BELOW_MIN', sentUnits: null })
    expect(spine.fakes.btc.paidTo(exchange.refund?.address ?? '').map(({ units }) => units)).toEqual([2_900n - 1_500n])
  })

  test('that does not cover its own refund fails as dust; one unit more goes back', async () => {
    const [dust, enough] = [await spine.order(), await spine.order()]
    spine.deposit(dust, 1_500n + 545n)
    spine.deposit(enough, 1_500n + 546n)
    await spine.blocks(8)
    expect([await spine.status(dust), await spine.status(enough)]).toEqual(['failed', 'refunded'])
    expect((await spine.execution(dust)).reason).toBe('DUST')
    expect(spine.fakes.btc.paidTo(enough.refund?.address ?? '').map(({ units }) => units)).toEqual([546n])
  })

  test('whose payout would be dust goes back, and holds nobody up', async () => {
    // What the create accepted is executed although the minimum rose: here to less than an output carries.
    const exchange = await spine.order({ from: eth, to: btc, fromUnits: ETHER / 1_000n })
    spine.deposit(exchange, ETHER / 1_000n)
    await spine.blocks(4)
    spine.books.replace(market(Date.now() + 3_600_000))
    expect(await spine.execution(exchange)).toMatchObject({ status: expect.stringMatching(/sending|finished/) })
    const poor = await spine.order({ from: eth, to: btc, fromUnits: ETHER / 1_000n })
    spine.books.replace(
      makeBook({
        ...bookParts,
        at: Date.now() + 3_600_000,
        prices: { ...bookParts.prices, eth: { bid: 2_000n * 10n ** 12n, ask: 2_001n * 10n ** 12n } },
      }),
    )
    spine.deposit(poor, ETHER / 1_000n)
    await spine.blocks(8)
    expect(await spine.execution(poor)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
    spine.books.replace(market(Date.now() + 3_600_000))
  })

  test('of the wrong asset goes back to its sender as what it is; an unlisted token is left alone, with an alarm', async () => {
    const exchange = await spine.order({ from: usdt, to: eth, refund: null })
    spine.fakes.eth.pay(exchange.deposit.address, ETHER / 10n, { sender: 'somebody' })
    spine.fakes.eth.pay(exchange.deposit.address, 77n, { contract: '0xunknown', sender: 'somebody' })
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('refunded')
    expect(await spine.execution(exchange)).toMatchObject({ reason: 'WRONG_ASSET', receivedUnits: null })
    expect(spine.fakes.eth.paidTo('somebody')).toHaveLength(1)
    expect(await spine.alarms()).toContain('stray')
    expect(await spine.executions(exchange)).toHaveLength(1)
  })

  test('after the expiry goes back, and the exchange with it', async () => {
    const exchange = await spine.order()
    await spine.database.query(
      "update exchanges set expires_at = clock_timestamp() - interval '1 second', next_check_at = clock_timestamp() where id = $1",
      [exchange.id],
    )
    await spine.turn()
    expect(await spine.store.exchanges.find(exchange.partnerId, exchange.id)).toMatchObject({
      exchange: { status: 'failed', reason: 'EXPIRED' },
    })
    spine.deposit(exchange, SMALL)
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('refunded')
    expect((await spine.execution(exchange)).reason).toBe('LATE_DEPOSIT')
  })

  test('after the exchange finished is an execution of its own; what is finished stays so', async () => {
    const exchange = await spine.order()
    spine.deposit(exchange, SMALL)
    await spine.blocks(8)
    spine.deposit(exchange, SMALL)
    spine.deposit(exchange, 2_900n)
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('finished')
    const executions = (await spine.executions(exchange)).map(({ status }) => status)
    expect(executions).toEqual(['finished', 'finished', 'refunded'])
    expect(spine.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(2)
  })

  test('without a recipient is the partner’s', async () => {
    const exchange = await spine.order({ recipient: null })
    const before = await spine.store.ledger.balance(`liability:partner:${exchange.partnerId}`, 'eth@eth')
    spine.deposit(exchange, SMALL)
    await spine.blocks(3)
    expect(await spine.status(exchange)).toBe('finished')
    const { sentUnits } = await spine.execution(exchange)
    const after = await spine.store.ledger.balance(`liability:partner:${exchange.partnerId}`, 'eth@eth')
    expect(before - after).toBeGreaterThanOrEqual(sentUnits ?? 1n)
    expect(await spine.payouts(exchange)).toEqual([])
  })
})

describe('what is held', () => {
  test('without a refund address waits, is no loop, and can be closed', async () => {
    const exchange = await spine.order({ refund: null })
    spine.deposit(exchange, 2_900n)
    await spine.blocks(3)
    expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'NO_REFUND_ADDRESS' })
    expect(await spine.alarms()).toContain('held')
    await spine.decide(exchange, 'release')
    await spine.turn()
    expect(await spine.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'NO_REFUND_ADDRESS',
      decision: null,
    })
    await spine.decide(exchange, 'fail')
    await spine.turn()
    expect(await spine.status(exchange)).toBe('failed')
    expect(await spine.store.ledger.balance('liability:unclaimed', 'btc@btc')).toBeLessThanOrEqual(-2_900n)
  })

  test('above the limit of one payout goes when a person says so', async () => {
    const exchange = await spine.order()
    spine.deposit(exchange, LARGE)
    await spine.blocks(10)
    expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
    expect(await spine.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LIMIT' }])
    await spine.decide(exchange, 'release')
    await spine.blocks(4)
    expect(await spine.status(exchange)).toBe('finished')
    expect(spine.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('above the limit can be sent back: the conversion is undone first', async () => {
    const exchange = await spine.order()
    spine.deposit(exchange, LARGE)
    await spine.blocks(10)
    await spine.decide(exchange, 'refund')
    await spine.turn()
    // A refund of as much is above the limit as well.
    expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
    await spine.decide(exchange, 'release')
    await spine.blocks(4)
    expect(await spine.status(exchange)).toBe('refunded')
    expect(await spine.payouts(exchange)).toMatchObject([
      { purpose: 'payout', state: 'void' },
      { purpose: 'refund', state: 'confirmed' },
    ])
    expect(spine.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toEqual([])
  })

  test('above the limit can be closed: nothing is paid, and nothing is owed', async () => {
    const exchange = await spine.order()
    spine.deposit(exchange, LARGE)
    await spine.blocks(10)
    await spine.decide(exchange, 'fail')
    await spine.blocks(3)
    expect(await spine.status(exchange)).toBe('failed')
    expect(await spine.payouts(exchange)).toMatchObject([{ state: 'void' }])
    expect(await spine.owed(exchange)).toEqual({})
  })

  test('by the screening is paid, or sent back, as a person decides', async () => {
    const [good, bad] = [await spine.order(), await spine.order()]
    spine.screening.verdict = 'review'
    spine.deposit(good, SMALL)
    spine.deposit(bad, SMALL)
    await spine.blocks(3)
    for (const exchange of [good, bad])
      expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
    await spine.decide(good, 'release')
    await spine.decide(bad, 'refund')
    await spine.blocks(6)
    expect([await spine.status(good), await spine.status(bad)]).toEqual(['finished', 'refunded'])
    spine.screening.verdict = 'allow'
  })

  test('after its conversion, sent back, without an address, and let go after all: converted anew, not twice', async () => {
    const exchange = await spine.order({ refund: null })
    spine.deposit(exchange, SMALL)
    spine.books.replace(market(0))
    await spine.blocks(3)
    expect(await spine.status(exchange)).toBe('exchanging')
    spine.screening.verdict = 'review'
    spine.books.replace(market(Date.now() + 3_600_000))
    await spine.turn()
    expect(await spine.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'SCREENING',
      order: { state: 'filled' },
    })
    const [first] = [(await spine.execution(exchange)).orderId]
    await spine.decide(exchange, 'refund')
    await spine.turn()
    expect(await spine.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'NO_REFUND_ADDRESS',
      order: { state: 'cancelled' },
    })
    spine.screening.verdict = 'allow'
    // A release lets the refund go on, which has no address yet.
    await spine.decide(exchange, 'release')
    await spine.turn()
    expect(await spine.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'NO_REFUND_ADDRESS' })
    await spine.decide(exchange, 'convert')
    await spine.blocks(4)
    expect(await spine.status(exchange)).toBe('finished')
    expect((await spine.execution(exchange)).orderId).not.toBe(first)
    expect(spine.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('is tried again where no venue could fill it', async () => {
    const exchange = await spine.order({ refund: null })
    await spine.database.query("update inventory set promised = promised + 10::numeric ^ 24 where asset_id = 'eth@eth'")
    spine.deposit(exchange, SMALL)
    await spine.blocks(3)
    expect(await spine.execution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'NO_REFUND_ADDRESS',
      order: { state: 'rejected' },
    })
    await spine.database.query("update inventory set promised = promised - 10::numeric ^ 24 where asset_id = 'eth@eth'")
    await spine.decide(exchange, 'convert')
    await spine.blocks(4)
    expect(await spine.status(exchange)).toBe('finished')
  })
})

describe('a fixed rate', () => {
  const fixed = { flow: 'fixed-rate', fromUnits: SMALL, toUnits: 119_000_000_000_000_000n } as const

  test('serves the first deposit; the second floats', async () => {
    const exchange = await spine.order(fixed)
    spine.deposit(exchange, SMALL)
    spine.deposit(exchange, SMALL)
    await spine.blocks(8)
    expect([(await spine.execution(exchange, 0)).rateKind, (await spine.execution(exchange, 1)).rateKind]).toEqual([
      'fixed',
      'floating',
    ])
    expect((await spine.execution(exchange, 0)).sentUnits).toBe(fixed.toUnits)
  })

  test('is not used up by a deposit that vanished', async () => {
    const exchange = await spine.order(fixed)
    const gone = spine.deposit(exchange, SMALL)
    await spine.blocks(1)
    spine.fakes.btc.reorg(1, (txHash) => txHash === gone)
    spine.deposit(exchange, SMALL)
    await spine.blocks(8)
    expect([(await spine.execution(exchange, 0)).rateKind, (await spine.execution(exchange, 1)).rateKind]).toEqual([
      null,
      'fixed',
    ])
    expect(await spine.status(exchange)).toBe('finished')
  })

  test('keeps its coins while a deposit that came in time confirms', async () => {
    const exchange = await spine.order(fixed)
    spine.deposit(exchange, SMALL)
    await spine.blocks(1)
    await spine.database.query(
      "update reservations set expires_at = clock_timestamp() - interval '1 second' where exchange_id = $1",
      [exchange.id],
    )
    await spine.store.inventory.releaseExpired(100)
    expect(
      await spine.database.query('select id from reservations where exchange_id = $1', [exchange.id]),
    ).toHaveLength(1)
    await spine.blocks(8)
    expect(await spine.status(exchange)).toBe('finished')
    expect(await spine.database.query('select id from reservations where exchange_id = $1', [exchange.id])).toEqual([])
  })
})
