import { afterEach, describe, expect, test } from 'vitest'
import { createCountFundings } from '../../../src/exchange/deposits/count-fundings.ts'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { createFakeChain } from '../fake-chain.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

type MoneyPath = Awaited<ReturnType<typeof startMoneyPath>>
const note = { actor: 'anna', reason: 'looked at it' }

const fixtures: MoneyPath[] = []
async function startFixture(): Promise<MoneyPath> {
  const fixture = await startMoneyPath()
  fixtures.push(fixture)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    await fixture.expectBalanced()
    await fixture.close()
  }
})

const findAlarm = async ({ store }: MoneyPath, kind: string) =>
  (await store.alarms.list(100)).find(({ subject }) => subject.startsWith(`${kind}:`))

describe('a payout whose input left the chain (bitcoin family)', () => {
  /** Signs a payout in bitcoin that spends the deposit of another exchange. */
  async function spendDeposit(fixture: MoneyPath) {
    await fixture.fundWallets({ btc: COIN / 1_000n, eth: 2_000n * ETHER })
    const first = await fixture.createExchange()
    const deposit = fixture.payDeposit(first, COIN / 10n)
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(first)).toBe('finished')
    const second = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 5n })
    fixture.fakes.eth.pay(second.deposit.address, ETHER / 5n)
    for (let n = 0; n < 2; n++) {
      fixture.fakes.eth.mine()
      await fixture.runWorkers()
    }
    expect(await fixture.readStatus(second)).toBe('sending')
    return {
      exchange: second,
      deposit,
      listPaid: () => fixture.fakes.btc.listPayments(second.recipient?.address ?? ''),
    }
  }

  test('is invalidated when a conflict of its parent is final, and is paid once from other outputs', async () => {
    const fixture = await startFixture()
    const { exchange, deposit, listPaid } = await spendDeposit(fixture)
    const firstAttempts = await fixture.database.query<{ tx_hash: string }>(
      "select tx_hash from attempts where network = 'btc'",
    )
    fixture.fakes.btc.reorg(6, (txHash) => txHash === deposit)
    const conflictingTxHash = fixture.fakes.btc.addConflict(`foreign:${deposit}`)
    await fixture.mineBlocks(1)
    // The wallet is funded again. Without a conflict proof only the same bytes are broadcast.
    fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('sending')
    expect(listPaid()).toEqual([])
    expect(await fixture.database.query("select tx_hash from attempts where network = 'btc'")).toEqual(firstAttempts)
    await fixture.mineBlocks(6)
    // The wallet paid out more than it had, so the asset is paused until the operator resumes it.
    expect(await findAlarm(fixture, 'invalid')).toBeDefined()
    expect((await fixture.store.pauses.list()).map(({ scope }) => scope)).toEqual(['asset:btc@btc'])
    await fixture.store.pauses.resume('asset:btc@btc')
    await fixture.clearHolds()
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(listPaid()).toHaveLength(1)
    // The loss could not be booked before the wallet was funded. The next check books it.
    await fixture.database.query('update exchange_checks set next_check_at = clock_timestamp()')
    await fixture.runWorkers()
    expect(await fixture.store.ledger.balance('expense:suspense', 'btc@btc')).toBe(COIN / 10n)
    expect(await findAlarm(fixture, 'invalid')).toBeDefined()
    const [expiredTransaction] = await fixture.database.query<{ proof: { proof: Record<string, unknown>[] } }>(
      "select proof from transactions where state = 'expired'",
    )
    expect(expiredTransaction?.proof.proof).toEqual([
      { txHash: firstAttempts[0]?.tx_hash, spentBy: conflictingTxHash, parent: deposit },
    ])
  })

  test('is not invalidated while its parent is missing without a conflict, and arrives when the parent returns', async () => {
    const fixture = await startFixture()
    const { exchange, deposit, listPaid } = await spendDeposit(fixture)
    const [target] = await fixture.database.query<{ address: string }>(
      'select address from deposits where tx_hash = $1',
      [deposit],
    )
    const [payment] = fixture.fakes.btc.listPayments(target?.address ?? '')
    fixture.fakes.btc.reorg(6, (txHash) => txHash === deposit)
    fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('sending')
    expect(await fixture.database.query("select 1 from transactions where state = 'expired'")).toEqual([])
    fixture.fakes.btc.resubmit(payment)
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(listPaid()).toHaveLength(1)
  })

  test('is signed again without the missing input, and cannot be paid twice', async () => {
    const fixture = await startFixture()
    await fixture.fundWallets({ btc: COIN / 200n, eth: 2_000n * ETHER })
    const first = await fixture.createExchange()
    const deposit = fixture.payDeposit(first, COIN / 250n)
    await fixture.mineBlocks(6)
    const second = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 5n })
    fixture.fakes.eth.pay(second.deposit.address, ETHER / 5n)
    for (let n = 0; n < 2; n++) {
      fixture.fakes.eth.mine()
      await fixture.runWorkers()
    }
    const listPaid = () => fixture.fakes.btc.listPayments(second.recipient?.address ?? '')
    const listAttempts = () =>
      fixture.database.query<{ raw: string }>("select raw from attempts where network = 'btc' order by id")
    const [payment] = fixture.fakes.btc.listPayments(first.deposit.address)
    const readInputs = (raw: string | undefined) => fixture.fakes.btc.decodeTx(raw ?? '').spends
    const [oldAttempt] = await listAttempts()
    expect(readInputs(oldAttempt?.raw)).toContain(`${deposit}:0`)
    fixture.fakes.btc.reorg(6, (txHash) => txHash === deposit)
    await fixture.mineBlocks(9)
    // The deposit has time to return before another attempt is signed.
    expect(await listAttempts()).toHaveLength(1)
    await fixture.mineBlocks(6)
    expect(await findAlarm(fixture, 'inputs')).toMatchObject({ detail: { outpoints: [`${deposit}:0`] } })
    fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
    await fixture.mineBlocks(3)
    // The next check books the loss. Before that, each check pauses the asset again.
    await fixture.database.query('update exchange_checks set next_check_at = clock_timestamp()')
    await fixture.runWorkers()
    await fixture.store.pauses.resume('asset:btc@btc')
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(second)).toBe('finished')
    const allAttempts = await listAttempts()
    const commonInput = readInputs(oldAttempt?.raw)[0] ?? ''
    for (const { raw } of allAttempts) expect(readInputs(raw)).toContain(commonInput)
    expect(readInputs(allAttempts.at(-1)?.raw)).not.toContain(`${deposit}:0`)
    expect(await findAlarm(fixture, 'inputs')).toBeUndefined()
    // The deposit returns. The first attempt is still rejected, because it conflicts with the later one.
    fixture.fakes.btc.resubmit(payment)
    expect(await fixture.fakes.btc.chain.sender.broadcast(oldAttempt?.raw ?? '')).toMatchObject({ kind: 'rejected' })
    await fixture.database.query("update transactions set next_check_at = clock_timestamp() where state = 'confirmed'")
    await fixture.database.query('update exchange_checks set next_check_at = clock_timestamp()')
    await fixture.mineBlocks(12)
    expect(listPaid()).toHaveLength(1)
    expect(await fixture.store.ledger.balance('expense:suspense', 'btc@btc')).toBe(0n)
    // The returned output is spendable again.
    expect(
      (await fixture.store.transactions.listSpendable('btc', { others: 2, own: 2 }, 10)).map(
        ({ outpoint }) => outpoint,
      ),
    ).toContain(`${deposit}:0`)
  })

  test('is not signed again while the missing input is the deposit that it refunds', async () => {
    const fixture = await startFixture()
    await fixture.fundWallets({ eth: 2_000n * ETHER })
    const [firstRefund, secondRefund] = [await fixture.createExchange(), await fixture.createExchange()]
    await fixture.store.pauses.pause('payouts:btc', 'test', 'test')
    // Both deposits are below the minimum. One transaction spends and refunds both.
    fixture.payDeposit(firstRefund, 2_950n)
    const missingHash = fixture.payDeposit(secondRefund, 2_900n)
    await fixture.mineBlocks(3)
    await fixture.store.pauses.resume('payouts:btc')
    await fixture.clearHolds()
    await fixture.runWorkers()
    const listAttempts = () => fixture.database.query<{ raw: string }>("select raw from attempts where network = 'btc'")
    const [oldAttempt] = await listAttempts()
    expect(fixture.fakes.btc.decodeTx(oldAttempt?.raw ?? '').spends).toContain(`${missingHash}:0`)
    const [payment] = fixture.fakes.btc.listPayments(secondRefund.deposit.address)
    fixture.fakes.btc.reorg(6, (txHash) => txHash === missingHash)
    fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), COIN)
    await fixture.mineBlocks(20)
    expect(await findAlarm(fixture, 'inputs')).toMatchObject({ detail: { code: 'DEPOSIT_NOT_COUNTED' } })
    expect(await listAttempts()).toHaveLength(1)
    expect(fixture.fakes.btc.listPayments(secondRefund.refund?.address ?? '')).toEqual([])
    // The deposit returns, and both refunds confirm.
    fixture.fakes.btc.resubmit(payment)
    await fixture.mineBlocks(8)
    expect([await fixture.readStatus(firstRefund), await fixture.readStatus(secondRefund)]).toEqual([
      'refunded',
      'refunded',
    ])
    expect(fixture.fakes.btc.listPayments(secondRefund.refund?.address ?? '')).toHaveLength(1)
    expect(await findAlarm(fixture, 'inputs')).toBeUndefined()
  })

  test('has the unconfirmed ancestors of its inputs, over several transactions', async () => {
    const fixture = await startFixture()
    await fixture.database.query(
      `insert into coins (network, outpoint, address, branch, key_index, units, made_from) values
         ('btc', 'aa:0', 'x', 'hot', 0, 1, '{g:1,h:2}'), ('btc', 'bb:1', 'x', 'change', 0, 1, '{aa:0}')`,
    )
    await fixture.database.query(
      "insert into coins (network, outpoint, address, branch, key_index, units, made_from, block_height, block_hash) values ('btc', 'cc:0', 'x', 'hot', 0, 1, '{z:0}', 1, 'b')",
    )
    const ancestors = [
      { outpoint: 'g:1', spentBy: 'aa' },
      { outpoint: 'h:2', spentBy: 'aa' },
      { outpoint: 'aa:0', spentBy: 'bb' },
    ]
    expect(await fixture.store.recovery.findAncestorSpends('btc', ['bb:1', 'cc:0'])).toEqual(ancestors)
    // A confirmed output has no ancestors to check.
    expect(await fixture.store.recovery.findAncestorSpends('btc', ['cc:0'])).toEqual([])
  })
})

