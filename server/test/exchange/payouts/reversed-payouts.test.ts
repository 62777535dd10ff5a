import { afterEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

type MoneyPath = Awaited<ReturnType<typeof startMoneyPath>>
const note = { actor: 'anna', reason: 'looked at it' }
const SMALL = COIN / 200n
/** Blocks from the head down to a payout that is final on both chains. */
const DEEP = 16

const fixtures: MoneyPath[] = []
async function startFixture(): Promise<MoneyPath> {
  const fixture = await startMoneyPath()
  fixtures.push(fixture)
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  await fixture.mineBlocks(DEEP + 4)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    await fixture.expectBalanced()
    await fixture.close()
  }
})

const listTransactionStates = async ({ database }: MoneyPath) =>
  (await database.query<{ state: string }>('select state from transactions order by created_at')).map(
    ({ state }) => state,
  )
const listAttemptHashes = ({ database }: MoneyPath) =>
  database
    .query<{ tx_hash: string }>('select tx_hash from attempts order by id')
    .then((rows) => rows.map(({ tx_hash }) => tx_hash))
const readView = async ({ store, database }: MoneyPath, exchange: Exchange) => {
  const [row] = await database.query<{ status: string; reason: string | null }>(
    'select status, reason from exchanges where id = $1',
    [exchange.id],
  )
  const details = await store.exchanges.find(exchange.partnerId, exchange.id)
  return { ...row, item: details?.executions[0] }
}
const sumReversed = async ({ database }: MoneyPath) =>
  (
    await database.query<{ units: string }>(
      "select -sum(units) as units from balances where account like 'liability:lost:%' having sum(units) <> 0",
    )
  )[0]?.units ?? '0'

/** An exchange whose payout in ether is final. */
async function finishExchange(
  fixture: MoneyPath,
): Promise<{ exchange: Exchange; countPaid: () => number; nonce: number }> {
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(6)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
  await fixture.mineBlocks(10)
  expect((await listTransactionStates(fixture)).at(-1)).toBe('final')
  const [last] = await fixture.database.query<{ conflict_key: string }>(
    'select conflict_key from transactions order by created_at desc limit 1',
  )
  return {
    exchange,
    countPaid: () => fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '').length,
    nonce: Number(last?.conflict_key.split(':')[1]),
  }
}

/** Removes the payout from the chain and uses its nonce for another transaction. */
async function reversePayout(fixture: MoneyPath, nonce: number): Promise<void> {
  const orphanedHash = (await listAttemptHashes(fixture)).at(-1)
  fixture.fakes.eth.reorg(DEEP, (txHash) => txHash === orphanedHash)
  fixture.fakes.eth.addConflict(`eth-hot:${nonce}`)
  await fixture.mineBlocks(14)
}

