import { afterEach, describe, expect, test } from 'vitest'
import { createCountFundings } from '../../../src/exchange/deposits/count-fundings.ts'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { createFakeChain } from '../fake-chain.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

type MoneyPath = Awaited<ReturnType<typeof startMoneyPath>>
const word = { actor: 'anna', reason: 'looked at it' }

const fixtures: MoneyPath[] = []
async function start(): Promise<MoneyPath> {
  const fixture = await startMoneyPath()
  fixtures.push(fixture)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    await fixture.balanced()
    await fixture.close()
  }
})

const alarmOf = async ({ store }: MoneyPath, kind: string) =>
  (await store.alarms.list(100)).find(({ subject }) => subject.startsWith(`${kind}:`))

describe('a payout of the bitcoin family that spends a coin which can never be', () => {
  /** A app whose payout in bitcoin spends a customer's deposit; the deposit is then taken back by a double spend. */
  async function spendsDeposit(fixture: MoneyPath) {
    await fixture.fill({ btc: COIN / 1_000n, eth: 2_000n * ETHER })
    const first = await fixture.order()
    const deposit = fixture.deposit(first, COIN / 10n)
    await fixture.blocks(6)
    expect(await fixture.status(first)).toBe('finished')
    const second = await fixture.order({ from: eth, to: btc, fromUnits: ETHER / 5n })
    fixture.fakes.eth.pay(second.deposit.address, ETHER / 5n)
    for (let n = 0; n < 2; n++) {
      fixture.fakes.eth.mine()
      await fixture.turn()
    }
    expect(await fixture.status(second)).toBe('sending')
    return { second, deposit, paidTo: () => fixture.fakes.btc.paidTo(second.recipient?.address ?? '') }
  }

  test('is invalidated once the other spend of its parent is final, and paid once more from other outputs', async () => {
    const fixture = await start()
    const { second, deposit, paidTo } = await spendsDeposit(fixture)
    const sentBytes = await fixture.database.query<{ tx_hash: string }>(
      "select tx_hash from attempts where network = 'btc'",
    )
    fixture.fakes.btc.reorg(6, (txHash) => txHash === deposit)
    fixture.fakes.btc.steal(`foreign:${deposit}`)
    await fixture.blocks(1)
    // Somebody fills the wallet; as long as nothing is proven the old bytes are all that is offered.
    fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
    await fixture.blocks(8)
    expect(await fixture.status(second)).toBe('sending')
    expect(paidTo()).toEqual([])
    expect(await fixture.database.query("select tx_hash from attempts where network = 'btc'")).toEqual(sentBytes)
    await fixture.blocks(6)
    // The wallet had paid out more than it held: the asset stands still until a person has looked.
    expect(await alarmOf(fixture, 'invalid')).toBeDefined()
    expect((await fixture.store.pauses.list()).map(({ scope }) => scope)).toEqual(['asset:btc@btc'])
    await fixture.store.pauses.resume('asset:btc@btc')
    await fixture.database.query('update payouts set held_until = null where held_until is not null')
    await fixture.blocks(4)
    expect(await fixture.status(second)).toBe('finished')
    expect(paidTo()).toHaveLength(1)
    // The loss could not be booked before the wallet was filled; it is looked at again by its clock.
    await fixture.database.query(
      'update exchanges set next_check_at = clock_timestamp() where next_check_at is not null',
    )
    await fixture.turn()
    expect(await fixture.store.ledger.balance('expense:suspense', 'btc@btc')).toBe(COIN / 10n)
    expect(await alarmOf(fixture, 'invalid')).toBeDefined()
    const [expired] = await fixture.database.query<{ proof: { proof: Record<string, unknown>[] } }>(
      "select proof from transactions where state = 'expired'",
    )
    expect(expired?.proof.proof).toEqual([{ txHash: sentBytes[0]?.tx_hash, parent: deposit }])
  })

  test('is not invalidated while its parent is only missing, and arrives when the parent is back', async () => {
    const fixture = await start()
    const { second, deposit, paidTo } = await spendsDeposit(fixture)
    const before = await fixture.database.query<{ address: string }>(
      'select address from deposits where tx_hash = $1',
      [deposit],
    )
    const [payment] = fixture.fakes.btc.paidTo(before[0]?.address ?? '')
    fixture.fakes.btc.reorg(6, (txHash) => txHash === deposit)
    fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
    await fixture.blocks(14)
    expect(await fixture.status(second)).toBe('sending')
    expect(await fixture.database.query("select 1 from transactions where state = 'expired'")).toEqual([])
    fixture.fakes.btc.offer(payment)
    await fixture.blocks(6)
    expect(await fixture.status(second)).toBe('finished')
    expect(paidTo()).toHaveLength(1)
  })

  test('whose input is missing is signed again without it, and can never be paid twice', async () => {
    const fixture = await start()
    await fixture.fill({ btc: COIN / 200n, eth: 2_000n * ETHER })
    const first = await fixture.order()
    const deposit = fixture.deposit(first, COIN / 250n)
    await fixture.blocks(6)
    const second = await fixture.order({ from: eth, to: btc, fromUnits: ETHER / 5n })
    fixture.fakes.eth.pay(second.deposit.address, ETHER / 5n)
    for (let n = 0; n < 2; n++) {
      fixture.fakes.eth.mine()
      await fixture.turn()
    }
    const paidTo = () => fixture.fakes.btc.paidTo(second.recipient?.address ?? '')
    const attempts = () =>
      fixture.database.query<{ raw: string }>("select raw from attempts where network = 'btc' order by id")
    const [payment] = fixture.fakes.btc.paidTo(first.deposit.address)
    const inputsOf = (raw: string | undefined) => fixture.fakes.btc.toTx(raw ?? '').spends
    const [old] = await attempts()
    expect(inputsOf(old?.raw)).toContain(`${deposit}:0`)
    fixture.fakes.btc.reorg(6, (txHash) => txHash === deposit)
    await fixture.blocks(9)
    // Nothing is signed before what left had time to come back.
    expect(await attempts()).toHaveLength(1)
    await fixture.blocks(6)
    expect(await alarmOf(fixture, 'inputs')).toMatchObject({ detail: { outpoints: [`${deposit}:0`] } })
    fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
    await fixture.store.pauses.resume('asset:btc@btc')
    await fixture.blocks(8)
    expect(await fixture.status(second)).toBe('finished')
    const signed = await attempts()
    const common = inputsOf(old?.raw)[0] ?? ''
    for (const { raw } of signed) expect(inputsOf(raw)).toContain(common)
    expect(inputsOf(signed.at(-1)?.raw)).not.toContain(`${deposit}:0`)
    expect(await alarmOf(fixture, 'inputs')).toBeUndefined()
    // The output is back, and with it the old bytes: the two transactions conflict.
    fixture.fakes.btc.offer(payment)
    expect(await fixture.fakes.btc.chain.sender.broadcast(old?.raw ?? '')).toMatchObject({ kind: 'rejected' })
    await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
    await fixture.database.query(
      'update exchanges set next_check_at = clock_timestamp() where next_check_at is not null',
    )
    await fixture.blocks(12)
    expect(paidTo()).toHaveLength(1)
    expect(await fixture.store.ledger.balance('expense:suspense', 'btc@btc')).toBe(0n)
    // And it may be spent again.
    expect((await fixture.store.transactions.listSpendable('btc', 2, 10)).map(({ outpoint }) => outpoint)).toContain(
      `${deposit}:0`,
    )
  })

  test('is not signed again while the deposit that it refunds is the missing one', async () => {
    const fixture = await start()
    await fixture.fill({ eth: 2_000n * ETHER })
    const [one, other] = [await fixture.order(), await fixture.order()]
    await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
    // Below the minimum: both go back, by one transaction that spends both.
    fixture.deposit(one, 2_950n)
    const missing = fixture.deposit(other, 2_900n)
    await fixture.blocks(3)
    await fixture.store.pauses.resume('payouts:btc')
    await fixture.database.query('update payouts set held_until = null')
    await fixture.turn()
    const attempts = () => fixture.database.query<{ raw: string }>("select raw from attempts where network = 'btc'")
    const [old] = await attempts()
    expect(fixture.fakes.btc.toTx(old?.raw ?? '').spends).toContain(`${missing}:0`)
    const [payment] = fixture.fakes.btc.paidTo(other.deposit.address)
    fixture.fakes.btc.reorg(6, (txHash) => txHash === missing)
    fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
    await fixture.blocks(20)
    expect(await alarmOf(fixture, 'inputs')).toMatchObject({ detail: { code: 'DEPOSIT_NOT_COUNTED' } })
    expect(await attempts()).toHaveLength(1)
    expect(fixture.fakes.btc.paidTo(other.refund?.address ?? '')).toEqual([])
    // It is back, and so are both refunds.
    fixture.fakes.btc.offer(payment)
    await fixture.blocks(8)
    expect([await fixture.status(one), await fixture.status(other)]).toEqual(['refunded', 'refunded'])
    expect(fixture.fakes.btc.paidTo(other.refund?.address ?? '')).toHaveLength(1)
    expect(await alarmOf(fixture, 'inputs')).toBeUndefined()
  })

  test('knows what its coins were made from, over generations', async () => {
    const fixture = await start()
    await fixture.database.query(
      `insert into coins (network, outpoint, address, branch, key_index, units, made_from) values
         ('btc', 'aa:0', 'x', 'hot', 0, 1, '{g:1,h:2}'), ('btc', 'bb:1', 'x', 'change', 0, 1, '{aa:0}')`,
    )
    await fixture.database.query(
      "insert into coins (network, outpoint, address, branch, key_index, units, made_from, block_height, block_hash) values ('btc', 'cc:0', 'x', 'hot', 0, 1, '{z:0}', 1, 'b')",
    )
    const needs = [
      { outpoint: 'g:1', spentBy: 'aa' },
      { outpoint: 'h:2', spentBy: 'aa' },
      { outpoint: 'aa:0', spentBy: 'bb' },
    ]
    expect(await fixture.store.recovery.findAncestorSpends('btc', ['bb:1', 'cc:0'])).toEqual(needs)
    // What is on the chain needs nothing more.
    expect(await fixture.store.recovery.findAncestorSpends('btc', ['cc:0'])).toEqual([])
  })
})