describe('naming a conflicting transaction', () => {
  test('stores its hash with an audit note, and signs nothing', async () => {
    const fixture = await startFixture()
    const operate = createOperatePayouts(fixture.store)
    await fixture.fundWallets({ btc: COIN, eth: 100n * ETHER })
    const exchange = await fixture.createExchange()
    fixture.fakes.eth.behaviour.dropsBroadcasts = true
    fixture.payDeposit(exchange, COIN / 200n)
    await fixture.mineBlocks(2)
    const [transaction] = await fixture.database.query<{ id: string }>(
      "select id from transactions where state = 'live'",
    )
    const id = transaction?.id ?? ''
    await operate.setConflictingTransaction(id, 'a'.repeat(64), note)
    expect((await fixture.store.transactions.load(id))?.conflictingTxHash).toBe('a'.repeat(64))
    await fixture.runJobs()
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'signed' }])
    await expect(operate.setConflictingTransaction(id, 'no id', note)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    await expect(operate.setConflictingTransaction(exchange.id, 'a'.repeat(64), note)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
    expect(await fixture.database.query('select actor, act, subject, reason from operator_acts')).toEqual([
      { actor: 'anna', act: 'conflicting transaction named', subject: id, reason: 'looked at it' },
    ])
    fixture.fakes.eth.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(5)
    expect(await fixture.readStatus(exchange)).toBe('finished')
  })
})