describe('a final payout that a deep reorganisation removes', () => {
  test('is rebroadcast with the same bytes, and has the reason PAYOUT_VANISHED until it is mined', async () => {
    const fixture = await startFixture()
    const { exchange, countPaid } = await finishExchange(fixture)
    const viewBefore = await readView(fixture, exchange)
    const attemptHashes = await listAttemptHashes(fixture)
    fixture.fakes.eth.reorg(DEEP, (txHash) => txHash === attemptHashes.at(-1))
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    await fixture.runWorkers()
    expect(countPaid()).toBe(0)
    expect((await listTransactionStates(fixture)).at(-1)).toBe('confirmed')
    expect(await readView(fixture, exchange)).toMatchObject({
      status: 'finished',
      reason: 'PAYOUT_VANISHED',
      item: { status: 'finished', reason: 'PAYOUT_VANISHED' },
    })
    expect(await fixture.listAlarmKinds()).toContain('orphaned')
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(14)
    expect(countPaid()).toBe(1)
    expect(await listAttemptHashes(fixture)).toEqual(attemptHashes)
    expect((await listTransactionStates(fixture)).at(-1)).toBe('final')
    expect(await readView(fixture, exchange)).toEqual(viewBefore)
    expect(await fixture.listAlarmKinds()).not.toContain('orphaned')
    expect((await fixture.listEvents(exchange)).slice(-2)).toEqual(['payout vanished', 'payout is there'])
  })

  test('and whose nonce is used by another transaction is paid again once, when the operator releases it', async () => {
    const fixture = await startFixture()
    const walletBefore = await fixture.readWalletUnits('eth@eth')
    const { exchange, countPaid, nonce } = await finishExchange(fixture)
    const viewBefore = await readView(fixture, exchange)
    const [payout] = await fixture.listPayouts(exchange)
    await reversePayout(fixture, nonce)
    await fixture.mineBlocks(10)
    // The ledger equals the chain, and nothing is paid automatically.
    expect(countPaid()).toBe(0)
    expect(await fixture.readWalletUnits('eth@eth')).toBe(walletBefore)
    expect(await sumReversed(fixture)).toBe(payout?.units)
    expect(await fixture.listPayouts(exchange)).toMatchObject([
      { id: payout?.id, state: 'reserved', attention: 'LOST' },
    ])
    expect(await readView(fixture, exchange)).toMatchObject({
      status: 'finished',
      reason: 'PAYOUT_VANISHED',
      item: { status: 'finished', reason: 'PAYOUT_VANISHED', payoutHash: null, sentUnits: null },
    })
    expect(await fixture.store.operator.listHeldPayouts(10)).toMatchObject([
      { id: payout?.id, attention: 'LOST', isReversed: true },
    ])
    expect(await fixture.listAlarmKinds()).toEqual(['invalid', 'reversed'])
    await fixture.expectBalanced()

    const operate = createOperatePayouts(fixture.store)
    await operate.release(payout?.id ?? '', note)
    await expect(operate.release(payout?.id ?? '', note)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await fixture.mineBlocks(6)
    expect(countPaid()).toBe(1)
    const viewAfter = await readView(fixture, exchange)
    expect(viewAfter).toMatchObject({ status: 'finished', reason: null, item: { reason: null } })
    expect(viewAfter.item?.sentUnits).toBe(viewBefore.item?.sentUnits)
    expect(viewAfter.item?.payoutHash).toBe((await listAttemptHashes(fixture)).at(-1))
    expect(viewAfter.item?.payoutHash).not.toBe(viewBefore.item?.payoutHash)
    expect(await sumReversed(fixture)).toBe('0')
    expect(await fixture.listAlarmKinds()).toEqual(['invalid'])
    await expect(operate.release(payout?.id ?? '', note)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })

    // The second reversal has the same effects as the first.
    await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
    await fixture.mineBlocks(10)
    await reversePayout(fixture, nonce + 1)
    expect(await sumReversed(fixture)).toBe(payout?.units)
    expect(await fixture.readWalletUnits('eth@eth')).toBe(walletBefore)
    await operate.release(payout?.id ?? '', note)
    await fixture.mineBlocks(6)
    expect(countPaid()).toBe(1)
    expect(await sumReversed(fixture)).toBe('0')
  })

  test('and that the operator drops, because it was settled by hand, is not paid', async () => {
    const fixture = await startFixture()
    const { exchange, countPaid, nonce } = await finishExchange(fixture)
    const [payout] = await fixture.listPayouts(exchange)
    const capital = await fixture.store.ledger.balance('equity:capital', 'eth@eth')
    await reversePayout(fixture, nonce)
    const operate = createOperatePayouts(fixture.store)
    await operate.drop(payout?.id ?? '', note)
    await fixture.mineBlocks(6)
    expect(countPaid()).toBe(0)
    expect(await sumReversed(fixture)).toBe('0')
    expect(capital - (await fixture.store.ledger.balance('equity:capital', 'eth@eth'))).toBe(BigInt(payout?.units ?? 0))
    expect(await readView(fixture, exchange)).toMatchObject({
      status: 'finished',
      reason: 'OPERATOR',
      item: { reason: 'OPERATOR', payoutHash: null, sentUnits: null },
    })
    expect(await fixture.store.operator.listHeldPayouts(10)).toEqual([])
    expect((await fixture.database.query('select promised from inventory where promised <> 0')).length).toBe(0)
    expect(await fixture.listAlarmKinds()).toEqual(['invalid'])
  })

  test('and reverts when it is mined again is not paid, and its fee is booked once', async () => {
    const fixture = await startFixture()
    const { exchange, countPaid } = await finishExchange(fixture)
    const readFees = () => fixture.store.ledger.balance('expense:network-fee', 'eth@eth')
    const feesBefore = await readFees()
    fixture.fakes.eth.behaviour.revertsTransactions = true
    fixture.fakes.eth.reorg(DEEP)
    await fixture.mineBlocks(1)
    fixture.fakes.eth.behaviour.revertsTransactions = false
    await fixture.mineBlocks(14)
    expect(countPaid()).toBe(0)
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LOST' }])
    expect(await readFees()).toBe(feesBefore)
    expect(await fixture.readWalletUnits('eth@eth')).toBe(
      fixture.fakes.eth.balanceOf(fixture.fakes.eth.chain.addresses.hot(), null),
    )
  })
})