describe('a transaction whose conflicting transaction the operator names', () => {
  test('is looked at with it, the word is kept, and nothing is signed by it', async () => {
    const fixture = await start()
    const operate = createOperatePayouts(fixture.store)
    await fixture.fill({ btc: COIN, eth: 100n * ETHER })
    const exchange = await fixture.order()
    fixture.fakes.eth.knobs.deaf = true
    fixture.deposit(exchange, COIN / 200n)
    await fixture.blocks(2)
    const [transaction] = await fixture.database.query<{ id: string }>(
      "select id from transactions where state = 'live'",
    )
    const id = transaction?.id ?? ''
    await operate.setConflictingTransaction(id, 'a'.repeat(64), word)
    expect((await fixture.store.transactions.load(id))?.conflictingTxHash).toBe('a'.repeat(64))
    await fixture.work()
    expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'signed' }])
    await expect(operate.setConflictingTransaction(id, 'no id', word)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    await expect(operate.setConflictingTransaction(exchange.id, 'a'.repeat(64), word)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    expect(await fixture.database.query('select actor, act, subject, reason from operator_acts')).toEqual([
      { actor: 'anna', act: 'conflicting transaction named', subject: id, reason: 'looked at it' },
    ])
    fixture.fakes.eth.knobs.deaf = false
    await fixture.blocks(5)
    expect(await fixture.status(exchange)).toBe('finished')
  })
})

