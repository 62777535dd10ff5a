import { afterEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import type { Attempt, OutgoingTransaction } from '../../../src/exchange/ports/store/transactions.ts'
import { present } from '../../../src/lib/assert.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

type MoneyPath = Awaited<ReturnType<typeof startMoneyPath>>
const note = { actor: 'anna', reason: 'looked at it' }
/** More blocks than make a transaction of the fake chains final. */
const FINAL = 13

const fixtures: MoneyPath[] = []
async function startFixture(): Promise<MoneyPath> {
  const fixture = await startMoneyPath()
  fixtures.push(fixture)
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    await fixture.expectBalanced()
    await fixture.close()
  }
})

async function readTransaction({ database, store }: MoneyPath, exchange: Exchange): Promise<OutgoingTransaction> {
  const [row] = await database.query<{ id: string }>(
    'select transaction_id as id from payouts where exchange_id = $1 and transaction_id is not null',
    [exchange.id],
  )
  return present(await store.transactions.load(row?.id ?? ''), 'a transaction')
}
const makeDue = ({ database }: MoneyPath) =>
  database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
const ageAttempts = ({ database }: MoneyPath) =>
  database.query("update attempts set created_at = created_at - interval '1 day'")

describe('a payout in a block whose nodes disagree about its result', () => {
  test('is not replaced and not queued again, and ends when they agree', async () => {
    const fixture = await startFixture()
    const { sender } = fixture.fakes.eth.chain
    const { observe } = sender
    sender.observe = async (attempt) => {
      const observation = await observe(attempt)
      return observation.kind === 'included' ? { kind: 'pending', isDisputed: true } : observation
    }
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, COIN / 200n)
    await fixture.mineBlocks(4)
    expect(fixture.countEtherPayments(exchange)).toBe(1)
    await ageAttempts(fixture)
    await fixture.mineBlocks(FINAL)
    const disputed = await readTransaction(fixture, exchange)
    expect(disputed.attempts).toHaveLength(1)
    expect([disputed.state, await fixture.readStatus(exchange)]).toEqual(['live', 'sending'])
    expect(await fixture.listAlarmKinds()).toEqual([])

    sender.observe = observe
    await fixture.mineBlocks(2)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })

  test('is not shown as orphaned if it is confirmed', async () => {
    const fixture = await startFixture()
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, COIN / 200n)
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    fixture.fakes.eth.chain.sender.observe = async () => ({ kind: 'pending', isDisputed: true })
    await makeDue(fixture)
    await fixture.runWorkers(2)
    expect((await readTransaction(fixture, exchange)).state).toBe('confirmed')
    expect((await fixture.readExecution(exchange)).reason).toBeNull()
    expect(await fixture.listAlarmKinds()).toEqual([])
  })
})

describe('a payout that failed on its chain', () => {
  test('is queued again only when the finality tag of its chain has passed, and waits while no node reports the tag', async () => {
    const fixture = await startFixture()
    const { behaviour, chain } = fixture.fakes.eth
    const evm = { chainId: 1, finalityTag: 'finalized' as const, dynamicFees: true }
    Object.assign(chain, {
      network: { ...chain.network, evm: { ...evm, safeAboveUsd: null, finalizedAboveUsd: null } },
    })
    behaviour.tagHeights.finalized = 0
    behaviour.revertsTransactions = true
    const exchange = await fixture.createExchange()
    fixture.payDeposit(exchange, COIN / 200n)
    await fixture.mineBlocks(FINAL + 4)
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'signed', attention: null }])
    behaviour.tagHeights.finalized = null
    await fixture.mineBlocks(2)
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'signed', attention: null }])
    behaviour.tagHeights.finalized = (await chain.reader.head()).height
    await fixture.mineBlocks(2)
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'REVERTED' }])
    behaviour.revertsTransactions = false
  })
})

/** Outputs that the replacement spends, and the first attempt does not. */
const listReserved = ({ database }: MoneyPath, { id }: OutgoingTransaction) =>
  database.query('select outpoint from coins where reserved_by = $1 and spent_by is null', [id])

