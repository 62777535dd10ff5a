import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { journalEntry, reversalOf } from '../../../src/core/domain/ledger/journal.ts'
import type { Verdict } from '../../../src/core/ports/screening.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, market, startMoneyPath, wbtc } from '../money-path.ts'

const USDC_UNIT = 10n ** 6n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
  const hot = fixture.fakes.eth.chain.addresses.hot()
  fixture.fakes.eth.pay(hot, 1_000_000n * USDC_UNIT, { contract: '0xusdt' })
  fixture.fakes.eth.pay(hot, 10n * COIN, { contract: '0xwbtc' })
  await fixture.blocks(3)
})
afterAll(() => fixture.close())
afterEach(async () => {
  fixture.screening.verdict = 'allow'
  await fixture.balanced()
})

/** Bitcoin for a token; somebody sends another token to its address. */
const order = () => fixture.order({ from: wbtc, to: btc, fromUnits: COIN / 10n, toUnits: COIN / 10n })
const send = (exchange: Exchange, contract: string, units: bigint) =>
  fixture.fakes.eth.pay(exchange.deposit.address, units, { contract, sender: 'somebody' })
const received = (exchange: Exchange) => ({
  bitcoin: fixture.fakes.btc.paidTo(exchange.recipient?.address ?? '').length,
  back: fixture.fakes.eth.paidTo(exchange.refund?.address ?? '').map(({ contract, units }) => ({ contract, units })),
})

describe('a token that was not asked for', () => {
  test.each<Verdict>(['review', 'block'])('screened %s and released goes back as what it is', async (verdict) => {
    const exchange = await order()
    fixture.screening.verdict = verdict
    send(exchange, '0xusdt', 10n * USDC_UNIT)
    await fixture.blocks(4)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
    await fixture.decide(exchange, 'release')
    await fixture.blocks(6)
    expect(received(exchange)).toEqual({
      bitcoin: 0,
      back: [{ contract: '0xusdt', units: expect.any(BigInt) }],
    })
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'refunded', reason: 'WRONG_ASSET' })
  })

  test('whose refund is held and released goes back as what it is', async () => {
    const exchange = await order()
    send(exchange, '0xusdt', 30_000n * USDC_UNIT)
    await fixture.blocks(6)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'LIMIT' })
    await fixture.decide(exchange, 'release')
    await fixture.blocks(6)
    expect(received(exchange)).toMatchObject({ bitcoin: 0, back: [{ contract: '0xusdt' }] })
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'refunded', reason: 'WRONG_ASSET' })
  })

  test('is never paid from another deposit: each is refunded separately', async () => {
    const exchange = await order()
    fixture.screening.verdict = 'review'
    send(exchange, '0xusdt', 10n * USDC_UNIT)
    send(exchange, '0xwbtc', COIN / 10n)
    await fixture.blocks(4)
    expect([(await fixture.execution(exchange, 0)).reason, (await fixture.execution(exchange, 1)).reason]).toEqual([
      'SCREENING',
      'SCREENING',
    ])
    await fixture.decide(exchange, 'release')
    await fixture.blocks(4)
    await fixture.decide(exchange, 'refund')
    await fixture.blocks(8)
    expect(received(exchange)).toMatchObject({ bitcoin: 0 })
    expect(
      received(exchange)
        .back.map(({ contract }) => contract)
        .sort(),
    ).toEqual(['0xusdt', '0xwbtc'])
    expect(await fixture.status(exchange)).toBe('refunded')
    expect(await fixture.owed(exchange)).toEqual({})
  })
})

