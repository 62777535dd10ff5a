import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { journalEntry, reversalOf } from '../../../src/core/domain/ledger/journal.ts'
import type { Verdict } from '../../../src/core/ports/screening.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createWatchRefunds } from '../../../src/exchange/operations/watch-refunds.ts'
import { COIN, ETHER, market, startMoneyPath, wbtc } from '../money-path.ts'

const USDT = 10n ** 6n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  const hot = fixture.fakes.eth.chain.addresses.hot()
  fixture.fakes.eth.pay(hot, 1_000_000n * USDT, { contract: '0xusdt' })
  fixture.fakes.eth.pay(hot, 10n * COIN, { contract: '0xwbtc' })
  await fixture.mineBlocks(3)
})
afterAll(() => fixture.close())
afterEach(async () => {
  fixture.screening.verdict = 'allow'
  await fixture.expectBalanced()
})

/** An exchange of WBTC to bitcoin; the tests also pay USDT to its address. */
const createWbtcExchange = () =>
  fixture.createExchange({ from: wbtc, to: btc, fromUnits: COIN / 10n, toUnits: COIN / 10n })
const sendToken = (exchange: Exchange, contract: string, units: bigint) =>
  fixture.fakes.eth.pay(exchange.deposit.address, units, { contract, sender: 'somebody' })
const readReceived = (exchange: Exchange) => ({
  payouts: fixture.fakes.btc.listPayments(exchange.recipient?.address ?? '').length,
  refunds: fixture.fakes.eth
    .listPayments(exchange.refund?.address ?? '')
    .map(({ contract, units }) => ({ contract, units })),
})

describe('a deposit of another token', () => {
  test.each<Verdict>(['review', 'block'])(
    'with the verdict %s is refunded in its own token when it is released',
    async (verdict) => {
      const exchange = await createWbtcExchange()
      fixture.screening.verdict = verdict
      sendToken(exchange, '0xusdt', 10n * USDT)
      await fixture.mineBlocks(4)
      expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
      await fixture.decide(exchange, 'release')
      await fixture.mineBlocks(6)
      expect(readReceived(exchange)).toEqual({
        payouts: 0,
        refunds: [{ contract: '0xusdt', units: expect.any(BigInt) }],
      })
      expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'refunded', reason: 'WRONG_ASSET' })
    },
  )

  test('whose refund is above the limit is refunded in its own token when it is released', async () => {
    const exchange = await createWbtcExchange()
    sendToken(exchange, '0xusdt', 30_000n * USDT)
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(6)
    expect(readReceived(exchange)).toMatchObject({ payouts: 0, refunds: [{ contract: '0xusdt' }] })
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'refunded', reason: 'WRONG_ASSET' })
  })

  test('is not refunded from another deposit: each is refunded separately', async () => {
    const exchange = await createWbtcExchange()
    fixture.screening.verdict = 'review'
    sendToken(exchange, '0xusdt', 10n * USDT)
    sendToken(exchange, '0xwbtc', COIN / 10n)
    await fixture.mineBlocks(4)
    expect([
      (await fixture.readExecution(exchange, 0)).reason,
      (await fixture.readExecution(exchange, 1)).reason,
    ]).toEqual(['SCREENING', 'SCREENING'])
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(4)
    await fixture.decide(exchange, 'refund')
    await fixture.mineBlocks(8)
    expect(readReceived(exchange)).toMatchObject({ payouts: 0 })
    expect(
      readReceived(exchange)
        .refunds.map(({ contract }) => contract)
        .sort(),
    ).toEqual(['0xusdt', '0xwbtc'])
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(await fixture.readLiabilities(exchange)).toEqual({})
  })
})

