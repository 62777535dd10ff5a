import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { outputsAsTheyAre } from '../../../../test/support/app-settings.ts'
import { journalEntry } from '../../../src/core/domain/ledger/journal.ts'
import { createAdvanceTransaction } from '../../../src/exchange/payouts/advance-transaction.ts'
import { noExchange } from '../../../src/exchange/payouts/payment.ts'
import { createPlanOutputs, planNow } from '../../../src/exchange/payouts/plan-outputs.ts'
import type { Chain } from '../../../src/exchange/ports/chain.ts'
import { COIN, startMoneyPath } from '../money-path.ts'

/* M26. The fake chain takes a fee of 1000 units; a replacement pays 1000 more. */

const outputs = { ready: 4, smallMax: 5, cheapRates: new Map([['btc', 3]]), feeBps: 20 }
const FEE = 1_000n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let chain: Chain
let planOutputs: (wallet: Chain) => Promise<void>
beforeAll(async () => {
  fixture = await startMoneyPath({ settings: { outputs } })
  const fake = fixture.fakes.btc.chain
  chain = { ...fake, sender: { ...fake.sender, depositFee: () => 500n } }
  planOutputs = createPlanOutputs(fixture.dependencies)
  await fixture.fundWallets({ btc: 8n * COIN })
})
afterAll(() => fixture.close())
afterEach(async () => {
  await fixture.expectBalanced()
  // The wallet of the ledger is the wallet of the chain.
  expect(await fixture.store.outputs.freeUnits('btc')).toBe(await fixture.readWalletUnits('btc@btc'))
  expect(await fixture.listAlarmKinds()).not.toContain('intrusion')
})

const note = { actor: 'anna', reason: 'fees are low' }
const readAttempts = () =>
  fixture.database.query<{ id: string; tx_hash: string; count: number }>(
    `select t.id, max(a.tx_hash) as tx_hash, count(*)::int as count from transactions t join attempts a on a.transaction_id = t.id
     where t.network = 'btc' group by t.id order by t.created_at`,
  )
const ageAttempts = () => fixture.database.query("update attempts set created_at = created_at - interval '1 day'")
const readFees = () => fixture.store.ledger.balance('expense:network-fee', 'btc@btc')
/** As if the last plan was long ago. */
const agePlans = () => fixture.database.query("update payouts set created_at = created_at - interval '2 hours'")
const listOutputs = async () =>
  (
    await fixture.database.query<{ units: string }>(
      'select units from coins where network = $1 and spent_by is null and reserved_by is null order by units desc',
      ['btc'],
    )
  ).map(({ units }) => BigInt(units))

describe('M26: change', () => {
  test('is spent again once it is in a block, before its transaction is confirmed', async () => {
    await fixture.insertPayout('btc', COIN / 100n, 'first', 'withdrawal')
    await fixture.runJobs()
    fixture.fakes.btc.mine()
    await fixture.insertPayout('btc', COIN / 100n, 'second', 'withdrawal')
    await fixture.runWorkers()
    const [first, second] = await readAttempts()
    expect(second).toBeDefined()

    // A reorganisation: the first is in no block, and a replacement would remove the change that the second one spends.
    fixture.fakes.btc.behaviour.dropsBroadcasts = true
    fixture.fakes.btc.reorg(1, () => true)
    await ageAttempts()
    await fixture.services.advance(first?.id ?? '')
    expect((await readAttempts())[0]?.count).toBe(1)
    fixture.fakes.btc.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(4)
    for (const address of ['first', 'second']) expect(fixture.fakes.btc.listPayments(address)).toHaveLength(1)
  })

  test('of a replaced transaction is never spent by another', async () => {
    await fixture.insertPayout('btc', COIN / 100n, 'third', 'withdrawal')
    fixture.fakes.btc.behaviour.dropsBroadcasts = true
    await fixture.runJobs()
    await ageAttempts()
    await fixture.runJobs()
    fixture.fakes.btc.behaviour.dropsBroadcasts = false
    const last = (await readAttempts()).at(-1)
    expect(last?.count).toBe(2)
    await fixture.runJobs()
    fixture.fakes.btc.mine()
    await fixture.runWatchers()
    // In a block, and a reorganisation could mine the other attempt.
    expect(await fixture.store.transactions.listSpendable('btc', { others: 2, own: 1 }, 10)).toEqual([])
    await fixture.mineBlocks(3)
    expect(fixture.fakes.btc.listPayments('third')).toHaveLength(1)
  })
})