describe('a funding that leaves the chain', () => {
  test('is taken back, and counted again when it is back', async () => {
    const fixture = await start()
    await fixture.fill({ btc: COIN, eth: ETHER })
    const funding = fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), 5n * COIN)
    await fixture.blocks(2)
    expect(await fixture.wallet('btc@btc')).toBe(6n * COIN)
    const payment = fixture.fakes.btc
      .paidTo(fixture.fakes.btc.chain.addresses.hot())
      .find(({ txHash }) => txHash === funding)
    fixture.fakes.btc.reorg(2, (txHash) => txHash === funding)
    await fixture.turn()
    expect(await fixture.wallet('btc@btc')).toBe(COIN)
    expect(await alarmOf(fixture, 'funding')).toMatchObject({ detail: { takenBack: true, missing: '0' } })
    expect(await fixture.store.pauses.list()).toEqual([])
    for (const times of [1, 2]) {
      fixture.fakes.btc.offer(payment)
      await fixture.blocks(3)
      expect(await fixture.wallet('btc@btc')).toBe(6n * COIN)
      expect(await alarmOf(fixture, 'funding')).toBeUndefined()
      if (times === 2) break
      fixture.fakes.btc.reorg(3, (txHash) => txHash === funding)
      await fixture.turn()
      expect(await fixture.wallet('btc@btc')).toBe(COIN)
    }
  })

  test('and was promised stops the payouts of its asset; paid out already, it stands in the books until it is covered', async () => {
    const fixture = await start()
    await fixture.fill({ btc: COIN })
    const funding = fixture.fakes.eth.pay(fixture.fakes.eth.chain.addresses.hot(), 10n * ETHER)
    await fixture.blocks(2)
    const exchange = await fixture.order()
    // Its payout takes from the ten.
    fixture.deposit(exchange, COIN / 200n)
    await fixture.blocks(5)
    expect(await fixture.status(exchange)).toBe('finished')
    const left = await fixture.wallet('eth@eth')
    expect(left).toBeLessThan(10n * ETHER)
    fixture.fakes.eth.reorg(8, (txHash) => txHash === funding)
    await fixture.turn()
    expect(await fixture.wallet('eth@eth')).toBe(left)
    expect(await alarmOf(fixture, 'funding')).toMatchObject({ detail: { takenBack: false } })
    expect((await fixture.store.pauses.list()).map(({ scope }) => scope)).toContain('asset:eth@eth')
    // Funded again: now it can be reversed.
    fixture.fakes.eth.pay(fixture.fakes.eth.chain.addresses.hot(), 10n * ETHER)
    await fixture.blocks(4)
    expect(await alarmOf(fixture, 'funding')).toMatchObject({ detail: { takenBack: true } })
    expect(await fixture.wallet('eth@eth')).toBe(left)
  })
})

