import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { verifyAuditLog } from '../../../src/core/services/verify-audit-log.ts'
import { createOperateBalances } from '../../../src/exchange/operations/operate-balances.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { COIN, ETHER, partnerId, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
const word = { actor: 'anna', reason: 'the partner asked for it' }
const partner = { id: partnerId, name: 'acme' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let balances: ReturnType<typeof createOperateBalances>
beforeAll(async () => {
  fixture = await startMoneyPath()
  balances = createOperateBalances(fixture.store)
  await fixture.fill({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

const owed = async () => (await balances.balances(partnerId)).get('eth@eth') ?? 0n
const pay = (units: bigint, key: string, address = `own-${key}`) =>
  balances.payOut(
    partner,
    { assetId: 'eth@eth', network: 'eth', units, destination: { address, memo: null } },
    key,
    word,
  )
const arrived = (address: string) => fixture.fakes.eth.paidTo(address).map(({ units }) => units)
/** Proceeds of an exchange without an address. */
async function earn(): Promise<bigint> {
  fixture.deposit(await fixture.order({ recipient: null }), SMALL)
  await fixture.blocks(3)
  return owed()
}

describe('a partner’s balance', () => {
  test('is paid out, and owed no more from the moment it is asked for', async () => {
    const before = await earn()
    expect(before).toBeGreaterThan(0n)
    expect(await pay(before - 5n, 'first')).toMatchObject({ state: 'reserved', repeated: false })
    expect(await owed()).toBe(5n)
    await fixture.blocks(5)
    expect(arrived('own-first')).toEqual([before - 5n])
    const rest = await fixture.database.query(
      "select units from balances where account like 'liability:withdrawal:%' and units <> 0",
    )
    expect(rest).toEqual([])
    expect(await fixture.wallet('eth@eth')).toBe(fixture.fakes.eth.held('eth-hot', null))
  })

  test('asked for ten times at once under one key is paid once; under that key nothing else is', async () => {
    const before = await earn()
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(1_000n, 'second')))
    expect(new Set(answers.map(({ payoutId }) => payoutId)).size).toBe(1)
    expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1)
    expect(await owed()).toBe(before - 1_000n)
    await expect(pay(2_000n, 'second')).rejects.toThrow('already has a payout')
    await expect(pay(1_000n, 'second', 'thief')).rejects.toThrow('already has a payout')
    await fixture.blocks(5)
    expect(arrived('own-second')).toEqual([1_000n])
    expect(await pay(1_000n, 'second')).toMatchObject({ state: 'confirmed', repeated: true })
  })

  test('is never paid twice by two who ask for most of it at once', async () => {
    const before = await earn()
    const most = (before * 6n) / 10n
    const outcomes = await Promise.allSettled([pay(most, 'here'), pay(most, 'there')])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await owed()).toBe(before - most)
    await expect(pay(before, 'more')).rejects.toThrow('cannot be paid out')
    await expect(pay(0n, 'nothing')).rejects.toThrow('cannot be paid out')
    await fixture.blocks(5)
    expect(arrived('own-here').length + arrived('own-there').length).toBe(1)
  })

  test('stands still while the partner is paused, and is owed again where the pay-out is dropped', async () => {
    await earn()
    const before = await owed()
    await fixture.store.pauses.pause(`partner:${partnerId}`, 'asked to', 'test')
    const { payoutId } = await pay(7_000n, 'paused')
    await fixture.blocks(3)
    expect(arrived('own-paused')).toEqual([])
    await fixture.store.payouts.hold([payoutId], 'REVERTED', null)
    await createOperatePayouts(fixture.store).drop(payoutId, word)
    expect(await owed()).toBe(before)
    await fixture.store.pauses.resume(`partner:${partnerId}`)
    await fixture.blocks(3)
    expect(arrived('own-paused')).toEqual([])
    await expect(pay(7_000n, 'paused')).rejects.toThrow('another --key')
  })

  test('is paid for a reason, which stands in the chain of acts', async () => {
    await expect(
      balances.payOut(
        partner,
        { assetId: 'eth@eth', network: 'eth', units: 1n, destination: { address: 'a', memo: null } },
        'none',
        { actor: 'anna', reason: '-' },
      ),
    ).rejects.toThrow('a reason of at least 3 letters')
    const [act] = await fixture.database.query(
      "select act, actor, subject, reason, before, after from operator_acts where act = 'pay-out' order by id limit 1",
    )
    expect(act).toMatchObject({ actor: 'anna', subject: 'partner acme', reason: word.reason })
    expect(await verifyAuditLog(fixture.store.auditLog)).toMatchObject({ kind: 'whole' })
  })

  test('the database takes no pay-out that takes nothing out of what is owed', async () => {
    const insert = fixture.database.query(
      `insert into payouts (id, purpose, network, asset_id, address, units, owed_from) values ($1, 'withdrawal', 'eth', 'eth@eth', 'thief', 5, $2)`,
      [randomUUID(), `liability:partner:${partnerId}`],
    )
    await expect(insert).rejects.toMatchObject({ code: '23514' })
  })
})

describe('unclaimed deposits', () => {
  const here = async () => ({ address: 'its-owner', memo: null })

  test('is paid to its owner as a whole, once', async () => {
    const exchange = await fixture.order({ refund: null })
    fixture.deposit(exchange, 2_900n)
    const other = await fixture.order({ refund: null })
    fixture.deposit(other, 2_800n)
    await fixture.blocks(4)
    const operate = createOperateExchanges(fixture.store)
    for (const { id } of [exchange, other]) await operate.decide(id, 'fail', null, word)
    await fixture.turn()
    const [first, second] = await fixture.store.operator.listUnclaimed(10)
    expect([first, second]).toMatchObject([
      { exchangeId: exchange.id, assetId: 'btc@btc', units: 2_900n },
      { exchangeId: other.id, units: 2_800n },
    ])
    const depositId = first?.depositId ?? ''
    const answers = await Promise.all(Array.from({ length: 5 }, () => balances.payUnclaimed(depositId, here, word)))
    expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1)
    expect(await fixture.store.operator.listUnclaimed(10)).toMatchObject([{ exchangeId: other.id }])
    await fixture.blocks(5)
    expect(fixture.fakes.btc.paidTo('its-owner').map(({ units }) => units)).toEqual([2_900n])
    expect(await balances.payUnclaimed(depositId, here, word)).toMatchObject({ state: 'confirmed', repeated: true })
    expect(await fixture.store.ledger.balance('liability:unclaimed', 'btc@btc')).toBe(-2_800n)
    await expect(balances.payUnclaimed('999999', here, word)).rejects.toThrow('deposit 999999 is not unclaimed')
  })
})