describe('M26: a wallet with one output', () => {
  test('is split for its fee alone, and the payouts that wait are paid in the same transaction', async () => {
    const [before, fees] = [await fixture.readWalletUnits('btc@btc'), await readFees()]
    expect(await listOutputs()).toHaveLength(1)
    await planOutputs(chain)
    await fixture.insertPayout('btc', COIN / 100n, 'meanwhile', 'withdrawal')
    fixture.fakes.btc.behaviour.dropsBroadcasts = true
    await fixture.runJobs()
    // Stuck: replaced as any other transaction.
    await ageAttempts()
    await fixture.runJobs()
    fixture.fakes.btc.behaviour.dropsBroadcasts = false
    expect((await readAttempts()).at(-1)?.count).toBe(2)
    // What stays in the wallet is on offer meanwhile.
    expect(await fixture.readWalletUnits('btc@btc')).toBe(before - COIN / 100n)
    await fixture.mineBlocks(4)
    expect(fixture.fakes.btc.listPayments('meanwhile')).toHaveLength(1)
    expect(await listOutputs()).toHaveLength(4)
    expect((await listOutputs()).filter((units) => units === before / 4n)).toHaveLength(3)
    expect((await readFees()) - fees).toBe(2n * FEE)
    expect(await fixture.readWalletUnits('btc@btc')).toBe(before - COIN / 100n - 2n * FEE)
    await agePlans()
    await planOutputs(chain)
    expect(await fixture.store.outputs.isPlanned('btc', 0)).toBe(false)
  })
})

