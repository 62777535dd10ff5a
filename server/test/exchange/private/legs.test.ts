import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, makeBook, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, ltc, market } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

const order = (rest: Parameters<typeof fixture.order>[0] = {}) => fixture.order({ via: ltc, plan, ...rest })
const targets = (exchange: Exchange) =>
  fixture.database.query<{ leg: number; nth: number; address: string; key_index: string }>(
    'select leg, nth, address, key_index from deposit_targets where exchange_id = $1 order by leg, nth',
    [exchange.id],
  )
/** The inner address at which the intermediary arrived; no answer shows it. */
const inner = async (exchange: Exchange) => (await targets(exchange)).filter(({ leg }) => leg === 1)
const priced = (prices: Partial<typeof market.prices>) =>
  fixture.books.replace(
    makeBook({
      ...market,
      prices: { ...market.prices, ...(prices as typeof market.prices) },
      at: Date.now() + 3_600_000,
    }),
  )
describe('a private exchange', () => {
  test('is two legs: the payout of the first is the deposit of the second', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(14)
    expect(await fixture.status(exchange)).toBe('finished')
    const [first, second] = await fixture.executions(exchange)
    expect([first?.leg, first?.status, second?.leg, second?.status]).toEqual([0, 'finished', 1, 'finished'])
    expect(second?.payinHash).toBe(first?.payoutHash)
    // 0.005 BTC × 99 990 ÷ 100 = 4.9995 LTC; − 0.4 % = 4.979502; − 0.00002; 0.5 % of it is withheld.
    const plain = 497_948_200n
    expect(first?.sentUnits).toBe((plain * 995_000n) / 1_000_000n)
    expect(second?.receivedUnits).toBe(first?.sentUnits)
    // The withheld part is converted all the same: 4.979482 LTC × 100 ÷ 4001 − 0.4 % − 0.1 % − 0.00021 ETH, to the wei.
    const [gross, applyBps] = [
      (plain * 100n * ETHER) / (4_001n * COIN),
      (units: bigint, keep: bigint) => (units * keep) / 10_000n,
    ]
    const expected = applyBps(applyBps(gross, 9_960n), 9_990n) - 210_000_000_000_000n
    const sent = second?.sentUnits ?? 0n
    expect(expected - sent).toBeGreaterThanOrEqual(0n)
    // Less than one litoshi's worth is lost by rounding what is shown.
    expect(expected - sent).toBeLessThan(2n * 249_937_515n + 1n)
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '').map(({ units }) => units)).toEqual([sent])
    const [target, ...others] = await inner(exchange)
    expect(others).toEqual([])
    expect(fixture.fakes.ltc.paidTo(target?.address ?? '').map(({ units }) => units)).toEqual([first?.sentUnits])
    expect(await fixture.owed(exchange)).toEqual({})
  })

  test.each([-10_000, 10_000])('pays what was drawn for it more or less: %i millionths', async (payoutPpm) => {
    const [plain, drawn] = [await order(), await order({ plan: { ...plan, payoutPpm } })]
    for (const exchange of [plain, drawn]) fixture.deposit(exchange, SMALL)
    await fixture.blocks(14)
    const sent = async (exchange: Exchange) => {
      const [first, second] = await fixture.executions(exchange)
      expect(second?.status).toBe('finished')
      return { shown: first?.sentUnits ?? 0n, paid: second?.sentUnits ?? 0n }
    }
    const [usual, other] = [await sent(plain), await sent(drawn)]
    expect(other.shown).toBe(usual.shown)
    expect(other.paid).toBe((usual.paid * (1_000_000n + BigInt(payoutPpm))) / 1_000_000n)
    expect(fixture.fakes.eth.paidTo(drawn.recipient?.address ?? '').map(({ units }) => units)).toEqual([other.paid])
    expect(await fixture.owed(drawn)).toEqual({})
  })

  test('through an account network is swept and gives its own transactions no deposits', async () => {
    const exchange = await order({ via: eth, to: ltc, toUnits: COIN })
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(14)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(await fixture.executions(exchange)).toHaveLength(2)
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.blocks(14)
    await fixture.services.sweep(fixture.fakes.eth.chain)
    await fixture.blocks(14)
    expect(await fixture.executions(exchange)).toHaveLength(2)
    const [target] = await inner(exchange)
    const swept = await fixture.database.query('select 1 from payouts where purpose = $1 and key_index = $2', [
      'sweep',
      target?.key_index,
    ])
    expect(swept).toHaveLength(1)
    expect(fixture.fakes.ltc.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('is seen by a process that began to scan before the inner address was made, and by one that begins after', async () => {
    // As the watchers of two machines: each keeps the addresses in a memory of its own.
    const early = createRecordBlocks({ ...fixture.shared, store: createStore(fixture.database) })
    await early(fixture.fakes.ltc.chain)
    for (const scan of [early, createRecordBlocks({ ...fixture.shared, store: createStore(fixture.database) })]) {
      const exchange = await order()
      fixture.deposit(exchange, SMALL)
      for (let n = 0; n < 14; n++) {
        for (const fake of Object.values(fixture.fakes)) fake.mine()
        await scan(fixture.fakes.ltc.chain)
        await fixture.turn()
      }
      expect(await fixture.status(exchange)).toBe('finished')
    }
  })

  test('of a token through a coin to a coin arrives', async () => {
    const exchange = await order({ from: usdt, via: ltc, to: btc, fromUnits: 500_000_000n, toUnits: SMALL })
    fixture.deposit(exchange, 500_000_000n)
    await fixture.blocks(14)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(fixture.fakes.btc.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('with two deposits has a fresh address for each, and is paid twice', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(16)
    expect((await fixture.executions(exchange)).map(({ leg, status }) => `${leg} ${status}`)).toEqual([
      '0 finished',
      '0 finished',
      '1 finished',
      '1 finished',
    ])
    expect(new Set((await inner(exchange)).map(({ address }) => address)).size).toBe(2)
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(2)
  })

  test('without an address goes all the way, and is the partner’s', async () => {
    const exchange = await order({ recipient: null })
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(12)
    expect(await fixture.status(exchange)).toBe('finished')
    expect((await fixture.payouts(exchange)).map(({ purpose }) => purpose)).toEqual(['payout'])
  })

  test('does not credit what a stranger pays to the inner address', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(3)
    const [target] = await inner(exchange)
    fixture.fakes.ltc.pay(target?.address ?? '', COIN, { sender: 'stranger' })
    await fixture.blocks(14)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(await fixture.executions(exchange)).toHaveLength(2)
    expect(await fixture.alarms()).toContain('stray')
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  })
})

describe('a private exchange that cannot go on', () => {
  test('is refunded on its first leg where the deposit is too small for the whole way', async () => {
    const exchange = await order()
    fixture.deposit(exchange, 2_900n)
    await fixture.blocks(8)
    expect(await fixture.status(exchange)).toBe('refunded')
    expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '').map(({ units }) => units)).toEqual([1_400n])
    expect(await inner(exchange)).toEqual([])
  })

  test('is refunded in the source currency from its second leg, to the refund address only', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(3)
    // The target's reserve is empty: no quote is available.
    fixture.books.replace(
      makeBook({ ...market, reserves: { ...market.reserves, 'eth@eth': 10n ** 12n }, at: Date.now() + 3_600_000 }),
    )
    await fixture.blocks(14)
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    expect(await fixture.status(exchange)).toBe('refunded')
    const [first, second] = await fixture.executions(exchange)
    expect([first?.status, second?.status]).toEqual(['finished', 'refunded'])
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toEqual([])
    const back = fixture.fakes.btc.paidTo(exchange.refund?.address ?? '').map(({ units }) => units)
    // 4.979482 LTC × 100 ÷ 100 010 = 0.00497898 BTC, − 0.4 % − 0.000015.
    expect(back).toHaveLength(1)
    expect(back[0]).toBeGreaterThan(494_400n)
    expect(back[0]).toBeLessThan(494_410n)
    expect(await fixture.owed(exchange)).toEqual({})
    const view = await fixture.store.exchanges.find(exchange.partnerId, exchange.id)
    expect(view?.executions[1]?.refund).toMatchObject({ assetId: 'btc@btc', address: exchange.refund?.address })
  })

  test('without a refund address goes back to the payer of the first leg, never to a wallet of ours', async () => {
    const exchange = await order({ from: eth, via: ltc, to: btc, fromUnits: ETHER, toUnits: SMALL, refund: null })
    fixture.fakes.eth.pay(exchange.deposit.address, ETHER / 10n, { sender: 'payer' })
    await fixture.blocks(3)
    fixture.books.replace(
      makeBook({ ...market, reserves: { ...market.reserves, 'btc@btc': 1n }, at: Date.now() + 3_600_000 }),
    )
    await fixture.blocks(14)
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    expect(await fixture.status(exchange)).toBe('refunded')
    expect(fixture.fakes.eth.paidTo('payer')).toHaveLength(1)
  })

  test('goes back from its first leg where the intermediary stands still too long, and is never paid as well', async () => {
    const exchange = await order({ plan: { ...plan, stallMs: 500 } })
    await fixture.store.pauses.pause('payouts:ltc', 'test', 'test')
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(3)
    await expect
      .poll(async () => {
        await fixture.services.step(exchange.id)
        return (await fixture.execution(exchange)).status
      }, PATIENCE)
      .toBe('refunding')
    await fixture.store.pauses.resume('payouts:ltc')
    await fixture.blocks(10)
    expect(await fixture.status(exchange)).toBe('refunded')
    expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '').map(({ units }) => units)).toEqual([SMALL - 1_500n])
    for (const { address } of await inner(exchange)) expect(fixture.fakes.ltc.paidTo(address)).toEqual([])
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toEqual([])
  })

  test('held by the screening on its second leg is released, or sent back by a person', async () => {
    const [released, refunded] = [await order(), await order()]
    fixture.deposit(released, SMALL)
    fixture.deposit(refunded, SMALL)
    await fixture.blocks(3)
    fixture.screening.verdict = 'review'
    await fixture.blocks(6)
    fixture.screening.verdict = 'allow'
    expect([(await fixture.execution(released, 1)).status, (await fixture.execution(refunded, 1)).status]).toEqual([
      'verifying',
      'verifying',
    ])
    await fixture.decide(released, 'release')
    await fixture.decide(refunded, 'refund')
    await fixture.blocks(12)
    expect([await fixture.status(released), await fixture.status(refunded)]).toEqual(['finished', 'refunded'])
    expect(fixture.fakes.btc.paidTo(refunded.refund?.address ?? '')).toHaveLength(1)
    expect(fixture.fakes.eth.paidTo(refunded.recipient?.address ?? '')).toEqual([])
  })

  test('is closed as dust when the intermediary’s price falls to dust', async () => {
    const exchange = await order()
    fixture.deposit(exchange, 20_000n)
    await fixture.blocks(3)
    priced({ ltc: { bid: 10n ** 9n, ask: 10n ** 9n }, eth: { bid: 10n ** 17n, ask: 10n ** 17n } })
    await fixture.blocks(12)
    fixture.books.replace(makeBook({ ...market, at: Date.now() + 3_600_000 }))
    expect(await fixture.execution(exchange, 1)).toMatchObject({ status: 'failed', reason: 'DUST' })
    expect(await fixture.owed(exchange)).toEqual({})
  })
})

