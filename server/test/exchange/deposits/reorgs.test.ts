import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { journalEntry } from '../../../src/core/domain/ledger/journal.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { COIN, ETHER, partnerId, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const readSuspense = () => fixture.store.ledger.balance('expense:suspense', 'btc@btc')
/** What the report of costs has as lost with this exchange, by asset. */
async function readLost({ id }: Exchange): Promise<Record<string, bigint>> {
  const period = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 86_400_000) }
  const rows = (await fixture.store.reports.costs(period, 'exchange', 1_000)).filter(({ group }) => group === id)
  return Object.fromEntries(rows.filter(({ lost }) => lost !== 0n).map(({ assetId, lost }) => [assetId, lost]))
}
const expireExchange = (exchange: Exchange) =>
  fixture.database.query(
    `with due as (update exchange_checks set next_check_at = clock_timestamp() where exchange_id = $1)
     update exchanges set expires_at = clock_timestamp() - interval '1 hour' where id = $1`,
    [exchange.id],
  )
/** No payout on ethereum is signed until `resumePayouts`. */
const pausePayouts = () => fixture.store.pauses.pause('payouts:eth', 'test', 'test')
const resumePayouts = async () => {
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.clearHolds()
}
/** Replaces the newest blocks by blocks without this transaction, and runs the workers. */
const replaceBlocks = async (depth: number, txHash: string) => {
  fixture.fakes.btc.reorg(depth, (one) => one === txHash)
  await fixture.runWorkers()
}
let moves = 0
const moveCapital = (units: bigint, debit: 'equity:capital' | 'asset:wallet') => {
  const credit = debit === 'asset:wallet' ? 'equity:capital' : 'asset:wallet'
  return fixture.store.ledger.post(
    journalEntry(`moved ${++moves}`, 'a test', null, [{ debit, credit, assetId: 'btc@btc', units }]),
  )
}
/** Leaves the wallet one unit less than the deposit brought. Returns what fills it again. */
async function spendCoins(depositUnits = SMALL) {
  const units = (await fixture.readWalletUnits('btc@btc')) - depositUnits + 1n
  await moveCapital(units, 'equity:capital')
  return () => moveCapital(units, 'asset:wallet')
}
const findAlarm = async (exchange: Exchange) =>
  fixture.store.alarms.find(`reorg:${(await fixture.readExecution(exchange)).deposit.id}`)
async function expectUncovered(exchange: Exchange): Promise<void> {
  expect(await fixture.store.pauses.list()).toContainEqual(expect.objectContaining({ scope: 'asset:btc@btc' }))
  expect((await findAlarm(exchange))?.detail).toMatchObject({ exchangeId: exchange.id, missing: '1' })
}

