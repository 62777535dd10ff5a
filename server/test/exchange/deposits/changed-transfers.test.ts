import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { requestRescan } from '../../../src/exchange/operations/request-rescan.ts'
import type { Transfer } from '../../../src/exchange/ports/chain.ts'
import { COIN, ETHER, startMoneyPath, wbtc } from '../money-path.ts'

// A swap that is sent straight to a deposit address can pay another amount in another block of the same chain, and a
// contract that pays many can pay each of them by another of its calls.
let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  fixture.fakes.eth.pay(fixture.fakes.eth.chain.addresses.hot(), 100_000n * ONE_USDT, { contract: usdt.asset.contract })
  await fixture.mineBlocks(3)
})
afterAll(() => fixture.close())
beforeEach(async () => {
  fixture.fakes.btc.behaviour.dropsBroadcasts = false
  await fixture.store.pauses.resume('payouts:btc')
  for (const { subject } of await fixture.store.alarms.list(100)) await fixture.store.alarms.clear(subject)
})
afterEach(() => fixture.expectBalanced())

const ONE_USDT = 10n ** 6n
// Below the value at which more confirmations are required, with all that the partner has in flight.
const PAID = 100n * ONE_USDT
const PAID_ETHER = ETHER / 40n

const createExchange = (from: typeof usdt = usdt) =>
  fixture.createExchange({ from, to: btc, fromUnits: from === usdt ? PAID : PAID_ETHER })
const countPayments = (exchange: Exchange) => fixture.fakes.btc.listPayments(exchange.recipient?.address ?? '').length
const readSuspense = () => fixture.store.ledger.balance('expense:suspense', 'usdt@eth')
const readDeposits = (assetId: 'usdt@eth' | 'eth@eth') => fixture.store.ledger.balance('asset:deposits', assetId)
const changeUnits =
  (txHash: string, units: bigint) =>
  (one: Transfer): Transfer =>
    one.txHash === txHash ? { ...one, units } : one
const changeIdentities =
  (txHash: string, identityOf: (transfer: Transfer) => string) =>
  (one: Transfer): Transfer =>
    one.txHash === txHash ? { ...one, identity: `${txHash}:trace:${identityOf(one)}` } : one
/** Replaces the newest blocks, and mines their transactions again in a block above, before any step runs. */
const reincludeChanged = async (depth: number, change: (transfer: Transfer) => Transfer) => {
  fixture.fakes.eth.reorg(depth, () => false, change)
  fixture.fakes.eth.mine()
  await fixture.services.record(fixture.fakes.eth.chain)
}