describe('a reorganisation', () => {
  test('that takes the intermediary out before the second leg is signed brings it back, paid once', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    await fixture.blocks(3)
    await fixture.blocks(1)
    fixture.fakes.ltc.reorg(2)
    await fixture.blocks(14)
    expect(await fixture.status(exchange)).toBe('finished')
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
    const [target] = await inner(exchange)
    expect(fixture.fakes.ltc.paidTo(target?.address ?? '')).toHaveLength(1)
  })

  test('that takes the intermediary out after the second leg was signed is a loss until it is back, and paid once', async () => {
    const exchange = await order()
    fixture.deposit(exchange, SMALL)
    await expect
      .poll(async () => {
        await fixture.blocks(1)
        return (await fixture.executions(exchange))[1]?.status
      }, PATIENCE)
      .toMatch(/sending|finished/)
    const [inside] = await inner(exchange)
    const [payment] = fixture.fakes.ltc.paidTo(inside?.address ?? '')
    // Out, and not in the pool: the next offer of the same bytes brings it back.
    fixture.fakes.ltc.reorg(5, (txHash) => txHash === payment?.txHash)
    await fixture.turn(2)
    await fixture.blocks(14)
    expect(await fixture.status(exchange)).toBe('finished')
    expect((await fixture.executions(exchange)).map(({ status, deposit }) => [status, deposit.lost])).toEqual([
      ['finished', false],
      ['finished', false],
    ])
    expect(fixture.fakes.ltc.paidTo(inside?.address ?? '').map(({ txHash }) => txHash)).toEqual([payment?.txHash])
    expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  })

  test('that takes the source’s deposit out after the intermediary was paid is a loss that is shown', async () => {
    const exchange = await order()
    const hash = fixture.deposit(exchange, SMALL)
    await fixture.blocks(4)
    fixture.fakes.btc.reorg(6, (txHash) => txHash === hash)
    await fixture.blocks(14)
    expect(await fixture.alarms()).toContain('reorg')
    expect((await fixture.execution(exchange)).deposit.lost).toBe(true)
  })
})
