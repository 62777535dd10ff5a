import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/*
 * M22: everybody who could insert or change one row in the database was paid. A payee needs an authentication code now, whose key
 * the database does not hold (I-39).
 */
const SMALL = COIN / 200n
const note = { actor: 'anna', reason: 'looked at it' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

const TABLES = ['exchanges', 'deposits', 'payouts']
/** Writes as a thief with the rights of the database's owner: no trigger refuses anything. */
const forge = (text: string, values: readonly unknown[] = []) =>
  fixture.database.transaction(async (tx) => {
    for (const table of TABLES) await tx.query(`alter table ${table} disable trigger user`)
    const rows = await tx.query<{ id: string }>(text, values)
    for (const table of TABLES) await tx.query(`alter table ${table} enable trigger user`)
    return rows
  })
const listAlarms = async () =>
  (await fixture.store.alarms.list(100)).map(({ subject, severity }) => [subject, severity])
const countPaid = (address: string) =>
  fixture.fakes.eth.listPayments(address).length + fixture.fakes.btc.listPayments(address).length

/** Mines blocks on both chains at once. */
async function mineTogether(...blocks: readonly number[]): Promise<void> {
  for (const count of blocks) {
    fixture.fakes.btc.mine(count)
    fixture.fakes.eth.mine(count)
    await fixture.runWorkers()
  }
}

/** Another customer's exchange, which nothing may stop. */
async function expectOthersPaid(): Promise<Exchange> {
  const other = await fixture.createExchange()
  fixture.payDeposit(other, SMALL)
  await mineTogether(2, 2, 1)
  expect(await fixture.readStatus(other)).toBe('finished')
  expect(fixture.countEtherPayments(other)).toBe(1)
  return other
}

async function expectHeld(exchange: Exchange): Promise<void> {
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
  expect(await listAlarms()).toContainEqual([`payee:${exchange.id}`, 'critical'])
}

test('M22: a payout that was inserted is not paid, also with the code of a payout of the same customer', async () => {
  const finished = await expectOthersPaid()
  const insert = (mac: string) =>
    forge(
      `insert into payouts (id, purpose, owed_from, network, asset_id, address, units, mac)
       values ($1, 'withdrawal', 'liability:unclaimed', 'eth', 'eth@eth', 'thief', 1000000000000000000, ${mac}) returning id`,
      [randomUUID()],
    )
  const rows = [
    ...(await insert('null')),
    ...(await insert(`(select mac from payouts where exchange_id = '${finished.id}')`)),
  ]
  await expectOthersPaid()
  // A release by an operator who was deceived pays nothing either.
  for (const { id } of rows) await fixture.store.payouts.approve(id)
  await mineTogether(1, 1)
  expect(countPaid('thief')).toBe(0)
  for (const { id } of rows) {
    expect(await fixture.store.operator.findPayout(id)).toMatchObject({ state: 'reserved', attention: 'PAYEE' })
    expect(await listAlarms()).toContainEqual([`payee:${id}`, 'critical'])
  }
})

test('M22: a queued payout that was changed is not paid until its row is as it was', async () => {
  const changes = [
    "address = 'thief'",
    "memo = '7'",
    'units = units + 1',
    "asset_id = 'usdt@eth'",
    'exchange_id = (select max(id::text)::uuid from exchanges e where e.id <> exchange_id)',
  ]
  const exchanges = await Promise.all(changes.map(() => fixture.createExchange()))
  for (const exchange of exchanges) fixture.payDeposit(exchange, SMALL)
  await fixture.store.pauses.pause('payouts:eth', 'a test', 'test')
  await mineTogether(2)
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.clearHolds()
  const payouts = (await Promise.all(exchanges.map((one) => fixture.listPayouts(one)))).flat()
  const before = await fixture.database.query(
    'select id, address, memo, units, asset_id, exchange_id from payouts where id = any($1::uuid[])',
    [payouts.map(({ id }) => id)],
  )
  for (const [n, change] of changes.entries())
    await forge(`update payouts set ${change} where id = $1`, [payouts[n]?.id])
  await expectOthersPaid()
  expect([countPaid('thief'), ...exchanges.map(fixture.countEtherPayments)]).toEqual([0, 0, 0, 0, 0, 0])
  for (const { id } of payouts) expect(await listAlarms()).toContainEqual([`payee:${id}`, 'critical'])
  await forge(
    `update payouts p set address = r.address, memo = r.memo, units = r.units, asset_id = r.asset_id, exchange_id = r.exchange_id
     from json_to_recordset($1) as r (id uuid, address text, memo text, units numeric, asset_id text, exchange_id uuid) where p.id = r.id`,
    [JSON.stringify(before)],
  )
  await mineTogether(1)
  for (const exchange of exchanges) await fixture.decide(exchange, 'release')
  await mineTogether(1, 2, 1)
  for (const exchange of exchanges) expect(await fixture.readStatus(exchange)).toBe('finished')
  expect(exchanges.map(fixture.countEtherPayments)).toEqual([1, 1, 1, 1, 1])
})

test('M22: an exchange whose payee was changed, or swapped with another one, is held and pays neither', async () => {
  const operate = createOperateExchanges(fixture.store)
  const create = () => fixture.createExchange()
  const [first, second, recipient, memo, refund] = [
    await create(),
    await create(),
    await create(),
    await create(),
    await create(),
  ]
  await forge(
    `update exchanges e set recipient_address = o.recipient_address, recipient_mac = o.recipient_mac from exchanges o
     where e.id <> o.id and e.id::text = any($1) and o.id::text = any($1)`,
    [[first.id, second.id]],
  )
  await forge("update exchanges set recipient_address = 'thief' where id = $1", [recipient.id])
  await forge("update exchanges set recipient_memo = '7' where id = $1", [memo.id])
  await forge("update exchanges set refund_address = 'thief' where id = $1", [refund.id])
  const toRecipients = [first, second, recipient, memo]
  for (const exchange of toRecipients) fixture.payDeposit(exchange, SMALL)
  // Too small to be converted.
  fixture.payDeposit(refund, 2_900n)
  await expectOthersPaid()
  for (const exchange of [...toRecipients, refund]) await expectHeld(exchange)
  // A release pays none of them, and a refund goes to the refund address.
  for (const exchange of [...toRecipients, refund]) await fixture.decide(exchange, 'release')
  await mineTogether(1)
  for (const exchange of [...toRecipients, refund]) await expectHeld(exchange)
  for (const exchange of toRecipients) await fixture.decide(exchange, 'refund')
  await operate.setRefund(refund.id, async () => ({ address: 'named', memo: null }), note)
  await fixture.decide(refund, 'release')
  await mineTogether(1, 2, 1)
  for (const exchange of [...toRecipients, refund]) {
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect(countPaid(exchange.recipient?.address ?? '')).toBe(0)
  }
  expect(toRecipients.map((one) => countPaid(one.refund?.address ?? ''))).toEqual([1, 1, 1, 1])
  expect([countPaid('thief'), countPaid('named'), countPaid(refund.refund?.address ?? '')]).toEqual([0, 1, 0])
})

test('a refund to the sender goes to the one that the watcher recorded', async () => {
  await fixture.setRefundToSender(true)
  const options = { from: eth, to: btc, fromUnits: ETHER, refund: null }
  const [honest, changed] = [await fixture.createExchange(options), await fixture.createExchange(options)]
  for (const [n, exchange] of [honest, changed].entries()) fixture.payDeposit(exchange, ETHER / 2_500n, `sender-${n}`)
  fixture.fakes.eth.mine()
  await fixture.runWatchers()
  await forge("update deposits set sender = 'thief' where exchange_id = $1", [changed.id])
  await mineTogether(2, 2, 1)
  await expectHeld(changed)
  expect([countPaid('thief'), countPaid('sender-0'), countPaid('sender-1')]).toEqual([0, 1, 0])
  await fixture.setRefundToSender(false)
})