describe('M26: many small outputs', () => {
  const plan = async () => {
    await agePlans()
    await planOutputs(chain)
    return fixture.store.outputs.isPlanned('btc', 0)
  }

  /** The planned merge waits for a payout exactly while that one can be signed. */
  const expectToWaitForDuePayouts = async () => {
    const { store } = fixture
    const readPurposes = async () => (await store.payouts.queue('btc', 10)).map(({ purpose }) => purpose)
    const waiting = await fixture.insertPayout('btc', COIN / 100n, 'waiting', 'withdrawal')
    expect(await readPurposes()).toEqual(['withdrawal'])
    await store.payouts.postpone([waiting], 'wallet:btc@btc')
    expect(await readPurposes()).toEqual(['consolidate'])
    await store.payouts.approve(waiting)
    expect(await readPurposes()).toEqual(['withdrawal'])
    await store.payouts.holdForOperator([waiting], 'test')
    expect(await readPurposes()).toEqual(['consolidate'])

    const [partner, id] = [randomUUID(), randomUUID()]
    const address = 'partner'
    const ofPartner = {
      id,
      purpose: 'withdrawal',
      owedFrom: `liability:partner:${partner}`,
      units: COIN,
      address,
    } as const
    await store.ledger.post(
      journalEntry(`owed:${id}`, 'owed', null, [
        { debit: 'equity:capital', credit: ofPartner.owedFrom, assetId: 'btc@btc', units: COIN },
        { debit: ofPartner.owedFrom, credit: `liability:withdrawal:${id}`, assetId: 'btc@btc', units: COIN },
      ]),
    )
    await store.payouts.insert({ ...noExchange, ...ofPartner, network: 'btc', assetId: 'btc@btc', from: 'hot' })
    expect(await readPurposes()).toEqual(['withdrawal'])
    await store.pauses.pause(`partner:${partner}`, 'test', 'test')
    expect(await readPurposes()).toEqual(['consolidate'])
    await store.pauses.resume(`partner:${partner}`)
    expect(await readPurposes()).toEqual(['withdrawal'])
    await store.payouts.void(id)
  }

  test('are merged into two while fees are low, no payout waits, and the fee is within its bound', async () => {
    for (let n = 0; n < 6; n++) fixture.fakes.btc.pay(chain.addresses.hot(), COIN / 100n)
    await fixture.mineBlocks(3)
    expect(await listOutputs()).toHaveLength(10)
    const [before, fees] = [await fixture.readWalletUnits('btc@btc'), await readFees()]
    fixture.fakes.btc.behaviour.feeRate = 3_001n
    expect(await plan()).toBe(false)
    fixture.fakes.btc.behaviour.feeRate = 3_000n
    expect(await plan()).toBe(true)

    await expectToWaitForDuePayouts()
    // Its fee is raised within its bound only.
    fixture.fakes.btc.behaviour.dropsBroadcasts = true
    await fixture.runJobs()
    Object.assign(fixture.settings, { outputs: { ...outputs, feeBps: 1 } })
    await ageAttempts()
    await fixture.runJobs()
    expect((await readAttempts()).at(-1)?.count).toBe(1)
    Object.assign(fixture.settings, { outputs })
    fixture.fakes.btc.behaviour.dropsBroadcasts = false
    await fixture.database.query('update attempts set created_at = clock_timestamp()')
    await fixture.mineBlocks(3)
    expect(await listOutputs()).toHaveLength(6)
    expect((await listOutputs()).filter((units) => units === (6n * COIN) / 200n)).toHaveLength(1)
    expect(await readFees()).toBe(fees + FEE)
    expect(await fixture.readWalletUnits('btc@btc')).toBe(before - FEE)
  })

  test('are planned again when their merge is not signed for an hour, which would delay splits', async () => {
    const { database, store } = fixture
    for (let n = 0; n < 6; n++) fixture.fakes.btc.pay(chain.addresses.hot(), 40_000n)
    await fixture.mineBlocks(3)
    expect(await plan()).toBe(true)
    const listMerges = () =>
      database.query<{ id: string; state: string }>(
        "select id, state from payouts where purpose = 'consolidate' and state <> 'confirmed' order by created_at, id",
      )
    const [first] = await listMerges()
    await store.payouts.holdForOperator([first?.id ?? ''], 'INTERNAL')
    await store.alarms.raise(`payout:${first?.id}`, 'a payout cannot be built or signed', {})
    // Not yet an hour.
    await planOutputs(chain)
    expect(await listMerges()).toMatchObject([{ state: 'reserved' }])
    expect(await plan()).toBe(true)
    expect(await listMerges()).toMatchObject([{ id: first?.id, state: 'void' }, { state: 'reserved' }])
    expect(await fixture.listAlarmKinds()).not.toContain('payout')
    await fixture.mineBlocks(3)
    expect(await store.outputs.isPlanned('btc', 0)).toBe(false)
  })

  test('are left alone where their merge would cost more than its bound', async () => {
    for (let n = 0; n < 6; n++) fixture.fakes.btc.pay(chain.addresses.hot(), 50_000n)
    await fixture.mineBlocks(3)
    const before = await listOutputs()
    expect(await plan()).toBe(true)
    // 1000 units are more than a basis point of half of 6 * 50 000 and 6 000 000.
    Object.assign(fixture.settings, { outputs: { ...outputs, feeBps: 1 } })
    await fixture.runJobs()
    Object.assign(fixture.settings, { outputs })
    expect(await fixture.store.outputs.isPlanned('btc', 0)).toBe(false)
    expect(await listOutputs()).toEqual(before)
  })
})