describe('a funding that leaves the chain', () => {
  test('is reversed, and booked again when it returns', async () => {
    const fixture = await startFixture()
    await fixture.fundWallets({ btc: COIN, eth: ETHER })
    const funding = fixture.fakes.btc.pay(fixture.fakes.btc.chain.addresses.hot(), 5n * COIN)
    await fixture.mineBlocks(2)
    expect(await fixture.readWalletUnits('btc@btc')).toBe(6n * COIN)
    const payment = fixture.fakes.btc
      .listPayments(fixture.fakes.btc.chain.addresses.hot())
      .find(({ txHash }) => txHash === funding)
    fixture.fakes.btc.reorg(2, (txHash) => txHash === funding)
    await fixture.runWorkers()
    expect(await fixture.readWalletUnits('btc@btc')).toBe(COIN)
    expect(await findAlarm(fixture, 'funding')).toMatchObject({ detail: { takenBack: true, missing: '0' } })
    expect(await fixture.store.pauses.list()).toEqual([])
    for (const round of [1, 2]) {
      fixture.fakes.btc.resubmit(payment)
      await fixture.mineBlocks(3)
      expect(await fixture.readWalletUnits('btc@btc')).toBe(6n * COIN)
      expect(await findAlarm(fixture, 'funding')).toBeUndefined()
      if (round === 2) break
      fixture.fakes.btc.reorg(3, (txHash) => txHash === funding)
      await fixture.runWorkers()
      expect(await fixture.readWalletUnits('btc@btc')).toBe(COIN)
    }
  })

  test('and was paid out pauses its asset, and stays booked until the wallet covers it', async () => {
    const fixture = await startFixture()
    await fixture.fundWallets({ btc: COIN })
    const funding = fixture.fakes.eth.pay(fixture.fakes.eth.chain.addresses.hot(), 10n * ETHER)
    await fixture.mineBlocks(2)
    const exchange = await fixture.createExchange()
    // The payout spends a part of the funding.
    fixture.payDeposit(exchange, COIN / 200n)
    await fixture.mineBlocks(5)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    const unitsAfterPayout = await fixture.readWalletUnits('eth@eth')
    expect(unitsAfterPayout).toBeLessThan(10n * ETHER)
    fixture.fakes.eth.reorg(8, (txHash) => txHash === funding)
    await fixture.runWorkers()
    expect(await fixture.readWalletUnits('eth@eth')).toBe(unitsAfterPayout)
    expect(await findAlarm(fixture, 'funding')).toMatchObject({ detail: { takenBack: false } })
    expect((await fixture.store.pauses.list()).map(({ scope }) => scope)).toContain('asset:eth@eth')
    // A second funding covers the amount, so the first one is reversed.
    fixture.fakes.eth.pay(fixture.fakes.eth.chain.addresses.hot(), 10n * ETHER)
    await fixture.mineBlocks(4)
    expect(await findAlarm(fixture, 'funding')).toMatchObject({ detail: { takenBack: true } })
    expect(await fixture.readWalletUnits('eth@eth')).toBe(unitsAfterPayout)
  })
})