describe('a deposit that a reorganisation includes again with other units', () => {
  test.each([
    ['more', 3n],
    ['fewer', -3n],
  ])('before it is credited: %s arrived, which is credited', async (_name, change) => {
    const [exchange, before] = [await createExchange(), await readDeposits('usdt@eth')]
    const units = PAID + change * ONE_USDT
    const txHash = fixture.payDeposit(exchange, PAID)
    await fixture.mineBlocks(1)
    expect(await fixture.readStatus(exchange)).toBe('confirming')
    await reincludeChanged(1, changeUnits(txHash, units))
    await fixture.mineBlocks(8)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'finished',
      receivedUnits: units,
      deposit: { units, creditedUnits: units, credits: 1 },
    })
    expect((await readDeposits('usdt@eth')) - before).toBe(units)
    expect(countPayments(exchange)).toBe(1)
  })

  test('after it is credited: nothing is signed for the old units, and the new ones are credited in their place', async () => {
    const [exchange, before, units] = [await createExchange(), await readDeposits('usdt@eth'), PAID - 3n * ONE_USDT]
    await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
    const txHash = fixture.payDeposit(exchange, PAID)
    await fixture.mineBlocks(2)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'exchanging', payout: { state: 'reserved' } })
    const [{ units: unitsBefore } = { units: '0' }] = await fixture.listPayouts(exchange)
    await reincludeChanged(2, changeUnits(txHash, units))
    expect((await fixture.readExecution(exchange)).deposit).toMatchObject({
      status: 'credited',
      units: PAID,
      block: null,
      returned: { units },
    })
    await fixture.store.pauses.resume('payouts:btc')
    // Deep enough before the exchange is stepped.
    fixture.fakes.eth.mine(3)
    await fixture.services.record(fixture.fakes.eth.chain)
    await fixture.services.dispatch('btc')
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved' }])
    await fixture.services.step(exchange.id)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'confirming',
      payout: null,
      deposit: { status: 'seen', units, returned: null },
    })
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'finished',
      receivedUnits: units,
      deposit: { creditedUnits: units, credits: 2 },
    })
    expect((await readDeposits('usdt@eth')) - before).toBe(units)
    expect(countPayments(exchange)).toBe(1)
    const paid = (await fixture.listPayouts(exchange)).filter(({ state }) => state === 'confirmed')
    expect(paid).toHaveLength(1)
    expect(BigInt(paid[0]?.units ?? 0)).toBeLessThan(BigInt(unitsBefore))
  })

  test('and then with its first units before a step: nothing is reversed', async () => {
    const exchange = await createExchange()
    await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
    const txHash = fixture.payDeposit(exchange, PAID)
    await fixture.mineBlocks(2)
    await reincludeChanged(2, changeUnits(txHash, PAID + 1n))
    await reincludeChanged(1, changeUnits(txHash, PAID))
    expect((await fixture.readExecution(exchange)).deposit).toMatchObject({
      status: 'credited',
      units: PAID,
      block: expect.anything(),
      returned: null,
    })
    await fixture.store.pauses.resume('payouts:btc')
    await fixture.clearHolds()
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'finished', deposit: { credits: 1 } })
  })

  test('after the payout is signed: the difference is in suspense, with an alarm', async () => {
    const [exchange, before] = [await createExchange(), await readDeposits('usdt@eth')]
    const [suspenseBefore, units] = [await readSuspense(), PAID - 3n * ONE_USDT]
    const txHash = fixture.payDeposit(exchange, PAID)
    await fixture.mineBlocks(2)
    expect(await fixture.readStatus(exchange)).toBe('sending')
    await reincludeChanged(2, changeUnits(txHash, units))
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REORG_AFTER_PAYOUT',
      deposit: { status: 'seen', units, isBookedAsLoss: true },
    })
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'finished',
      deposit: { creditedUnits: units, isBookedAsLoss: false },
    })
    expect((await readSuspense()) - suspenseBefore).toBe(3n * ONE_USDT)
    expect((await readDeposits('usdt@eth')) - before).toBe(units)
    expect(await fixture.listAlarmKinds()).toContain('reorg')
    expect(countPayments(exchange)).toBe(1)
  })

  test('is recorded by a rescan, if the watcher missed it in its new block', async () => {
    const [exchange, units] = [await createExchange(), PAID + 3n * ONE_USDT]
    const txHash = fixture.payDeposit(exchange, PAID)
    await fixture.mineBlocks(1)
    const { hiddenTxHashes } = fixture.fakes.eth.behaviour
    hiddenTxHashes.add(txHash)
    await reincludeChanged(1, changeUnits(txHash, units))
    await fixture.mineBlocks(eth.network.finalityBlocks)
    expect((await fixture.readExecution(exchange)).deposit).toMatchObject({ block: null, units: PAID })
    const to = ((await fixture.store.chainLog.cursor('eth'))?.height ?? 0) - eth.network.finalityBlocks + 1
    const note = { actor: 'test', reason: 'a customer misses a payment' }
    const { id } = await requestRescan(fixture.store, eth.network, { from: to - 3, to }, note)
    while (await fixture.services.rescan(fixture.fakes.eth.chain));
    expect(await fixture.store.rescans.find(id)).toMatchObject({ found: 1, failure: null })
    hiddenTxHashes.clear()
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'finished', receivedUnits: units })
  })
})

const listSweepsOf = ({ id }: Exchange) =>
  fixture.database.query<{ state: string; units: string }>(
    `select p.state, p.units from payouts p join deposit_targets t on t.key_index = p.key_index
     where t.exchange_id = $1 and p.purpose = 'sweep' and p.branch = 'deposit' order by p.created_at`,
    [id],
  )

test('a deposit that returns with more units while a sweep of it is not signed: a sweep of all that arrived takes its place', async () => {
  const { chain, balanceOf } = fixture.fakes.eth
  const exchange = await createExchange(eth)
  const listSweeps = () => listSweepsOf(exchange)
  const depth = eth.network.finalityBlocks + 3
  const txHash = fixture.payDeposit(exchange, PAID_ETHER)
  await fixture.mineBlocks(depth)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  await fixture.store.pauses.pause('payouts:eth', 'test', 'test')
  await fixture.services.sweep(chain)
  const [planned] = await listSweeps()
  expect(planned?.state).toBe('reserved')
  await reincludeChanged(depth, changeUnits(txHash, 3n * PAID_ETHER))
  await fixture.mineBlocks(depth)
  await fixture.services.sweep(chain)
  const units = BigInt(planned?.units ?? 0) + 2n * PAID_ETHER
  expect(await listSweeps()).toMatchObject([{ state: 'void' }, { state: 'reserved', units: units.toString() }])
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.clearHolds()
  await fixture.mineBlocks(6)
  expect(await listSweeps()).toMatchObject([{ state: 'void' }, { state: 'confirmed' }])
  expect(balanceOf(exchange.deposit.address, null)).toBeLessThan(PAID_ETHER)
})

