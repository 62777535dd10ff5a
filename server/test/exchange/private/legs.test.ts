import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, makeBook, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createReconcile } from '../../../src/exchange/operations/reconcile.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { COIN, ETHER, ltc, market } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const createPrivate = (rest: Parameters<typeof fixture.createExchange>[0] = {}) =>
  fixture.createExchange({ via: ltc, plan, ...rest })
const listTargets = (exchange: Exchange) =>
  fixture.database.query<{ leg: number; nth: number; address: string; key_index: string }>(
    'select leg, nth, address, key_index from deposit_targets where exchange_id = $1 order by leg, nth',
    [exchange.id],
  )
/** The deposit addresses of the second leg, which no response shows. */
const listInnerTargets = async (exchange: Exchange) => (await listTargets(exchange)).filter(({ leg }) => leg === 1)
const setPrices = (prices: Partial<typeof market.prices>) =>
  fixture.books.replace(
    makeBook({
      ...market,
      prices: { ...market.prices, ...(prices as typeof market.prices) },
      at: Date.now() + 3_600_000,
    }),
  )

/** What the report says that this exchange earned by its last conversion, in wei. */
async function readSpread({ id }: Exchange): Promise<bigint> {
  const period = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 86_400_000) }
  const rows = await fixture.store.reports.revenue(period, 'exchange', 1_000)
  return rows.find(({ group, assetId }) => group === id && assetId === 'eth@eth')?.spread ?? 0n
}

