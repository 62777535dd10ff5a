import { afterEach, beforeEach, expect, test } from 'vitest'
import { journalEntry } from '../../server/src/core/domain/ledger/journal.ts'
import { COIN } from '../../server/test/exchange/money-path.ts'
import { startCheckedMoneyPath } from '../support/checked-money-path.ts'
import { answeredDeposits, findHoldingFaults } from '../support/holdings.ts'
import { tamper } from '../support/tamper.ts'
import { findDebts, knownDeposits } from './check-ledger.ts'
import type { Payment, Purchase } from './customers.ts'

let path: Awaited<ReturnType<typeof startCheckedMoneyPath>>
beforeEach(async () => {
  path = await startCheckedMoneyPath()
})
afterEach(() => path.close())

/** The records of the three customers, and of others who paid bitcoin to these addresses. */
async function recordPurchases(others: readonly { address: string; hash: string; units: bigint }[] = []) {
  const rows = await path.database.query<{ asset: string; address: string; hash: string; units: string }>(
    'select asset_id as asset, address, tx_hash as hash, units from deposits where exchange_id is not null',
  )
  const paid = [
    ...rows.map((row) => ({ ...row, units: BigInt(row.units) })),
    ...others.map((other) => ({ ...other, asset: 'btc@btc' })),
  ]
  return paid.map(({ asset, address, hash, units }) => {
    const payments = [{ hash, units } as Payment]
    return { from: asset, depositAddress: address, payments } as unknown as Purchase
  })
}

const findFaults = (purchases: readonly Purchase[], isOnChain = true) => {
  const onChain = new Map(purchases.flatMap(({ payments }) => payments).map((payment) => [payment, isOnChain]))
  return findHoldingFaults(path.books, path.nodes, knownDeposits(path.database, path.nodes, purchases, onChain))
}

test('a faultless app has no difference to the records of its customers, and no debt', async () => {
  expect(await findFaults(await recordPurchases())).toEqual([])
  expect(await findDebts(path.database)).toEqual([])
})

test('a payment in a block that the app has not read yet is no difference', async () => {
  const { deposit } = await path.createExchange()
  const hash = path.fakes.btc.pay(deposit.address, COIN)
  path.fakes.btc.mine()
  const payment = { address: deposit.address, hash, units: COIN }
  expect(await findFaults(await recordPurchases([payment]))).toEqual([])
  // A customer who paid less or nothing: the coins have another cause.
  expect(await findFaults(await recordPurchases([{ ...payment, units: COIN - 1n }]))).toHaveLength(1)
  expect(await findFaults(await recordPurchases())).toHaveLength(1)
})

/** The app took the credit of a bitcoin back by mistake. */
const reverseCredit = () =>
  path.store.ledger.post(
    journalEntry('planted', 'planted', null, [
      { debit: 'equity:capital', credit: 'asset:wallet', assetId: 'btc@btc', units: COIN },
    ]),
  )

/** A copy of the bitcoin deposit of an exchange with other columns. */
const insertDeposit = (columns: Readonly<Record<string, unknown>>) =>
  tamper(path.database, 'deposits', [
    `insert into deposits overriding system value select (jsonb_populate_record(d, $1::jsonb)).* from deposits d
     where asset_id = 'btc@btc' and exchange_id is not null`,
    [JSON.stringify({ id: 1_000_000, status: 'seen', credited_units: null, credits: 0, ...columns })],
  ])

const findRowFaults = () =>
  findHoldingFaults(path.books, path.nodes, answeredDeposits(path.books, path.nodes, path.listAddresses))

test.each([
  ['a wrong amount of a real payment', { identity: 'other:0', units: String(COIN) }],
  ['a payment that is on no chain', { identity: 'other:0', tx_hash: 'f'.repeat(40), units: String(COIN) }],
  [
    'a funding that is on no chain',
    { identity: 'other:0', tx_hash: 'f'.repeat(40), units: String(COIN), exchange_id: null, address: 'btc-hot' },
  ],
])('a row with %s hides no difference', async (_what, columns) => {
  const purchases = await recordPurchases()
  await reverseCredit()
  await insertDeposit(columns)
  const expected = [expect.stringContaining('btc@btc in asset:wallet')]
  expect(await findRowFaults()).toEqual(expected)
  expect(await findFaults(purchases)).toEqual(expected)
})

test('a credit of a payment that is on no chain is a difference', async () => {
  const [first, ...others] = await recordPurchases()
  const removed = { ...first, payments: first?.payments ?? [] } as Purchase
  const onChain = new Map([removed, ...others].flatMap(({ payments }) => payments).map((one) => [one, true]))
  const outputs = async (network: string, addresses: readonly string[]) =>
    (await path.nodes.outputs(network, addresses)) - (removed.payments[0]?.units ?? 0n)
  for (const payment of removed.payments) onChain.set(payment, false)
  expect(removed.from).toBe('btc@btc')
  const deposits = knownDeposits(path.database, path.nodes, [removed, ...others], onChain)
  expect(await findHoldingFaults(path.books, { ...path.nodes, outputs }, deposits)).toEqual([
    expect.stringContaining('btc@btc in asset:wallet'),
  ])
})

test('a closed exchange that is still owed something is a finding', async () => {
  await path.store.ledger.post(
    journalEntry('planted', 'planted', null, [
      { debit: 'equity:capital', credit: path.account, assetId: 'eth@eth', units: 7n },
    ]),
  )
  expect(await findDebts(path.database)).toEqual([`${path.account} of a closed exchange owes -7 of eth@eth`])
})