describe('a held refund', () => {
  /** The refund waits for a fee. When the fee is known, the next screening has this verdict. */
  const holdByScreening = async (exchange: Exchange, verdict: Verdict) => {
    fixture.books.replace(makeBook({ ...market, at: 0 }))
    sendToken(exchange, '0xusdt', 10n * USDT)
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'refunding', reason: 'WRONG_ASSET' })
    fixture.screening.verdict = verdict
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
  }

  test.each<Verdict>(['review', 'block'])('with the verdict %s is paid when it is released', async (verdict) => {
    const exchange = await createWbtcExchange()
    await holdByScreening(exchange, verdict)
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(6)
    expect(readReceived(exchange)).toMatchObject({ payouts: 0, refunds: [{ contract: '0xusdt' }] })
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'refunded', reason: 'WRONG_ASSET' })
  })

  test('of another token is not converted by a decision of the operator', async () => {
    const exchange = await createWbtcExchange()
    await holdByScreening(exchange, 'review')
    await fixture.decide(exchange, 'convert')
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
    await fixture.decide(exchange, 'refund')
    await fixture.mineBlocks(6)
    expect(readReceived(exchange)).toMatchObject({ payouts: 0, refunds: [{ contract: '0xusdt' }] })
  })

  test('without an address is paid when an address is set, with its original reason', async () => {
    const exchange = await fixture.createExchange({ from: wbtc, to: btc, fromUnits: COIN / 10n, refund: null })
    fixture.fakes.eth.pay(exchange.deposit.address, 4_000n, { contract: '0xwbtc' })
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REFUND_ADDRESS_REQUIRED',
    })
    await fixture.store.operator.setRefund(exchange.id, { address: 'found', memo: null })
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
    expect(fixture.fakes.eth.listPayments('found')).toHaveLength(1)
  })

  // A stranger may send any number of such deposits at little cost: they must not fill the operator's alarms.
  test('without an address raises no alarm, and ends that of an earlier hold', async () => {
    const listHeld = async () =>
      (await fixture.store.alarms.list(100))
        .map(({ subject }) => subject)
        .filter((subject) => subject.startsWith('held:'))
    const exchange = await fixture.createExchange({ from: wbtc, to: btc, fromUnits: COIN / 10n, refund: null })
    const earlier = await listHeld()
    fixture.screening.verdict = 'review'
    sendToken(exchange, '0xusdt', 10n * USDT)
    await fixture.mineBlocks(4)
    expect(await listHeld()).toHaveLength(earlier.length + 1)
    fixture.screening.verdict = 'allow'
    await fixture.decide(exchange, 'refund')
    sendToken(exchange, '0xwbtc', 4_000n)
    await fixture.mineBlocks(6)
    const held = { status: 'verifying', reason: 'REFUND_ADDRESS_REQUIRED' }
    expect(await fixture.listExecutions(exchange)).toMatchObject([held, held])
    expect(await listHeld()).toEqual(earlier)
    // One alarm per partner counts them: the exchange may be closed, so that its partner does not ask for it any more.
    const watch = createWatchRefunds({ store: fixture.store })
    const listWaiting = async () =>
      (await fixture.store.alarms.list(100)).filter(({ subject }) => subject.startsWith('refunds:'))
    await watch()
    expect(await listWaiting()).toMatchObject([{ detail: { waiting: 2, exchangeId: exchange.id } }])
    await fixture.store.operator.setRefund(exchange.id, { address: 'found later', memo: null })
    await fixture.mineBlocks(6)
    expect(fixture.fakes.eth.listPayments('found later')).toHaveLength(2)
    await watch()
    expect(await listWaiting()).toEqual([])
  })

  // M9: on EVM chains the sender of an exchange's withdrawal is its hot wallet, which belongs to no customer.
  test('M9: without an address waits for one and does not go to the sender', async () => {
    const exchange = await fixture.createExchange({ from: wbtc, to: btc, fromUnits: COIN / 10n, refund: null })
    fixture.fakes.eth.pay(exchange.deposit.address, 4_000n, { contract: '0xwbtc', sender: 'a hot wallet' })
    await fixture.mineBlocks(4)
    expect(await fixture.readExecution(exchange)).toMatchObject({
      status: 'verifying',
      reason: 'REFUND_ADDRESS_REQUIRED',
    })
    const { nameRefund } = fixture.store.exchanges
    const [named, other] = [
      { address: `named-${exchange.id}`, memo: null },
      { address: 'other', memo: null },
    ]
    expect(await nameRefund(exchange.id, named)).toBe('set')
    expect(await nameRefund(exchange.id, named)).toBe('set')
    expect(await nameRefund(exchange.id, other)).toBe('other')
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
    expect(fixture.fakes.eth.listPayments('a hot wallet')).toEqual([])
    expect(fixture.fakes.eth.listPayments(named.address)).toHaveLength(1)
  })

  test('goes to the sender for a partner that has set it, and its address cannot be named then', async () => {
    await fixture.setRefundToSender(true)
    const exchange = await fixture.createExchange({ from: wbtc, to: btc, fromUnits: COIN / 10n, refund: null })
    fixture.fakes.eth.pay(exchange.deposit.address, 4_000n, { contract: '0xwbtc', sender: 'a customer' })
    await fixture.mineBlocks(10)
    await fixture.setRefundToSender(false)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(fixture.fakes.eth.listPayments('a customer')).toHaveLength(1)
    expect(await fixture.store.exchanges.nameRefund(exchange.id, { address: 'later', memo: null })).toBe('refunded')
  })

  test('to a named address is screened, like one of a create', async () => {
    const exchange = await fixture.createExchange({ from: wbtc, to: btc, fromUnits: COIN / 10n, refund: null })
    fixture.fakes.eth.pay(exchange.deposit.address, 4_000n, { contract: '0xwbtc' })
    await fixture.mineBlocks(4)
    fixture.screening.verdict = 'block'
    await fixture.store.exchanges.nameRefund(exchange.id, { address: 'denied', memo: null })
    await fixture.runWorkers()
    fixture.screening.verdict = 'allow'
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
  })

  test('is not reserved above the liability of the exchange', async () => {
    const exchange = await createWbtcExchange()
    await holdByScreening(exchange, 'review')
    const mistake = journalEntry('a mistake', 'a mistake', exchange.id, [
      { debit: `liability:exchange:${exchange.id}`, credit: 'equity:capital', assetId: 'usdt@eth', units: USDT },
    ])
    await fixture.store.ledger.post(mistake)
    await fixture.decide(exchange, 'release')
    await fixture.runWorkers()
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    expect(await fixture.listPayouts(exchange)).toEqual([])
    await fixture.store.ledger.post(reversalOf(mistake, 'a mistake:reversed', 'a mistake, reversed'))
    await fixture.decide(exchange, 'release')
    await fixture.mineBlocks(6)
    expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'refunded', reason: 'WRONG_ASSET' })
  })
})