describe('a private exchange', () => {
  test('has two legs: the payout of the first leg is the deposit of the second', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    const [first, second] = await fixture.listExecutions(exchange)
    expect([first?.leg, first?.status, second?.leg, second?.status]).toEqual([0, 'finished', 1, 'finished'])
    expect(second?.payinHash).toBe(first?.payoutHash)
    // 0.005 BTC × 99 990 ÷ 100 = 4.9995 LTC; − 0.4 % = 4.979502; − 0.00002; 0.5 % of it is withheld.
    const plain = 497_948_200n
    expect(first?.sentUnits).toBe((plain * 995_000n) / 1_000_000n)
    expect(second?.receivedUnits).toBe(first?.sentUnits)
    // The second leg converts the withheld part, too: 4.979482 LTC × 100 ÷ 4001 − 0.4 % − 0.1 % − 0.00021 ETH, to the wei.
    const [gross, applyBps] = [
      (plain * 100n * ETHER) / (4_001n * COIN),
      (units: bigint, keep: bigint) => (units * keep) / 10_000n,
    ]
    const expected = applyBps(applyBps(gross, 9_960n), 9_990n) - 210_000_000_000_000n
    const sent = second?.sentUnits ?? 0n
    expect(expected - sent).toBeGreaterThanOrEqual(0n)
    // Rounding the amount between the legs loses less than the value of one litoshi.
    expect(expected - sent).toBeLessThan(2n * 249_937_515n + 1n)
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '').map(({ units }) => units)).toEqual([sent])
    const [target, ...others] = await listInnerTargets(exchange)
    expect(others).toEqual([])
    expect(fixture.fakes.ltc.listPayments(target?.address ?? '').map(({ units }) => units)).toEqual([first?.sentUnits])
    expect(await fixture.readLiabilities(exchange)).toEqual({})
  })

  test.each([-10_000, 10_000])('changes the payout by the drawn share of %i ppm', async (payoutPpm) => {
    const [unchanged, changed] = [await createPrivate(), await createPrivate({ plan: { ...plan, payoutPpm } })]
    for (const exchange of [unchanged, changed]) fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(14)
    const readSent = async (exchange: Exchange) => {
      const [first, second] = await fixture.listExecutions(exchange)
      expect(second?.status).toBe('finished')
      return { shown: first?.sentUnits ?? 0n, paid: second?.sentUnits ?? 0n }
    }
    const [usual, other] = [await readSent(unchanged), await readSent(changed)]
    expect(other.shown).toBe(usual.shown)
    expect(other.paid).toBe((usual.paid * (1_000_000n + BigInt(payoutPpm))) / 1_000_000n)
    expect(fixture.fakes.eth.listPayments(changed.recipient?.address ?? '').map(({ units }) => units)).toEqual([
      other.paid,
    ])
    expect(await fixture.readLiabilities(changed)).toEqual({})
    // We keep what the recipient does not get.
    const [spread, others] = [await readSpread(changed), await readSpread(unchanged)]
    expect(spread - others).toBe(usual.paid - other.paid)
  })

  test('through a network of an account family is swept, and the sweeps are not deposits', async () => {
    const exchange = await createPrivate({ via: eth, to: ltc, toUnits: COIN })
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(await fixture.listExecutions(exchange)).toHaveLength(2)
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.mineBlocks(14)
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.mineBlocks(14)
    expect(await fixture.listExecutions(exchange)).toHaveLength(2)
    const [target] = await listInnerTargets(exchange)
    const swept = await fixture.database.query('select 1 from payouts where purpose = $1 and key_index = $2', [
      'sweep',
      target?.key_index,
    ])
    expect(swept).toHaveLength(1)
    expect(fixture.fakes.ltc.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('is recorded by a watcher that started before the inner address existed, and by one that started after', async () => {
    // Like watchers on two machines: each caches the addresses in its own memory.
    const earlyWatcher = createRecordBlocks({
      ...fixture.dependencies,
      store: createStore(fixture.database, payeeMacs),
    })
    await earlyWatcher(fixture.fakes.ltc.chain)
    for (const recordBlocks of [
      earlyWatcher,
      createRecordBlocks({ ...fixture.dependencies, store: createStore(fixture.database, payeeMacs) }),
    ]) {
      const exchange = await createPrivate()
      fixture.payDeposit(exchange, SMALL)
      for (let n = 0; n < 14; n++) {
        for (const fake of Object.values(fixture.fakes)) fake.mine()
        await recordBlocks(fixture.fakes.ltc.chain)
        await fixture.runWorkers()
      }
      expect(await fixture.readStatus(exchange)).toBe('finished')
    }
  })

  test('from a token through one native currency to another is paid', async () => {
    const exchange = await createPrivate({ from: usdt, via: ltc, to: btc, fromUnits: 500_000_000n, toUnits: SMALL })
    fixture.payDeposit(exchange, 500_000_000n)
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.fakes.btc.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('with two deposits has a new inner address for each, and is paid twice', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(16)
    expect((await fixture.listExecutions(exchange)).map(({ leg, status }) => `${leg} ${status}`)).toEqual([
      '0 finished',
      '0 finished',
      '1 finished',
      '1 finished',
    ])
    expect(new Set((await listInnerTargets(exchange)).map(({ address }) => address)).size).toBe(2)
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(2)
  })

  test('without a recipient runs both legs and credits the partner', async () => {
    const exchange = await createPrivate({ recipient: null })
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(12)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect((await fixture.listPayouts(exchange)).map(({ purpose }) => purpose)).toEqual(['payout'])
  })

  test('does not credit a foreign payment to the inner address', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    const [target] = await listInnerTargets(exchange)
    fixture.fakes.ltc.pay(target?.address ?? '', COIN, { sender: 'stranger' })
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(await fixture.listExecutions(exchange)).toHaveLength(2)
    expect(await fixture.listAlarmKinds()).toContain('stray')
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
    // Outputs are spent where they lie, so the coins are in the wallet: the operator can return them.
    expect((await fixture.store.operator.listUnclaimed(10)).map(({ assetId, units }) => `${units} ${assetId}`)).toEqual(
      [`${COIN} ltc@ltc`],
    )
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'ltc@ltc')).toBe(-COIN)
    const differences: bigint[] = []
    const reconcile = createReconcile({
      ...fixture.dependencies,
      addressesEveryMs: 0,
      onDifference: (_asset, units) => differences.push(units),
    })
    for (let n = 0; n < 2; n++) await reconcile(fixture.fakes.ltc.chain)
    expect(differences).toEqual([0n, 0n])
  })
})