describe('a refund that is held', () => {
  /** The fee of a refund is not known yet: the screening is asked again when it is. */
  const later = async (exchange: Exchange, verdict: Verdict) => {
    fixture.books.replace(makeBook({ ...market, at: 0 }))
    send(exchange, '0xusdt', 10n * USDC_UNIT)
    await fixture.blocks(4)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'refunding', reason: 'WRONG_ASSET' })
    fixture.screening.verdict = verdict
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
  }

  test.each<Verdict>(['review', 'block'])('by the screening (%s) goes back when it is released', async (verdict) => {
    const exchange = await order()
    await later(exchange, verdict)
    await fixture.decide(exchange, 'release')
    await fixture.blocks(6)
    expect(received(exchange)).toMatchObject({ bitcoin: 0, back: [{ contract: '0xusdt' }] })
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'refunded', reason: 'WRONG_ASSET' })
  })

  test('is not converted by anybody’s word where it is another token', async () => {
    const exchange = await order()
    await later(exchange, 'review')
    await fixture.decide(exchange, 'convert')
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING' })
    await fixture.decide(exchange, 'refund')
    await fixture.blocks(6)
    expect(received(exchange)).toMatchObject({ bitcoin: 0, back: [{ contract: '0xusdt' }] })
  })

  test('without an address goes there when one is known, and says why it goes', async () => {
    const exchange = await fixture.order({ from: wbtc, to: btc, fromUnits: COIN / 10n, refund: null })
    fixture.fakes.eth.pay(exchange.deposit.address, 4_000n, { contract: '0xwbtc' })
    await fixture.blocks(4)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'NO_REFUND_ADDRESS' })
    await fixture.database.query("update exchanges set refund_address = 'found' where id = $1", [exchange.id])
    await fixture.decide(exchange, 'release')
    await fixture.blocks(6)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'refunded', reason: 'BELOW_MIN' })
    expect(fixture.fakes.eth.paidTo('found')).toHaveLength(1)
  })

  test('is not reserved where the exchange is not owed as much', async () => {
    const exchange = await order()
    await later(exchange, 'review')
    const stolen = journalEntry('a mistake', 'a mistake', exchange.id, [
      { debit: `liability:exchange:${exchange.id}`, credit: 'equity:capital', assetId: 'usdt@eth', units: USDC_UNIT },
    ])
    await fixture.store.ledger.post(stolen)
    await fixture.decide(exchange, 'release')
    await fixture.turn()
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
    expect(await fixture.payouts(exchange)).toEqual([])
    await fixture.store.ledger.post(reversalOf(stolen, 'a mistake:reversed', 'a mistake, reversed'))
    await fixture.decide(exchange, 'release')
    await fixture.blocks(6)
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'refunded', reason: 'WRONG_ASSET' })
  })
})

describe('the database refuses', () => {
  test('an order of what was not received, and a payout that nothing covers', async () => {
    const exchange = await order()
    fixture.screening.verdict = 'review'
    send(exchange, '0xusdt', 10n * USDC_UNIT)
    await fixture.blocks(4)
    const { id, deposit } = await fixture.execution(exchange)
    const sell = (asset: string, units: bigint) =>
      fixture.database.query(
        "insert into orders (id, execution_id, venue, give_asset, give_units, take_asset, take_units) values ($1, $2, 'inventory', $3, $4, 'btc@btc', 1)",
        [`${id}:9`, id, asset, units],
      )
    await expect(sell('wbtc@eth', 10n * USDC_UNIT)).rejects.toMatchObject({ code: '23514' })
    await expect(sell('usdt@eth', 11n * USDC_UNIT)).rejects.toMatchObject({ code: '23514' })
    const pay = (purpose: string, network: string, asset: string, units: bigint) =>
      fixture.database.query(
        `insert into payouts (id, exchange_id, execution_id, deposit_id, leg, purpose, network, asset_id, address, units)
         values (gen_random_uuid(), $1, $2, $3, 0, $4, $5, $6, 'somewhere', $7)`,
        [exchange.id, id, deposit.id, purpose, network, asset, units],
      )
    await expect(pay('payout', 'btc', 'btc@btc', 1n)).rejects.toMatchObject({ code: '23514' })
    await expect(pay('refund', 'eth', 'wbtc@eth', 1n)).rejects.toMatchObject({ code: '23514' })
    await expect(pay('refund', 'eth', 'usdt@eth', 11n * USDC_UNIT)).rejects.toMatchObject({ code: '23514' })
    await fixture.decide(exchange, 'refund')
    await fixture.blocks(6)
    expect(await fixture.status(exchange)).toBe('refunded')
  })
})