test('the operator splits and merges by command, recorded in the audit log, and once at a time', async () => {
  await expect(planNow(fixture.store, chain, 'split', outputs, note)).rejects.toThrow('more than half')
  await expect(planNow(fixture.store, fixture.fakes.eth.chain, 'split', outputs, note)).rejects.toThrow('no outputs')
  await expect(planNow(fixture.store, chain, 'split', outputs, { ...note, reason: '-' })).rejects.toThrow('reason')
  const split = await planNow(fixture.store, chain, 'split', { ...outputs, ready: 40 }, note)
  expect(split.payoutIds.length).toBeGreaterThan(20)
  await expect(planNow(fixture.store, chain, 'consolidate', outputs, note)).rejects.toThrow('not confirmed yet')
  const acts = await fixture.database.query("select actor, act, subject from operator_acts where act like 'treasury %'")
  expect(acts).toEqual([{ actor: 'anna', act: 'treasury split', subject: 'btc' }])
  await fixture.mineBlocks(4)
  expect((await listOutputs()).length).toBeGreaterThan(30)
})

test('an alarm says that little of the wallet can be spent, and ends with it', async () => {
  let now = 0
  const watch = createPlanOutputs({ ...fixture.dependencies, settings: { outputs: outputsAsTheyAre }, now: () => now })
  await fixture.database.query("update coins set quarantined = true where network = 'btc'")
  await watch(chain)
  expect(await fixture.listAlarmKinds()).not.toContain('spendable')
  now += 600_000
  await watch(chain)
  expect(await fixture.listAlarmKinds()).toContain('spendable')
  await fixture.database.query("update coins set quarantined = false where network = 'btc'")
  await watch(chain)
  expect(await fixture.listAlarmKinds()).not.toContain('spendable')
})

test('a stuck transaction of a network without replacement is not signed again, and raises an alarm', async () => {
  await fixture.insertPayout('btc', COIN / 100n, 'fourth', 'withdrawal')
  await fixture.runJobs()
  await ageAttempts()
  const { bitcoin } = chain.network
  const cash = {
    ...chain,
    network: { ...chain.network, ...(bitcoin && { bitcoin: { ...bitcoin, replaceable: false } }) },
  }
  const chains = new Map(fixture.dependencies.chains).set('btc', cash)
  const last = (await readAttempts()).at(-1)
  await createAdvanceTransaction({ ...fixture.dependencies, chains })(last?.id ?? '')
  expect((await readAttempts()).at(-1)?.count).toBe(1)
  expect((await fixture.store.alarms.list(100)).find(({ subject }) => subject === `stuck:${last?.id}`)).toMatchObject({
    detail: { code: 'NO_REPLACEMENT' },
  })
  await fixture.mineBlocks(3)
  expect(fixture.fakes.btc.listPayments('fourth')).toHaveLength(1)
})

// A recipient spends its output by a child that pays much in all and little per byte: nodes refused each replacement.
test('M26: a stuck transaction pays more than itself and all that depend on it; above the limit it waits with an alarm', async () => {
  const { behaviour } = fixture.fakes.btc
  await fixture.insertPayout('btc', COIN / 100n, 'fifth', 'withdrawal')
  await fixture.runJobs()
  const readFee = async (id: string) =>
    BigInt((await fixture.store.transactions.load(id))?.attempts.at(-1)?.feeUnits ?? 0n)
  const { id } = (await readAttempts()).at(-1) ?? { id: '' }
  expect(await readFee(id)).toBe(FEE)
  behaviour.evictedUnits = 50_000n
  behaviour.feeMax = 40_000n
  await ageAttempts()
  await fixture.services.advance(id)
  expect(await readFee(id)).toBe(FEE)
  expect(await fixture.store.alarms.find(`stuck:${id}`)).not.toBeNull()
  behaviour.feeMax = 60_000n
  await fixture.services.advance(id)
  expect(await readFee(id)).toBe(50_000n + FEE)
  behaviour.evictedUnits = 0n
  await fixture.mineBlocks(3)
  expect(fixture.fakes.btc.listPayments('fifth')).toHaveLength(1)
  expect(await fixture.store.alarms.find(`stuck:${id}`)).toBeNull()
})