test('a reversed refund sets PAYOUT_VANISHED, and its own reason returns when it is paid again', async () => {
  const fixture = await startFixture()
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, 2_900n)
  await fixture.mineBlocks(6)
  const viewBefore = await readView(fixture, exchange)
  expect(viewBefore).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
  const [last] = await fixture.database.query<{ conflict_key: string }>('select conflict_key from transactions')
  const orphanedHash = (await listAttemptHashes(fixture)).at(-1)
  fixture.fakes.btc.reorg(4, (txHash) => txHash === orphanedHash)
  fixture.fakes.btc.addConflict(last?.conflict_key ?? '')
  await fixture.mineBlocks(14)
  expect(await readView(fixture, exchange)).toMatchObject({ status: 'refunded', reason: 'PAYOUT_VANISHED' })
  const [payout] = await fixture.store.operator.listHeldPayouts(10)
  await fixture.store.pauses.resume('payouts:btc')
  fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
  await fixture.mineBlocks(4)
  expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toEqual([])
  await createOperatePayouts(fixture.store).release(payout?.id ?? '', note)
  await fixture.mineBlocks(6)
  expect(await readView(fixture, exchange)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
  expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toHaveLength(1)
})

test('a reversed refund of a reversed conversion reserves no stock for its cancelled order, and none is left when it is failed', async () => {
  const fixture = await startFixture()
  const exchange = await fixture.createExchange()
  // Above the limit of one payout, converted or not.
  fixture.payDeposit(exchange, (COIN * 3n) / 10n)
  await fixture.mineBlocks(10)
  await fixture.decide(exchange, 'refund')
  await fixture.runWorkers()
  await fixture.decide(exchange, 'release')
  await fixture.services.step(exchange.id)
  expect((await fixture.readExecution(exchange)).order).toMatchObject({ state: 'cancelled' })
  await fixture.services.dispatch('btc')
  const [last] = await fixture.database.query<{ id: string; conflict_key: string }>(
    "select id, conflict_key from transactions where state = 'live'",
  )
  /** The exchange itself is not stepped, so its refund is not closed yet. */
  const mineAndAdvance = async (blocks: number) => {
    for (let n = 0; n < blocks; n++) {
      fixture.fakes.btc.mine()
      await fixture.runWatchers()
      await fixture.database.query('update transactions set next_check_at = clock_timestamp() where id = $1', [
        last?.id,
      ])
      await fixture.services.advance(last?.id ?? '')
    }
  }
  await fixture.services.advance(last?.id ?? '')
  await mineAndAdvance(4)
  expect((await listTransactionStates(fixture)).at(-1)).toBe('confirmed')
  const refundHash = (await listAttemptHashes(fixture)).at(-1)
  fixture.fakes.btc.reorg(4, (txHash) => txHash === refundHash)
  fixture.fakes.btc.addConflict(last?.conflict_key ?? '')
  await mineAndAdvance(14)
  expect((await fixture.listPayouts(exchange)).at(-1)).toMatchObject({ state: 'reserved', attention: 'LOST' })
  expect(await fixture.database.query('select id from reservations')).toEqual([])
  await fixture.services.step(exchange.id)
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
  await fixture.decide(exchange, 'fail')
  await fixture.services.step(exchange.id)
  expect(await fixture.readStatus(exchange)).toBe('failed')
  expect(await fixture.database.query('select 1 from inventory where promised <> 0')).toEqual([])
})