describe('a transfer with an unknown memo on a network with shared addresses', () => {
  test('is booked as unclaimed with an alarm, and becomes capital when the operator claims it', async () => {
    const fixture = await startFixture()
    const fake = createFakeChain({ ...eth.network, id: 'memo', memo: 'required' })
    const dependencies = {
      store: fixture.store,
      books: fixture.books,
      assetOf: () => eth.asset,
      assetById: () => eth.asset,
      priceKeyOf: () => 'eth',
      settings: fixture.settings,
      log: { info() {}, warn() {}, error() {} } as never,
    }
    const [recordBlocks, countFundings] = [createRecordBlocks(dependencies), createCountFundings(dependencies)]
    const hot = fake.chain.addresses.hot()
    await fixture.store.wallets.registerHotAddress('memo', hot, 0)
    await recordBlocks(fake.chain)
    const txHash = fake.pay(hot, 7n, { memo: '4711' })
    fake.pay(hot, 5n)
    const mineAndCount = async (blocks: number) => {
      fake.mine(blocks)
      await recordBlocks(fake.chain)
      await countFundings(fake.chain)
    }
    await mineAndCount(3)
    expect(await fixture.readWalletUnits('eth@eth')).toBe(12n)
    expect(await fixture.store.ledger.balance('equity:capital', 'eth@eth')).toBe(0n)
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'eth@eth')).toBe(-12n)
    const deposits = await fixture.database.query<{ id: string }>('select id from deposits order by units desc')
    expect((await fixture.store.alarms.list(10)).map(({ subject }) => subject)).toEqual(['unclaimed:memo'])
    const operate = createOperatePayouts(fixture.store)
    const id = deposits[0]?.id ?? ''
    await operate.claim(id, note)
    await expect(operate.claim(id, note)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    expect(await fixture.store.ledger.balance('equity:capital', 'eth@eth')).toBe(-7n)
    // The reversal uses the account that holds the booked amount.
    fake.reorg(3, () => true)
    await mineAndCount(1)
    expect(await fixture.readWalletUnits('eth@eth')).toBe(0n)
    expect(await fixture.store.ledger.balance('equity:capital', 'eth@eth')).toBe(0n)
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'eth@eth')).toBe(0n)
    expect(txHash).not.toBe('')
  })
})

