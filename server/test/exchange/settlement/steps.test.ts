import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bookParts, btc, eth, makeBook, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/** $500: requires the minimum of confirmations, and is far below the limit of one payout. */
const SMALL = COIN / 200n
/** $30 000: above the limit of one payout. */
const LARGE = (COIN * 3n) / 10n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const makeBookAt = (at: number) => makeBook({ ...bookParts, at })

describe('a deposit', () => {
  test('is paid once, and nothing is owed afterwards', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    await fixture.runWorkers()
    expect(await fixture.readStatus(exchange)).toBe('confirming')
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    const { sentUnits, receivedUnits, payoutHash } = await fixture.readExecution(exchange)
    expect(receivedUnits).toBe(SMALL)
    const payments = fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')
    expect(payments.map(({ units, txHash }) => ({ units, txHash }))).toEqual([{ units: sentUnits, txHash: payoutHash }])
    expect(await fixture.readLiabilities(exchange)).toEqual({})
  })

  test('below the minimum is refunded less the fee of one payment', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, 2_900n)
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(await fixture.readExecution(exchange)).toMatchObject({ reason: 'BELOW_MIN', sentUnits: null })
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '').map(({ units }) => units)).toEqual([
      2_900n - 1_500n,
    ])
  })

  test('that does not cover its own refund fails as dust; with one unit more it is refunded', async () => {
    const [dust, enough] = [await fixture.createExchange(), await fixture.createExchange()]
    fixture.payDeposit(dust, 1_500n + 545n)
    fixture.payDeposit(enough, 1_500n + 546n)
    await fixture.mineBlocks(8)
    expect([await fixture.readStatus(dust), await fixture.readStatus(enough)]).toEqual(['failed', 'refunded'])
    expect((await fixture.readExecution(dust)).reason).toBe('DUST')
    expect(fixture.fakes.btc.listPayments(enough.refund?.address ?? '').map(({ units }) => units)).toEqual([546n])
  })

  test('whose payout would be dust is refunded and delays no other', async () => {
    // An amount that the create accepted is exchanged although the minimum rose, unless the payout would be dust.
    const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 1_000n })
    fixture.payDeposit(exchange, ETHER / 1_000n)
    await fixture.mineBlocks(4)
    fixture.books.replace(makeBookAt(Date.now() + 3_600_000))
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: expect.stringMatching(/sending|finished/) })
    const dust = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 1_000n })
    fixture.books.replace(
      makeBook({
        ...bookParts,
        at: Date.now() + 3_600_000,
        prices: { ...bookParts.prices, eth: { bid: 2_000n * 10n ** 12n, ask: 2_001n * 10n ** 12n } },
      }),
    )
    fixture.payDeposit(dust, ETHER / 1_000n)
    await fixture.mineBlocks(8)
    expect(await fixture.readExecution(dust)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
    fixture.books.replace(makeBookAt(Date.now() + 3_600_000))
  })

  test('of the wrong asset is refunded to its sender if the partner wants that; an unlisted token only raises an alarm', async () => {
    await fixture.setRefundToSender(true)
    const exchange = await fixture.createExchange({ from: usdt, to: eth, refund: null })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n, { sender: 'somebody' })
    fixture.fakes.eth.pay(exchange.deposit.address, 77n, { contract: '0xunknown', sender: 'somebody' })
    await fixture.mineBlocks(8)
    await fixture.setRefundToSender(false)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(await fixture.readExecution(exchange)).toMatchObject({ reason: 'WRONG_ASSET', receivedUnits: null })
    expect(fixture.fakes.eth.listPayments('somebody')).toHaveLength(1)
    expect(await fixture.listAlarmKinds()).toContain('stray')
    expect(await fixture.listExecutions(exchange)).toHaveLength(1)
  })

  test('after the expiry is refunded, and the failed exchange becomes refunded', async () => {
    const exchange = await fixture.createExchange()
    await fixture.database.query(
      `with due as (update exchange_checks set next_check_at = clock_timestamp() where exchange_id = $1)
     update exchanges set expires_at = clock_timestamp() - interval '1 hour' where id = $1`,
      [exchange.id],
    )
    await fixture.runWorkers()
    expect(await fixture.store.exchanges.find(exchange.partnerId, exchange.id)).toMatchObject({
      exchange: { status: 'failed', reason: 'EXPIRED' },
    })
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect((await fixture.readExecution(exchange)).reason).toBe('LATE_DEPOSIT')
  })

  test('after the exchange finished has its own execution, and the exchange stays finished', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(8)
    fixture.payDeposit(exchange, SMALL)
    fixture.payDeposit(exchange, 2_900n)
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    const executions = (await fixture.listExecutions(exchange)).map(({ status }) => status)
    expect(executions).toEqual(['finished', 'finished', 'refunded'])
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(2)
  })

  test('without a recipient is credited to the partner', async () => {
    const exchange = await fixture.createExchange({ recipient: null })
    const balanceBefore = await fixture.store.ledger.balance(`liability:partner:${exchange.partnerId}`, 'eth@eth')
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    const { sentUnits } = await fixture.readExecution(exchange)
    const balanceAfter = await fixture.store.ledger.balance(`liability:partner:${exchange.partnerId}`, 'eth@eth')
    expect(balanceBefore - balanceAfter).toBeGreaterThanOrEqual(sentUnits ?? 1n)
    expect(await fixture.listPayouts(exchange)).toEqual([])
  })
})