test('a deposit that returns with more units after a sweep of it is final: another sweep takes the rest', async () => {
  const { chain, balanceOf } = fixture.fakes.eth
  const exchange = await createExchange(eth)
  const depth = eth.network.finalityBlocks + 3
  const txHash = fixture.payDeposit(exchange, PAID_ETHER)
  await fixture.mineBlocks(depth)
  const listSweeps = () => listSweepsOf(exchange)
  await fixture.services.sweep(chain)
  await fixture.mineBlocks(depth)
  expect(await listSweeps()).toMatchObject([{ state: 'confirmed' }])
  // Its account covers the loss until the deposit is back.
  const other = await createExchange(eth)
  fixture.payDeposit(other, 2n * PAID_ETHER)
  await fixture.mineBlocks(depth)
  await reincludeChanged(3 * depth, changeUnits(txHash, 3n * PAID_ETHER))
  await fixture.mineBlocks(depth)
  expect(await fixture.readExecution(exchange)).toMatchObject({ deposit: { creditedUnits: 3n * PAID_ETHER } })
  expect(balanceOf(exchange.deposit.address, null)).toBeGreaterThanOrEqual(2n * PAID_ETHER)
  for (let n = 0; n < 3; n++) {
    await fixture.services.sweep(chain)
    await fixture.mineBlocks(depth)
  }
  const [first, second] = await listSweeps()
  expect([first?.state, second?.state]).toEqual(['confirmed', 'confirmed'])
  expect(BigInt(second?.units ?? 0)).toBeGreaterThan(PAID_ETHER)
  expect(balanceOf(exchange.deposit.address, null)).toBeLessThan(PAID_ETHER)
})

test('a counted funding that returns with other units is counted with them', async () => {
  const before = await fixture.readWalletUnits('eth@eth')
  const txHash = fixture.fakes.eth.pay(fixture.fakes.eth.chain.addresses.hot(), 5n * ETHER)
  await fixture.mineBlocks(3)
  expect((await fixture.readWalletUnits('eth@eth')) - before).toBe(5n * ETHER)
  await reincludeChanged(3, changeUnits(txHash, 4n * ETHER))
  await fixture.mineBlocks(3)
  expect((await fixture.readWalletUnits('eth@eth')) - before).toBe(4n * ETHER)
})

describe('a deposit that a reorganisation includes again at another place of its transaction', () => {
  const readEtherSuspense = () => fixture.store.ledger.balance('expense:suspense', 'eth@eth')
  const payTwo = async () => {
    const exchanges = [await createExchange(eth), await createExchange(eth)] as const
    const [first, second] = exchanges
    const txHash = fixture.fakes.eth.payByContract([
      { address: first.deposit.address, units: PAID_ETHER },
      { address: second.deposit.address, units: PAID_ETHER },
    ])
    return { first, second, txHash }
  }
  const expectPaidOnce = async (exchange: Exchange) => {
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(await fixture.listExecutions(exchange)).toMatchObject([
      { status: 'finished', deposit: { isBookedAsLoss: false } },
    ])
    expect(countPayments(exchange)).toBe(1)
  }

  test('before it is credited: is one deposit, which is paid once', async () => {
    const { first, second, txHash } = await payTwo()
    await fixture.mineBlocks(1)
    // Each transfer has the identity that the other one had.
    const swap = (one: Transfer) => (one.address === first.deposit.address ? '1' : '0')
    await reincludeChanged(1, changeIdentities(txHash, swap))
    await fixture.mineBlocks(8)
    for (const exchange of [first, second]) await expectPaidOnce(exchange)
  })

  test('after it was paid out: its loss is reversed, and it is not paid again', async () => {
    const suspenseBefore = await readEtherSuspense()
    const { first, second, txHash } = await payTwo()
    await fixture.mineBlocks(8)
    for (const exchange of [first, second]) await expectPaidOnce(exchange)
    const shift = (one: Transfer) => (one.address === first.deposit.address ? '1' : '2')
    fixture.fakes.eth.reorg(8, () => false, changeIdentities(txHash, shift))
    await fixture.runWorkers()
    expect((await readEtherSuspense()) - suspenseBefore).toBe(2n * PAID_ETHER)
    await fixture.mineBlocks(8)
    for (const exchange of [first, second]) await expectPaidOnce(exchange)
    expect(await readEtherSuspense()).toBe(suspenseBefore)
    expect(await fixture.listAlarmKinds()).not.toContain('reorg')
  })

  test('while another payment takes its place: each is a deposit of its own exchange', async () => {
    const suspenseBefore = await readEtherSuspense()
    const { first, second, txHash } = await payTwo()
    await fixture.mineBlocks(8)
    const third = await createExchange(eth)
    // The first exchange is no longer paid; another one is, by the same call.
    const redirect = (one: Transfer): Transfer =>
      one.address === first.deposit.address ? { ...one, address: third.deposit.address } : one
    await reincludeChanged(8, (one) => (one.txHash === txHash ? redirect(one) : one))
    await fixture.mineBlocks(8)
    for (const exchange of [second, third]) await expectPaidOnce(exchange)
    expect(await fixture.listExecutions(first)).toMatchObject([
      { status: 'finished', deposit: { isBookedAsLoss: true } },
    ])
    expect((await readEtherSuspense()) - suspenseBefore).toBe(PAID_ETHER)
  })

  test('together with a second payment: only that one is a new deposit', async () => {
    const exchange = await createExchange(eth)
    const other = await createExchange(eth)
    const txHash = fixture.fakes.eth.payByContract([
      { address: exchange.deposit.address, units: PAID_ETHER },
      { address: other.deposit.address, units: PAID_ETHER / 2n },
    ])
    await fixture.mineBlocks(8)
    const redirect = (one: Transfer): Transfer =>
      one.address === other.deposit.address ? { ...one, address: exchange.deposit.address } : one
    await reincludeChanged(8, (one) => (one.txHash === txHash ? redirect(one) : one))
    await fixture.mineBlocks(8)
    expect((await fixture.listExecutions(exchange)).map(({ deposit }) => deposit.creditedUnits)).toEqual([
      PAID_ETHER,
      PAID_ETHER / 2n,
    ])
    expect(countPayments(exchange)).toBe(2)
  })
})