describe('the database refuses', () => {
  test('an order or payout that the received deposit does not cover', async () => {
    const exchange = await createWbtcExchange()
    fixture.screening.verdict = 'review'
    sendToken(exchange, '0xusdt', 10n * USDT)
    await fixture.mineBlocks(4)
    const { id, deposit } = await fixture.readExecution(exchange)
    const insertOrder = (asset: string, units: bigint) =>
      fixture.database.query(
        "insert into orders (id, execution_id, venue, give_asset, give_units, take_asset, take_units) values ($1, $2, 'inventory', $3, $4, 'btc@btc', 1)",
        [`${id}:9`, id, asset, units],
      )
    await expect(insertOrder('wbtc@eth', 10n * USDT)).rejects.toMatchObject({ code: '23514' })
    await expect(insertOrder('usdt@eth', 11n * USDT)).rejects.toMatchObject({ code: '23514' })
    const insertPayout = (purpose: string, network: string, asset: string, units: bigint) =>
      fixture.database.query(
        `insert into payouts (id, exchange_id, execution_id, deposit_id, leg, purpose, network, asset_id, address, units)
         values (gen_random_uuid(), $1, $2, $3, 0, $4, $5, $6, 'somewhere', $7)`,
        [exchange.id, id, deposit.id, purpose, network, asset, units],
      )
    await expect(insertPayout('payout', 'btc', 'btc@btc', 1n)).rejects.toMatchObject({ code: '23514' })
    await expect(insertPayout('refund', 'eth', 'wbtc@eth', 1n)).rejects.toMatchObject({ code: '23514' })
    await expect(insertPayout('refund', 'eth', 'usdt@eth', 11n * USDT)).rejects.toMatchObject({ code: '23514' })
    await fixture.decide(exchange, 'refund')
    await fixture.mineBlocks(6)
    expect(await fixture.readStatus(exchange)).toBe('refunded')
  })
})