describe('a private exchange that cannot continue', () => {
  test('is refunded on its first leg if the deposit is too small for both legs', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, 2_900n)
    await fixture.mineBlocks(8)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '').map(({ units }) => units)).toEqual([1_400n])
    expect(await listInnerTargets(exchange)).toEqual([])
  })

  test('is refunded in the source currency from its second leg, to the refund address only', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    // The target's reserve is empty: no quote is available.
    fixture.books.replace(
      makeBook({ ...market, reserves: { ...market.reserves, 'eth@eth': 10n ** 12n }, at: Date.now() + 3_600_000 }),
    )
    await fixture.mineBlocks(14)
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    const [first, second] = await fixture.listExecutions(exchange)
    expect([first?.status, second?.status]).toEqual(['finished', 'refunded'])
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toEqual([])
    const refundedUnits = fixture.fakes.btc.listPayments(exchange.refund?.address ?? '').map(({ units }) => units)
    // 4.979482 LTC × 100 ÷ 100 010 = 0.00497898 BTC, − 0.4 % − 0.000015.
    expect(refundedUnits).toHaveLength(1)
    expect(refundedUnits[0]).toBeGreaterThan(494_400n)
    expect(refundedUnits[0]).toBeLessThan(494_410n)
    expect(await fixture.readLiabilities(exchange)).toEqual({})
    const view = await fixture.store.exchanges.find(exchange.partnerId, exchange.id)
    expect(view?.executions[1]?.refund).toMatchObject({ assetId: 'btc@btc', address: exchange.refund?.address })
  })

  test('with refundToSender and no refund address is refunded to the payer of the first leg, not to a wallet of ours', async () => {
    await fixture.setRefundToSender(true)
    const exchange = await createPrivate({
      from: eth,
      via: ltc,
      to: btc,
      fromUnits: ETHER,
      toUnits: SMALL,
      refund: null,
    })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n, { sender: 'payer' })
    await fixture.mineBlocks(3)
    fixture.books.replace(
      makeBook({ ...market, reserves: { ...market.reserves, 'btc@btc': 1n }, at: Date.now() + 3_600_000 }),
    )
    await fixture.mineBlocks(14)
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(fixture.fakes.eth.listPayments('payer')).toHaveLength(1)
  })

  test('is refunded from its first leg if the intermediary stalls too long, and is not paid', async () => {
    const exchange = await createPrivate({ plan: { ...plan, stallMs: 500 } })
    await fixture.store.pauses.pause('payouts:ltc', 'test', 'test')
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    await expect
      .poll(async () => {
        await fixture.services.step(exchange.id)
        return (await fixture.readExecution(exchange)).status
      }, PATIENCE)
      .toBe('refunding')
    await fixture.store.pauses.resume('payouts:ltc')
    await fixture.mineBlocks(10)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '').map(({ units }) => units)).toEqual([
      SMALL - 1_500n,
    ])
    for (const { address } of await listInnerTargets(exchange))
      expect(fixture.fakes.ltc.listPayments(address)).toEqual([])
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toEqual([])
  })

  test('held by the screening on its second leg is paid or refunded as the operator decides', async () => {
    const [released, refunded] = [await createPrivate(), await createPrivate()]
    fixture.payDeposit(released, SMALL)
    fixture.payDeposit(refunded, SMALL)
    await fixture.mineBlocks(3)
    fixture.screening.verdict = 'review'
    await fixture.mineBlocks(6)
    fixture.screening.verdict = 'allow'
    expect([
      (await fixture.readExecution(released, 1)).status,
      (await fixture.readExecution(refunded, 1)).status,
    ]).toEqual(['verifying', 'verifying'])
    await fixture.decide(released, 'release')
    await fixture.decide(refunded, 'refund')
    await fixture.mineBlocks(12)
    expect([await fixture.readStatus(released), await fixture.readStatus(refunded)]).toEqual(['finished', 'refunded'])
    expect(fixture.fakes.btc.listPayments(refunded.refund?.address ?? '')).toHaveLength(1)
    expect(fixture.fakes.eth.listPayments(refunded.recipient?.address ?? '')).toEqual([])
  })

  test('fails as dust when the price of the intermediary falls', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, 20_000n)
    await fixture.mineBlocks(3)
    setPrices({ ltc: { bid: 10n ** 9n, ask: 10n ** 9n }, eth: { bid: 10n ** 17n, ask: 10n ** 17n } })
    await fixture.mineBlocks(12)
    // A wrong price must not take the customer's money.
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'verifying', reason: 'PRICE_GUARD' })
    await fixture.decide(exchange, 'release')
    await fixture.runJobs()
    setPrices({})
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'failed', reason: 'DUST' })
    expect(await fixture.readLiabilities(exchange)).toEqual({})
  })
})