test('each payout of a reversed bitcoin batch waits for its own release', async () => {
  const fixture = await startFixture()
  const exchanges = [
    await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 5n }),
    await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 5n }),
  ]
  for (const { deposit } of exchanges) fixture.fakes.eth.pay(deposit.address, ETHER / 5n)
  await fixture.mineBlocks(6)
  const [transaction, ...others] = await fixture.database.query<{ conflict_key: string }>(
    "select conflict_key from transactions where network = 'btc'",
  )
  expect(others).toEqual([])
  await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
  await fixture.mineBlocks(8)
  const [attempt] = await fixture.database.query<{ tx_hash: string }>(
    "select tx_hash from attempts where network = 'btc'",
  )
  fixture.fakes.btc.reorg(DEEP, (txHash) => txHash === attempt?.tx_hash)
  fixture.fakes.btc.addConflict(transaction?.conflict_key ?? '')
  await fixture.mineBlocks(14)
  const heldPayouts = await fixture.store.operator.listHeldPayouts(10)
  expect(heldPayouts.map(({ attention }) => attention)).toEqual(['LOST', 'LOST'])
  // An unknown transaction spent our output, so payouts are paused until the operator resumes them.
  expect(await fixture.listAlarmKinds()).toContain('intrusion')
  await fixture.store.pauses.resume('payouts:btc')
  fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
  await fixture.mineBlocks(4)
  const countPaid = () =>
    exchanges.map(({ recipient }) => fixture.fakes.btc.listPayments(recipient?.address ?? '').length)
  expect(countPaid()).toEqual([0, 0])
  const operate = createOperatePayouts(fixture.store)
  const first = heldPayouts.find(({ exchangeId }) => exchangeId === exchanges[0]?.id)
  await operate.release(first?.id ?? '', note)
  await fixture.mineBlocks(4)
  expect(countPaid()).toEqual([1, 0])
  await operate.release(heldPayouts.find(({ id }) => id !== first?.id)?.id ?? '', note)
  await fixture.mineBlocks(4)
  expect(countPaid()).toEqual([1, 1])
})

test('a reversed sweep is planned again and arrives once', async () => {
  const fixture = await startFixture()
  const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 10n })
  fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n)
  await fixture.mineBlocks(12)
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.mineBlocks(5)
  const unitsBefore = await fixture.readWalletUnits('eth@eth')
  const orphanedHash = (await listAttemptHashes(fixture)).at(-1)
  fixture.fakes.eth.reorg(4, (txHash) => txHash === orphanedHash)
  fixture.fakes.eth.addConflict(`${exchange.deposit.address}:0`)
  await fixture.mineBlocks(14)
  expect(await fixture.store.operator.listHeldPayouts(10)).toEqual([])
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.mineBlocks(5)
  const sweeps = await fixture.database.query("select state from payouts where purpose = 'sweep' order by created_at")
  expect(sweeps).toEqual([{ state: 'void' }, { state: 'confirmed' }])
  expect(await fixture.readWalletUnits('eth@eth')).toBe(unitsBefore)
})