describe('a deposit that leaves the chain', () => {
  test('before it is credited (D8): returns the exchange to pending, and the exchange fails at its expiry', async () => {
    const exchange = await fixture.createExchange()
    const txHash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(1)
    expect(await fixture.readStatus(exchange)).toBe('confirming')
    await replaceBlocks(1, txHash)
    expect(await fixture.readStatus(exchange)).toBe('pending')
    await expireExchange(exchange)
    await fixture.runWorkers()
    expect(await fixture.store.exchanges.find(exchange.partnerId, exchange.id)).toMatchObject({
      exchange: { status: 'failed', reason: 'DEPOSIT_VANISHED' },
    })
  })

  test('after the conversion, before the payout is signed (D8): reverses credit and conversion; mined again, it is paid once', async () => {
    await pausePayouts()
    const [exchange, unitsBefore] = [await fixture.createExchange(), await fixture.readWalletUnits('btc@btc')]
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(2)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'exchanging', payout: { state: 'reserved' } })
    fixture.fakes.btc.reorg(2)
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'pending',
      payout: null,
      order: null,
      receivedUnits: null,
    })
    expect(await fixture.readWalletUnits('btc@btc')).toBe(unitsBefore)
    expect(await fixture.readLiabilities(exchange)).toEqual({})
    await resumePayouts()
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })

  test('and is mined again before the next step: no payout is signed below the required confirmations', async () => {
    await pausePayouts()
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(2)
    await resumePayouts()
    fixture.fakes.btc.reorg(2)
    await fixture.services.record(fixture.fakes.btc.chain)
    await fixture.services.dispatch('eth')
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved' }])
    fixture.fakes.btc.mine()
    await fixture.services.record(fixture.fakes.btc.chain)
    // Mined again and still credited, with one confirmation too few.
    expect((await fixture.readExecution(exchange)).deposit).toMatchObject({
      status: 'credited',
      block: expect.anything(),
    })
    await fixture.services.dispatch('eth')
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved' }])
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })

  test('and is mined again before the next step: no partner is credited below the required confirmations', async () => {
    const readOwed = async () => -(await fixture.store.ledger.balance(`liability:partner:${partnerId}`, 'eth@eth'))
    const exchange = await fixture.createExchange({ recipient: null, partnerFeeBps: 0 })
    const { pauses } = fixture.books.current()
    fixture.books.replace({ pauses: { networks: new Set(['eth']), assets: new Set() } })
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(2)
    const owed = await readOwed()
    fixture.fakes.btc.reorg(2)
    await fixture.services.record(fixture.fakes.btc.chain)
    fixture.fakes.btc.mine()
    await fixture.services.record(fixture.fakes.btc.chain)
    fixture.books.replace({ pauses })
    // Mined again and still credited, with one confirmation too few.
    await fixture.services.step(exchange.id)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      ...{ status: 'exchanging', rateKind: 'floating' },
      deposit: { status: 'credited', block: expect.anything() },
    })
    expect(await readOwed()).toBe(owed)
    await fixture.mineBlocks(1)
    const { status, sentUnits } = await fixture.readExecution(exchange)
    expect([status, await readOwed()]).toEqual(['finished', owed + (sentUnits ?? 0n)])
    expect(sentUnits).toBeGreaterThan(0n)
  })

  test('after the payout is signed (D8): books a loss with an alarm; the payout continues, and a returned deposit clears the loss', async () => {
    const [exchange, suspenseBefore] = [await fixture.createExchange(), await readSuspense()]
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(2)
    expect(await fixture.readStatus(exchange)).toBe('sending')
    fixture.fakes.btc.reorg(2)
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REORG_AFTER_PAYOUT',
      deposit: { isBookedAsLoss: true },
    })
    expect((await readSuspense()) - suspenseBefore).toBe(SMALL)
    expect(await readLost(exchange)).toEqual({ 'btc@btc': SMALL })
    expect(await fixture.listAlarmKinds()).toContain('reorg')
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(await readSuspense()).toBe(suspenseBefore)
    expect(await readLost(exchange)).toEqual({})
    expect(await fixture.listAlarmKinds()).not.toContain('reorg')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })

  test('after the exchange finished: books a loss, and the exchange stays finished', async () => {
    const [exchange, suspenseBefore] = [await fixture.createExchange(), await readSuspense()]
    const txHash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(7)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    await replaceBlocks(7, txHash)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect((await readSuspense()) - suspenseBefore).toBe(SMALL)
    expect(await readLost(exchange)).toEqual({ 'btc@btc': SMALL })
  })

  test('after its coins were spent too: pauses the asset, and books the loss when the wallet holds as much', async () => {
    const [exchange, suspenseBefore] = [await fixture.createExchange(), await readSuspense()]
    const txHash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(2)
    expect(await fixture.readStatus(exchange)).toBe('sending')
    const fillWallet = await spendCoins()
    await replaceBlocks(2, txHash)
    await expectUncovered(exchange)
    expect(await readSuspense()).toBe(suspenseBefore)
    await fillWallet()
    await fixture.services.step(exchange.id)
    expect((await readSuspense()) - suspenseBefore).toBe(SMALL)
    await fixture.store.pauses.resume('asset:btc@btc')
  })

  test.each([
    ['to be paid', 'pending', COIN / 200n, {}],
    ['held for its refund', 'verifying', 2_900n, { refund: null }],
  ] as const)(
    'after its coins were spent, %s and unsigned: pauses the asset, and is reversed when the wallet holds as much',
    async (_name, status, units, options) => {
      await pausePayouts()
      const [exchange, suspenseBefore] = [await fixture.createExchange(options), await readSuspense()]
      const txHash = fixture.payDeposit(exchange, units)
      await fixture.mineBlocks(2)
      const before = await fixture.readExecution(exchange)
      const fillWallet = await spendCoins(units)
      await replaceBlocks(2, txHash)
      await expectUncovered(exchange)
      expect(await fixture.readExecution(exchange)).toMatchObject({
        status: before.status,
        payout: before.payout,
        order: before.order,
        deposit: { status: 'credited', block: null },
      })
      await fillWallet()
      await fixture.services.step(exchange.id)
      expect(await fixture.readExecution(exchange)).toMatchObject({
        status,
        payout: null,
        order: null,
        deposit: { status: 'reversed' },
      })
      expect(await fixture.readLiabilities(exchange)).toEqual({})
      expect(await readSuspense()).toBe(suspenseBefore)
      expect(await findAlarm(exchange)).toBeNull()
      await fixture.store.pauses.resume('asset:btc@btc')
      await resumePayouts()
    },
  )

  test('after its coins were spent, and which an operator fails: is closed when the wallet holds as much', async () => {
    const exchange = await fixture.createExchange({ refund: null })
    const txHash = fixture.payDeposit(exchange, 2_900n)
    await fixture.mineBlocks(2)
    const fillWallet = await spendCoins(2_900n)
    await replaceBlocks(2, txHash)
    const { deposit } = await fixture.readExecution(exchange)
    expect(await fixture.store.operator.findSpentDeposit(deposit.id)).toEqual({
      account: 'asset:wallet',
      assetId: 'btc@btc',
      missing: 1n,
    })
    await fixture.decide(exchange, 'fail')
    await fixture.services.step(exchange.id)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', decision: 'fail' })
    await fillWallet()
    expect(await fixture.store.operator.findSpentDeposit(deposit.id)).toBeNull()
    await fixture.services.step(exchange.id)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'failed', deposit: { status: 'reversed' } })
    expect(await fixture.readLiabilities(exchange)).toEqual({})
    expect(await findAlarm(exchange)).toBeNull()
    await fixture.store.pauses.resume('asset:btc@btc')
  })

  test('after its coins were spent, and is mined again before it is reversed: is paid once, and the alarm ends', async () => {
    await pausePayouts()
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(2)
    const fillWallet = await spendCoins()
    fixture.fakes.btc.reorg(2)
    await fixture.runWorkers()
    await expectUncovered(exchange)
    await fixture.store.pauses.resume('asset:btc@btc')
    await fillWallet()
    fixture.fakes.btc.mine()
    await fixture.runWatchers()
    expect(await findAlarm(exchange)).toBeNull()
    await resumePayouts()
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.countEtherPayments(exchange)).toBe(1)
  })

  test('and whose signed payout is invalidated: books no loss and pays nothing', async () => {
    const [exchange, suspenseBefore] = [await fixture.createExchange(), await readSuspense()]
    const txHash = fixture.payDeposit(exchange, SMALL)
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.mineBlocks(2)
    const [{ conflict_key: key } = { conflict_key: '' }] = await fixture.database.query<{ conflict_key: string }>(
      "select conflict_key from transactions where state = 'live'",
    )
    await replaceBlocks(2, txHash)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      deposit: { isBookedAsLoss: true },
    })
    fixture.fakes.eth.addConflict(key)
    await fixture.mineBlocks(12)
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'DEPOSIT_VANISHED',
      deposit: { isBookedAsLoss: false },
      payout: null,
    })
    expect(await readSuspense()).toBe(suspenseBefore)
    await expireExchange(exchange)
    await fixture.mineBlocks(3)
    expect(await fixture.readStatus(exchange)).toBe('failed')
    expect(await fixture.readLiabilities(exchange)).toEqual({})
    expect(fixture.countEtherPayments(exchange)).toBe(0)
  })

  test('and returns after the exchange failed: is refunded', async () => {
    const exchange = await fixture.createExchange()
    const txHash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(1)
    const [payment] = fixture.fakes.btc.listPayments(exchange.deposit.address)
    await replaceBlocks(1, txHash)
    await expireExchange(exchange)
    await fixture.runWorkers()
    expect(await fixture.readStatus(exchange)).toBe('failed')
    fixture.fakes.btc.resubmit(payment)
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toHaveLength(1)
  })

  test('while it waits for a refund address: the exchange fails at its expiry', async () => {
    const exchange = await fixture.createExchange({ refund: null })
    const txHash = fixture.payDeposit(exchange, 2_900n)
    await fixture.mineBlocks(2)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REFUND_ADDRESS_REQUIRED',
    })
    await replaceBlocks(2, txHash)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'DEPOSIT_VANISHED' })
    await fixture.decide(exchange, 'release')
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying' })
    await expireExchange(exchange)
    await fixture.runWorkers()
    expect(await fixture.readStatus(exchange)).toBe('failed')
  })
})

describe('a payout that leaves the chain', () => {
  test('before or after its confirmations: is rebroadcast with the same bytes and arrives once', async () => {
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    fixture.fakes.eth.reorg(1, () => true)
    await fixture.runWorkers()
    expect(fixture.countEtherPayments(exchange)).toBe(0)
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    fixture.fakes.eth.reorg(4, () => true)
    await fixture.runWorkers(2)
    expect(fixture.countEtherPayments(exchange)).toBe(0)
    await fixture.mineBlocks(3)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'confirmed' }])
    expect(
      await fixture.database.query(
        'select 1 from attempts a join payouts p on p.transaction_id = a.transaction_id where p.exchange_id = $1',
        [exchange.id],
      ),
    ).toHaveLength(1)
  })
})