describe('a deposit above a value tier of its network', () => {
  test('waits for the finality tag of its tier (D23), or for the final depth where the nodes have no tags', async () => {
    const fixture = await startFixture()
    await fixture.fundWallets({ btc: COIN, eth: 10n * ETHER })
    const { behaviour } = fixture.fakes.eth
    const evm = { chainId: 1, finalityTag: null, dynamicFees: true, safeAboveUsd: 500n, finalizedAboveUsd: 3_000n }
    Object.assign(fixture.fakes.eth.chain, { network: { ...fixture.fakes.eth.chain.network, evm } })
    const payExchange = async (units: bigint) => {
      const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: units })
      fixture.fakes.eth.pay(exchange.deposit.address, units)
      return exchange
    }
    behaviour.tagHeights = { safe: 0, finalized: 0 }
    const [small, middle, large] = [
      await payExchange(ETHER / 50n),
      await payExchange(ETHER / 5n),
      await payExchange(ETHER),
    ]
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(small)).toBe('finished')
    expect([await fixture.readStatus(middle), await fixture.readStatus(large)]).toEqual(['confirming', 'confirming'])
    const { height } = await fixture.fakes.eth.chain.reader.head()
    behaviour.tagHeights = { safe: height, finalized: 0 }
    await fixture.mineBlocks(4)
    expect([await fixture.readStatus(middle), await fixture.readStatus(large)]).toEqual(['finished', 'confirming'])
    behaviour.tagHeights = { safe: height, finalized: height }
    await fixture.mineBlocks(4)
    expect(await fixture.readStatus(large)).toBe('finished')
    behaviour.tagHeights = { safe: null, finalized: null }
    const largeWithoutTags = await payExchange(ETHER)
    await fixture.mineBlocks(9)
    expect(await fixture.readStatus(largeWithoutTags)).toBe('confirming')
    await fixture.mineBlocks(5)
    expect(await fixture.readStatus(largeWithoutTags)).toBe('finished')
  })
})