// Two payments of the operator for one of the customer, unless a person decides.
test('a transaction that pays another asset after its payment was paid out and lost is held', async () => {
  const exchange = await createExchange()
  const txHash = fixture.payDeposit(exchange, PAID)
  await fixture.mineBlocks(8)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  const change = (one: Transfer) => ({ ...one, contract: wbtc.asset.contract, units: COIN / 1_000n })
  await reincludeChanged(8, (one) => (one.txHash === txHash ? change(one) : one))
  await fixture.mineBlocks(6)
  const [lost, held] = await fixture.listExecutions(exchange)
  expect(lost).toMatchObject({ status: 'finished', deposit: { isBookedAsLoss: true } })
  expect(held).toMatchObject({
    status: 'verifying',
    reason: 'REORG_AFTER_PAYOUT',
    payout: null,
    deposit: { assetId: 'wbtc@eth', status: 'credited' },
  })
  await fixture.decide(exchange, 'release')
  await fixture.services.step(exchange.id)
  expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'refunding', reason: 'WRONG_ASSET' })
})

// The last test: the conflicting transaction takes the coins of the hot wallet.
test('a deposit that returns with other units, and whose signed payout is invalidated: a refund returns what arrived', async () => {
  const [exchange, suspenseBefore, units] = [await createExchange(), await readSuspense(), PAID + 3n * ONE_USDT]
  fixture.fakes.btc.behaviour.dropsBroadcasts = true
  const txHash = fixture.payDeposit(exchange, PAID)
  await fixture.mineBlocks(2)
  await reincludeChanged(2, changeUnits(txHash, units))
  await fixture.mineBlocks(3)
  expect(await fixture.readExecution(exchange)).toMatchObject({
    deposit: { creditedUnits: units, isBookedAsLoss: false },
  })
  expect((await readSuspense()) - suspenseBefore).toBe(-3n * ONE_USDT)
  const [{ conflict_key: key } = { conflict_key: '' }] = await fixture.database.query<{ conflict_key: string }>(
    "select conflict_key from transactions where network = 'btc' and state = 'live'",
  )
  await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
  fixture.fakes.btc.addConflict(key)
  await fixture.mineBlocks(12)
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', payout: { state: 'reserved' } })
  await fixture.decide(exchange, 'refund')
  await fixture.mineBlocks(8)
  expect(await fixture.readStatus(exchange)).toBe('refunded')
  const [{ units: refunded } = { units: '0' }] = (await fixture.listPayouts(exchange)).filter(
    ({ purpose }) => purpose === 'refund',
  )
  const [{ units: fee } = { units: '0' }] = await fixture.database.query<{ units: string }>(
    `select p.units from postings p join journal j on j.id = p.journal_id
     where j.exchange_id = $1 and p.asset_id = 'usdt@eth' and p.credit = 'income:network-fee'`,
    [exchange.id],
  )
  expect(BigInt(refunded) + BigInt(fee)).toBe(units)
  expect(await readSuspense()).toBe(suspenseBefore)
  expect(await fixture.readLiabilities(exchange)).toEqual({})
})