describe('the price guard of a private exchange', () => {
  const setLitecoinPrice = (usd: bigint) => setPrices({ ltc: { bid: usd * 10n ** 12n, ask: usd * 10n ** 12n } })
  const held = { status: 'verifying', reason: 'PRICE_GUARD' }
  /** 0.005 BTC, 500 dollars, whose first leg has been converted and paid at this price. */
  const runFirstLeg = async (usd = 100n) => {
    const exchange = await createPrivate({ fromUnits: SMALL })
    setLitecoinPrice(usd)
    fixture.payDeposit(exchange, SMALL)
    for (let n = 0; n < 8 && (await fixture.listExecutions(exchange)).length < 2; n++) await fixture.mineBlocks(1)
    expect(await fixture.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
    return exchange
  }
  afterEach(() => setPrices({}))

  // The rate of the whole is that of the create: what is wrong with the intermediary cancels out.
  test('holds the first leg if only the intermediary has moved, and continues when its price returns', async () => {
    const exchange = await createPrivate({ fromUnits: SMALL })
    setLitecoinPrice(85n)
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange)).toMatchObject(held)
    expect(await fixture.listPayouts(exchange)).toEqual([])
    setPrices({})
    await fixture.runJobs()
    expect(await fixture.readExecution(exchange)).toMatchObject({ rateKind: 'floating' })
  })

  test('holds the first leg if only the target has moved, and refunds the deposit if the operator decides so', async () => {
    const exchange = await createPrivate({ fromUnits: SMALL })
    setPrices({ eth: { bid: 3_400n * 10n ** 12n, ask: 3_400n * 10n ** 12n } })
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange)).toMatchObject(held)
    await fixture.decide(exchange, 'refund')
    await fixture.mineBlocks(4)
    expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '').map(({ units }) => units)).toEqual([
      SMALL - 1_500n,
    ])
  })

  test('holds the second leg, and executes it at the market if the operator releases it', async () => {
    const exchange = await runFirstLeg()
    setLitecoinPrice(120n)
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange, 1)).toMatchObject(held)
    await fixture.decide(exchange, 'release')
    await fixture.runJobs()
    // 600 dollars at 4 001 dollars per ether, less two spreads and the fees.
    const { dueUnits } = await fixture.readExecution(exchange, 1)
    expect(dueUnits).toBeGreaterThan((147n * ETHER) / 1_000n)
    expect(dueUnits).toBeLessThan((150n * ETHER) / 1_000n)
  })

  // Each is within 10 %, and both together would pay 19 % more than the quote.
  test('holds the second leg if the two moves are too large together', async () => {
    const exchange = await runFirstLeg(92n)
    setLitecoinPrice(109n)
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange, 1)).toMatchObject(held)
    setLitecoinPrice(92n)
    await fixture.runJobs()
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ rateKind: 'floating' })
  })

  test('holds a return of the second leg at a wrong price, and returns what was paid when it is right', async () => {
    const exchange = await createPrivate({ fromUnits: SMALL })
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    // The target's reserve is empty, so that the second leg returns; for a while litecoin seems to cost 130 dollars.
    const setEmpty = (litecoin: bigint) =>
      fixture.books.replace(
        makeBook({
          ...market,
          reserves: { ...market.reserves, 'eth@eth': 10n ** 12n },
          prices: { ...market.prices, ltc: { bid: litecoin * 10n ** 12n, ask: litecoin * 10n ** 12n } },
          at: Date.now() + 3_600_000,
        }),
      )
    setEmpty(130n)
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ ...held, leg: 1 })
    setEmpty(100n)
    await fixture.mineBlocks(8)
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'refunded', reason: 'NO_LIQUIDITY' })
    // As above: 0.00497898 BTC, − 0.4 % − 0.000015.
    const [refund] = fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')
    expect(refund?.units).toBeGreaterThan(494_400n)
    expect(refund?.units).toBeLessThan(494_410n)
  })
})

describe('a reorganisation', () => {
  test('that removes the payment in the intermediary before the second leg is signed causes no second payout', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(3)
    await fixture.mineBlocks(1)
    fixture.fakes.ltc.reorg(2)
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
    const [target] = await listInnerTargets(exchange)
    expect(fixture.fakes.ltc.listPayments(target?.address ?? '')).toHaveLength(1)
  })

  test('that removes the payment in the intermediary after the second leg is signed causes a loss until it returns', async () => {
    const exchange = await createPrivate()
    fixture.payDeposit(exchange, SMALL)
    await expect
      .poll(async () => {
        await fixture.mineBlocks(1)
        return (await fixture.listExecutions(exchange))[1]?.status
      }, PATIENCE)
      .toMatch(/sending|finished/)
    const [target] = await listInnerTargets(exchange)
    const [payment] = fixture.fakes.ltc.listPayments(target?.address ?? '')
    // Removed from the chain and the pool. The next broadcast of the same bytes restores it.
    fixture.fakes.ltc.reorg(5, (txHash) => txHash === payment?.txHash)
    await fixture.runWorkers(2)
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(
      (await fixture.listExecutions(exchange)).map(({ status, deposit }) => [status, deposit.isBookedAsLoss]),
    ).toEqual([
      ['finished', false],
      ['finished', false],
    ])
    expect(fixture.fakes.ltc.listPayments(target?.address ?? '').map(({ txHash }) => txHash)).toEqual([payment?.txHash])
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('that removes the deposit after the intermediary was paid books a loss with an alarm', async () => {
    const exchange = await createPrivate()
    const hash = fixture.payDeposit(exchange, SMALL)
    await fixture.mineBlocks(4)
    fixture.fakes.btc.reorg(6, (txHash) => txHash === hash)
    await fixture.mineBlocks(14)
    expect(await fixture.listAlarmKinds()).toContain('reorg')
    expect((await fixture.readExecution(exchange)).deposit.isBookedAsLoss).toBe(true)
  })
})