describe('a held deposit', () => {
  test('without a refund address waits after a release, and can be failed', async () => {
    const exchange = await fixture.createExchange({ refund: null })
    fixture.payDeposit(exchange, 2_900n)
    await fixture.mineBlocks(3)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REFUND_ADDRESS_REQUIRED',
    })
    expect(await fixture.listAlarmKinds()).not.toContain('held')
    await fixture.decide(exchange, 'release')
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REFUND_ADDRESS_REQUIRED',
      decision: null,
    })
    await fixture.decide(exchange, 'fail')
    await fixture.runWorkers()
    expect(await fixture.readStatus(exchange)).toBe('failed')
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'btc@btc')).toBeLessThanOrEqual(-2_900n)
  })

  test('above the limit of one payout is paid when the operator releases it', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, LARGE)
    await fixture.mineBlocks(10)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LIMIT' }])
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('above the limit can be refunded, after its conversion is reversed', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, LARGE)
    await fixture.mineBlocks(10)
    await fixture.decide(exchange, 'refund')
    await fixture.runWorkers()
    // The refund is above the limit, too.
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(await fixture.listPayouts(exchange)).toMatchObject([
      { purpose: 'payout', state: 'void' },
      { purpose: 'refund', state: 'confirmed' },
    ])
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toEqual([])
  })

  test('above the limit can be failed: nothing is paid and nothing is owed', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, LARGE)
    await fixture.mineBlocks(10)
    await fixture.decide(exchange, 'fail')
    await fixture.mineBlocks(3)
    expect(await fixture.readStatus(exchange)).toBe('failed')
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'void' }])
    expect(await fixture.readLiabilities(exchange)).toEqual({})
  })

  test('by the screening is paid or refunded as the operator decides', async () => {
    const [released, refunded] = [await fixture.createExchange(), await fixture.createExchange()]
    fixture.screening.verdict = 'review'
    fixture.payDeposit(released, SMALL)
    fixture.payDeposit(refunded, SMALL)
    await fixture.mineBlocks(3)
    for (const exchange of [released, refunded])
      expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
    await fixture.decide(released, 'release')
    await fixture.decide(refunded, 'refund')
    await fixture.mineBlocks(6)
    expect([await fixture.readStatus(released), await fixture.readStatus(refunded)]).toEqual(['finished', 'refunded'])
    fixture.screening.verdict = 'allow'
  })

  test('whose refund has no address can be converted again, and is paid once', async () => {
    const exchange = await fixture.createExchange({ refund: null })
    fixture.payDeposit(exchange, SMALL)
    fixture.books.replace(makeBookAt(0))
    await fixture.mineBlocks(3)
    expect(await fixture.readStatus(exchange)).toBe('exchanging')
    fixture.screening.verdict = 'review'
    fixture.books.replace(makeBookAt(Date.now() + 3_600_000))
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'SCREENING',
      order: { state: 'filled' },
    })
    const firstOrderId = (await fixture.readExecution(exchange)).orderId
    await fixture.decide(exchange, 'refund')
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REFUND_ADDRESS_REQUIRED',
      order: { state: 'cancelled' },
    })
    fixture.screening.verdict = 'allow'
    // A release continues the refund, which still has no address.
    await fixture.decide(exchange, 'release')
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REFUND_ADDRESS_REQUIRED',
    })
    await fixture.decide(exchange, 'convert')
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect((await fixture.readExecution(exchange)).orderId).not.toBe(firstOrderId)
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('whose order no venue could fill is converted when the operator decides so', async () => {
    const exchange = await fixture.createExchange({ refund: null })
    await fixture.database.query(
      "update inventory set promised = promised + 10::numeric ^ 24 where asset_id = 'eth@eth'",
    )
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REFUND_ADDRESS_REQUIRED',
      order: { state: 'rejected' },
    })
    await fixture.database.query(
      "update inventory set promised = promised - 10::numeric ^ 24 where asset_id = 'eth@eth'",
    )
    await fixture.decide(exchange, 'convert')
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })
})

describe('a fixed rate', () => {
  const FIXED_RATE = { flow: 'fixed-rate', fromUnits: SMALL, toUnits: 119_000_000_000_000_000n } as const

  test('applies to the first deposit; the second has a floating rate', async () => {
    const exchange = await fixture.createExchange(FIXED_RATE)
    fixture.payDeposit(exchange, SMALL)
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(8)
    expect([
      (await fixture.readExecution(exchange, 0)).rateKind,
      (await fixture.readExecution(exchange, 1)).rateKind,
    ]).toEqual(['fixed', 'floating'])
    expect((await fixture.readExecution(exchange, 0)).sentUnits).toBe(FIXED_RATE.toUnits)
  })

  test('is not used up by a deposit that leaves the chain', async () => {
    const exchange = await fixture.createExchange(FIXED_RATE)
    const orphanedHash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(1)
    fixture.fakes.btc.reorg(1, (txHash) => txHash === orphanedHash)
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(8)
    expect([
      (await fixture.readExecution(exchange, 0)).rateKind,
      (await fixture.readExecution(exchange, 1)).rateKind,
    ]).toEqual([null, 'fixed'])
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('keeps its reservation while a deposit in time waits for confirmations', async () => {
    const exchange = await fixture.createExchange(FIXED_RATE)
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(1)
    await fixture.database.query(
      "update reservations set expires_at = clock_timestamp() - interval '1 second' where exchange_id = $1",
      [exchange.id],
    )
    await fixture.store.inventory.releaseExpired(100)
    expect(
      await fixture.database.query('select id from reservations where exchange_id = $1', [exchange.id]),
    ).toHaveLength(1)
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(await fixture.database.query('select id from reservations where exchange_id = $1', [exchange.id])).toEqual(
      [],
    )
  })
})
