import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { COIN, ltc } from '../../server/test/exchange/money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from '../../server/test/exchange/private/private-money-path.ts'
import type { NodeBalances } from '../support/holdings.ts'
import { tamper } from '../support/tamper.ts'
import { checkCredits } from './check-credits.ts'
import type { Payment, Purchase } from './customers.ts'

let path: Awaited<ReturnType<typeof startPrivateMoneyPath>>
let purchase: Purchase
let payment: Payment
beforeEach(async () => {
  path = await startPrivateMoneyPath()
  const exchange = await path.createExchange({ via: ltc, plan })
  payment = { hash: path.payDeposit(exchange, SMALL), units: SMALL } as Payment
  purchase = { id: exchange.id, payments: [payment] } as unknown as Purchase
  await path.mineBlocks(14)
  expect(await path.readStatus(exchange)).toBe('finished')
})
afterEach(() => path.close())

const nodes = {
  received: async (network, { txHash, address }) =>
    path.fakes[network as 'ltc']
      .listPayments(address)
      .filter((one) => one.txHash === txHash)
      .reduce((sum, { units }) => sum + units, 0n),
} as Pick<NodeBalances, 'received'> as NodeBalances

const check = (bought: Purchase = purchase, isOnChain = true) =>
  checkCredits(path.database, nodes, [bought], new Map(bought.payments.map((one) => [one, isOnChain])))
const readLeg = async () => {
  const [row] = await path.database.query<{ hash: string; units: string }>(
    'select tx_hash as hash, credited_units as units from deposits where leg = 1',
  )
  return { hash: row?.hash ?? '', units: BigInt(row?.units ?? 0) }
}

test('finds nothing where the deposit of each leg is credited as it was paid', async () => {
  expect(await check()).toEqual([])
  expect((await readLeg()).units).toBeGreaterThan(COIN)
})

describe('the check of credits finds', () => {
  test.each([-1n, 1n])('a credit of %i units more than the customer paid', async (more) => {
    await tamper(path.database, 'deposits', [
      `update deposits set credited_units = credited_units + ${more} where leg = 0`,
    ])
    expect(await check()).toEqual([`payment ${payment.hash} of ${SMALL} is credited as ${SMALL + more}`])
  })

  test('a credit of a payment that is on no chain', async () => {
    expect(await check(purchase, false)).toEqual([`payment ${payment.hash} is credited, and no chain has it`])
  })

  test('a credit of a payment that no customer made, or that another made', async () => {
    const unpaid = [`payment ${payment.hash} is credited, and no customer made it`]
    expect(await check({ ...purchase, payments: [] })).toEqual(unpaid)
    expect(await check({ ...purchase, id: 'another' })).toEqual(unpaid)
  })

  test.each([-1n, 1n])('a payment between two legs that is credited with %i units more', async (more) => {
    const { hash, units } = await readLeg()
    // Both rows agree with each other, so that only the node can tell.
    await tamper(path.database, 'deposits', [
      `update deposits set credited_units = credited_units + ${more} where leg = 1`,
    ])
    await tamper(path.database, 'payouts', [
      `update payouts set units = units + ${more} where id in (select p.id from payouts p join deposits d on d.address = p.address where d.leg = 1)`,
    ])
    expect(await check()).toEqual([`payment ${hash} of ${units} between two legs is credited as ${units + more}`])
  })

  test('a deposit of a second leg that the app did not pay', async () => {
    const { hash } = await readLeg()
    await tamper(path.database, 'deposits', ["update deposits set tx_hash = 'foreign' where leg = 1"])
    expect(await check()).toEqual(['payment foreign between two legs is credited, and the app did not make it'])
    await tamper(path.database, 'deposits', ['update deposits set tx_hash = $1 where leg = 1', [hash]])
    await tamper(path.database, 'payouts', [
      "update payouts set state = 'void', transaction_id = null where address in (select address from deposits where leg = 1)",
    ])
    expect(await check()).toEqual([`payment ${hash} between two legs is credited, and the app did not make it`])
  })

  test('a payment between two legs that is credited twice', async () => {
    const { hash } = await readLeg()
    await path.database.query('drop index executions_by_source')
    await tamper(path.database, 'deposits', [
      `insert into deposits overriding system value
       select (jsonb_populate_record(d, '{"id": 1000000, "identity": "other:0"}')).* from deposits d where leg = 1`,
    ])
    await tamper(path.database, 'executions', [
      `insert into executions select (jsonb_populate_record(x, jsonb_build_object('id', gen_random_uuid(), 'deposit_id', 1000000, 'order_id', null))).*
       from executions x where leg = 1`,
    ])
    const line = `payment ${hash} between two legs is credited 2 times`
    expect(await check()).toEqual([line, line])
  })
})
