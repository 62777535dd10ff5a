import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { createMaxFees } from '../../../src/app/max-fees.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { createOperateBalances } from '../../../src/exchange/operations/operate-balances.ts'
import type { Store, StoreTx } from '../../../src/exchange/ports/store/store.ts'
import { createStepExchange } from '../../../src/exchange/settlement/step-exchange.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
/** $30 000: above the limit of one payout. */
const LARGE = (COIN * 3n) / 10n
const note = { actor: 'anna', reason: 'the partner asked for it' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
/** A partner of its own for each test. */
let partnerId: string
let suspenseBefore: bigint
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
beforeEach(async () => {
  partnerId = randomUUID()
  await fixture.database.query('insert into partners (id, name) values ($1, $2)', [partnerId, partnerId])
  suspenseBefore = await readSuspense()
})
afterEach(() => fixture.expectBalanced())

const readSuspense = () => fixture.store.ledger.balance('expense:suspense', 'eth@eth')
const readOwed = async () => -(await fixture.store.ledger.balance(`liability:partner:${partnerId}`, 'eth@eth'))
const payOut = (units: bigint, key = 'fees') =>
  createOperateBalances(fixture.store, createMaxFees('sandbox')).payOut(
    { id: partnerId, name: 'acme' },
    { assetId: 'eth@eth', network: 'eth', units, destination: { address: `own-${partnerId}`, memo: null } },
    key,
    note,
  )
const readAlarm = async (exchange: Exchange) =>
  (await fixture.store.alarms.list(100)).find(
    ({ subject, detail }) => subject.startsWith('paid-fee:') && detail['exchangeId'] === exchange.id,
  )
/** What statements and reports say of the partner's fees of this exchange. */
const readReports = async (exchange: Exchange) => {
  const [days] = await fixture.database.query(
    'select sum(credited - debited)::text as owed from partner_days where partner_id = $1',
    [partnerId],
  )
  const period = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 86_400_000) }
  const [revenue] = (await fixture.store.reports.revenue(period, 'exchange', 1_000)).filter(
    ({ group, assetId }) => group === exchange.id && assetId === 'eth@eth',
  )
  const [cost] = (await fixture.store.reports.costs(period, 'exchange', 1_000)).filter(
    ({ group, assetId }) => group === exchange.id && assetId === 'eth@eth',
  )
  return { ...days, spread: revenue?.spread, partnerFees: revenue?.partnerFees, lost: cost?.lost ?? 0n }
}

/** Held with its conversion, above the limit of one payout. Returns the partner's fee of it. */
async function holdConverted(): Promise<{ exchange: Exchange; fee: bigint }> {
  const exchange = await fixture.createExchange({ partnerId })
  fixture.payDeposit(exchange, LARGE)
  await fixture.mineBlocks(10)
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
  const fee = await readOwed()
  expect(fee).toBeGreaterThan(5n)
  return { exchange, fee }
}
async function refund(exchange: Exchange): Promise<void> {
  await fixture.decide(exchange, 'refund')
  await fixture.runWorkers()
  // The refund is above the limit, too.
  await fixture.decide(exchange, 'release')
  await fixture.mineBlocks(4)
  expect(await fixture.readStatus(exchange)).toBe('refunded')
  expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toHaveLength(1)
}

test('a conversion whose partner was paid its fee is refunded: the fee is our loss, with an alarm', async () => {
  const { exchange, fee } = await holdConverted()
  await payOut(fee)
  await fixture.mineBlocks(5)
  expect(fixture.fakes.eth.listPayments(`own-${partnerId}`).map(({ units }) => units)).toEqual([fee])
  await refund(exchange)
  expect([await readOwed(), (await readSuspense()) - suspenseBefore]).toEqual([0n, fee])
  expect(await readAlarm(exchange)).toMatchObject({
    severity: 'warning',
    detail: { partnerId, assetId: 'eth@eth', units: fee.toString() },
  })
  expect(await readReports(exchange)).toEqual({ owed: '0', spread: 0n, partnerFees: fee, lost: fee })
})

test('a conversion whose partner was paid a part of its fee takes the rest from the partner', async () => {
  const { exchange, fee } = await holdConverted()
  await payOut(fee - 5n)
  await fixture.decide(exchange, 'fail')
  await fixture.mineBlocks(5)
  expect(await fixture.readStatus(exchange)).toBe('failed')
  expect([await readOwed(), (await readSuspense()) - suspenseBefore]).toEqual([0n, fee - 5n])
  expect((await readAlarm(exchange))?.detail).toMatchObject({ units: (fee - 5n).toString() })
  expect(await readReports(exchange)).toEqual({ owed: '0', spread: 0n, partnerFees: fee - 5n, lost: fee - 5n })
})

test('a conversion whose fee is still owed is reversed as a whole, without an alarm', async () => {
  const { exchange } = await holdConverted()
  await refund(exchange)
  expect([await readOwed(), (await readSuspense()) - suspenseBefore]).toEqual([0n, 0n])
  expect(await readAlarm(exchange)).toBeUndefined()
  expect(await readReports(exchange)).toEqual({ owed: '0', spread: 0n, partnerFees: 0n, lost: 0n })
})

test('a deposit that leaves the chain after its partner was paid the fee returns to pending, and is paid when it is back', async () => {
  await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
  const exchange = await fixture.createExchange({ partnerId })
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(2)
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'exchanging', payout: { state: 'reserved' } })
  const fee = await readOwed()
  await payOut(fee)
  fixture.fakes.btc.reorg(2)
  await fixture.runWorkers()
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'pending', payout: null })
  expect([await readOwed(), (await readSuspense()) - suspenseBefore]).toEqual([0n, fee])
  expect((await readAlarm(exchange))?.detail).toMatchObject({ partnerId, units: fee.toString() })
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.clearHolds()
  await fixture.mineBlocks(8)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  expect(fixture.countEtherPayments(exchange)).toBe(1)
  expect([await readOwed(), await readReports(exchange)]).toMatchObject([fee, { owed: fee.toString() }])
})

test('a payout of the balance that begins during the reversal waits, and finds nothing to pay', async () => {
  const { exchange, fee } = await holdConverted()
  await fixture.decide(exchange, 'fail')
  let paying: Promise<unknown> = Promise.resolve()
  let isPaid = false
  const isWaiting = async () =>
    isPaid ||
    (
      await fixture.database.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
    ).length > 0
  // Begins between the reversal's look at the balance and its entry.
  const postLate =
    ({ ledger }: StoreTx): StoreTx['ledger']['post'] =>
    async (entry) => {
      if (entry.event !== 'conversion reversed') return ledger.post(entry)
      paying = payOut(fee, 'during')
        .then(() => (isPaid = true))
        .catch((error: unknown) => error)
      await expect.poll(isWaiting, PATIENCE).toBe(true)
      return ledger.post(entry)
    }
  const store: Store = {
    ...fixture.store,
    transaction: (work) =>
      fixture.store.transaction((tx) => work({ ...tx, ledger: { ...tx.ledger, post: postLate(tx) } })),
  }
  await createStepExchange({ ...fixture.dependencies, store })(exchange.id)
  expect(await paying).toBeInstanceOf(Error)
  expect(await fixture.readStatus(exchange)).toBe('failed')
  expect([await readOwed(), (await readSuspense()) - suspenseBefore]).toEqual([0n, 0n])
  expect(await readAlarm(exchange)).toBeUndefined()
})