/** A payout in bitcoin with two attempts: the second spends one output more, is mined, and is confirmed. */
async function confirmReplacement(
  fixture: MoneyPath,
): Promise<Readonly<{ exchange: Exchange; first: Attempt; second: Attempt }>> {
  const { btc: fake, eth: fakeEth } = fixture.fakes
  const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 5n })
  fakeEth.pay(exchange.deposit.address, ETHER / 5n)
  await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
  await fixture.mineBlocks(4)
  const units = BigInt((await fixture.listPayouts(exchange))[0]?.units ?? 0)
  await fixture.database.query("update coins set quarantined = true where network = 'btc'")
  // The first attempt spends the first output whole: its fee is 1000 units, and a replacement pays 1000 more.
  for (const output of [units + 1_000n, 50_000n]) fake.pay(fake.chain.addresses.hot(), output)
  await fixture.mineBlocks(4)
  await fixture.store.pauses.resume('payouts:btc')
  await fixture.clearHolds()
  fake.behaviour.dropsBroadcasts = true
  await fixture.runJobs()
  await ageAttempts(fixture)
  await fixture.runJobs()
  fake.behaviour.dropsBroadcasts = false
  await fixture.runJobs()
  await fixture.mineBlocks(4)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  const [first, second, ...others] = (await readTransaction(fixture, exchange)).attempts
  expect(others).toEqual([])
  expect([first?.state, second?.state]).toEqual(['replaced', 'confirmed'])
  expect((await fixture.readExecution(exchange)).payoutHash).toBe(second?.txHash)
  return { exchange, first: present(first, 'an attempt'), second: present(second, 'a second attempt') }
}

describe('a confirmed payout whose other attempt is mined after a reorganisation', () => {
  test.each([
    ['at once', false],
    ['after it was in no block', true],
  ])(
    '%s is that of the attempt on the chain, and frees what only the first one spends',
    async (_name, isSeenOrphaned) => {
      const fixture = await startFixture()
      const { exchange, first, second } = await confirmReplacement(fixture)
      const { btc: fake } = fixture.fakes
      fake.reorg(6, (txHash) => txHash === second.txHash)
      if (isSeenOrphaned) {
        fake.behaviour.dropsBroadcasts = true
        await fixture.runWorkers()
        expect((await fixture.readExecution(exchange)).reason).toBe('PAYOUT_VANISHED')
        fake.behaviour.dropsBroadcasts = false
      }
      expect(await fake.chain.sender.broadcast(first.raw)).toEqual({ kind: 'accepted' })
      fake.mine(3)
      await makeDue(fixture)
      await fixture.runWorkers(2)
      const { reason, payoutHash, payout, sentUnits } = await fixture.readExecution(exchange)
      expect({ reason, payoutHash }).toEqual({ reason: null, payoutHash: first.txHash })
      expect(payout?.txHash).toBe(first.txHash)
      expect(sentUnits).toBe(payout?.units)
      expect(await fixture.readStatus(exchange)).toBe('finished')
      await fixture.mineBlocks(FINAL)
      await makeDue(fixture)
      await fixture.runWorkers(2)
      const transaction = await readTransaction(fixture, exchange)
      expect(transaction.state).toBe('final')
      expect(transaction.attempts.map((one) => one.state)).toEqual(['confirmed', 'replaced'])
      expect(await listReserved(fixture, transaction)).toEqual([])
      expect(fake.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
      expect(await fixture.listAlarmKinds()).not.toContain('orphaned')
    },
  )
})

test('a confirmed payout that left the chain takes a conflicting transaction and fundings, which are broadcast', async () => {
  const fixture = await startFixture()
  const { btc: fake, eth: fakeEth } = fixture.fakes
  const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 5n })
  fakeEth.pay(exchange.deposit.address, ETHER / 5n)
  await fixture.mineBlocks(6)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  const { id, attempts } = await readTransaction(fixture, exchange)
  const { sender } = fake.chain
  const sent: string[] = []
  sender.broadcast = async (raw) => {
    sent.push(raw)
    return { kind: 'unknown', reason: 'no answer' }
  }
  fake.reorg(6, (txHash) => txHash === attempts[0]?.txHash)
  await fixture.runWorkers()
  expect((await readTransaction(fixture, exchange)).state).toBe('confirmed')
  const operate = createOperatePayouts(fixture.store)
  await operate.setConflictingTransaction(id, 'a'.repeat(64), note)
  await operate.addFundingTransaction(id, 'abcd', note)
  expect(await readTransaction(fixture, exchange)).toMatchObject({
    conflictingTxHash: 'a'.repeat(64),
    fundingTransactions: ['abcd'],
  })
  sent.length = 0
  await fixture.services.advance(id)
  // The funding first: nodes refuse a payment whose input they do not have.
  expect(sent).toEqual(['abcd', attempts[0]?.raw])
})