describe('a network on which many share one address and differ by memo', () => {
  test('a transfer with an unknown memo is not a funding: it is unclaimed, with an alarm, until the operator claims it', async () => {
    const fixture = await start()
    const fake = createFakeChain({ ...eth.network, id: 'memo', memo: 'required' })
    const deps = {
      store: fixture.store,
      books: fixture.books,
      assetOf: () => eth.asset,
      assetById: () => eth.asset,
      priceKeyOf: () => 'eth',
      log: { info() {}, warn() {}, error() {} } as never,
    }
    const [record, count] = [createRecordBlocks(deps), createCountFundings(deps)]
    const hot = fake.chain.addresses.hot()
    await fixture.store.wallets.registerHotAddress('memo', hot, 0)
    await record(fake.chain)
    const txHash = fake.pay(hot, 7n, { memo: '4711' })
    fake.pay(hot, 5n)
    const turn = async (blocks: number) => {
      fake.mine(blocks)
      await record(fake.chain)
      await count(fake.chain)
    }
    await turn(3)
    expect(await fixture.wallet('eth@eth')).toBe(12n)
    expect(await fixture.store.ledger.balance('equity:capital', 'eth@eth')).toBe(0n)
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'eth@eth')).toBe(-12n)
    const deposits = await fixture.database.query<{ id: string }>('select id from deposits order by units desc')
    expect((await fixture.store.alarms.list(10)).map(({ subject }) => subject).sort()).toEqual(
      deposits.map(({ id }) => `unclaimed:${id}`).sort(),
    )
    const operate = createOperatePayouts(fixture.store)
    const id = deposits[0]?.id ?? ''
    await operate.claim(id, word)
    await expect(operate.claim(id, word)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    expect(await fixture.store.ledger.balance('equity:capital', 'eth@eth')).toBe(-7n)
    // What leaves the chain is taken back from where it is booked.
    fake.reorg(3, () => true)
    await turn(1)
    expect(await fixture.wallet('eth@eth')).toBe(0n)
    expect(await fixture.store.ledger.balance('equity:capital', 'eth@eth')).toBe(0n)
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'eth@eth')).toBe(0n)
    expect(txHash).not.toBe('')
  })
})

describe('a deposit above a value tier of its network (D23)', () => {
  test('waits for the chain’s own tag; where the nodes have none, for the depth at which nothing is looked at again', async () => {
    const fixture = await start()
    await fixture.fill({ btc: COIN, eth: 10n * ETHER })
    const { knobs } = fixture.fakes.eth
    const evm = { chainId: 1, finalityTag: null, dynamicFees: true, safeAboveUsd: 100n, finalizedAboveUsd: 1_000n }
    Object.assign(fixture.fakes.eth.chain, { network: { ...fixture.fakes.eth.chain.network, evm } })
    const order = async (units: bigint) => {
      const exchange = await fixture.order({ from: eth, to: btc, fromUnits: units })
      fixture.fakes.eth.pay(exchange.deposit.address, units)
      return exchange
    }
    knobs.tags = { safe: 0, finalized: 0 }
    const [small, middle, large] = [await order(ETHER / 50n), await order(ETHER / 5n), await order(ETHER)]
    await fixture.blocks(8)
    expect(await fixture.status(small)).toBe('finished')
    expect([await fixture.status(middle), await fixture.status(large)]).toEqual(['confirming', 'confirming'])
    const { height } = await fixture.fakes.eth.chain.reader.head()
    knobs.tags = { safe: height, finalized: 0 }
    await fixture.blocks(4)
    expect([await fixture.status(middle), await fixture.status(large)]).toEqual(['finished', 'confirming'])
    knobs.tags = { safe: height, finalized: height }
    await fixture.blocks(4)
    expect(await fixture.status(large)).toBe('finished')
    knobs.tags = { safe: null, finalized: null }
    const untagged = await order(ETHER)
    await fixture.blocks(9)
    expect(await fixture.status(untagged)).toBe('confirming')
    await fixture.blocks(5)
    expect(await fixture.status(untagged)).toBe('finished')
  })
})
