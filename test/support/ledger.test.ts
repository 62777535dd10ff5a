import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStore } from '../../server/src/adapters/postgres/exchange/store.ts'
import { chart } from '../../server/src/core/domain/ledger/chart.ts'
import { journalEntry } from '../../server/src/core/domain/ledger/journal.ts'
import { openTestDatabase, type TestDatabase } from '../../server/test/adapters/postgres/database.ts'
import { payeeMacs } from '../../server/test/payee-macs.ts'
import { findLedgerFaults } from './ledger.ts'
import { tamper } from './tamper.ts'

const assetId = 'btc@btc'
const kinds = [...chart.single, ...chart.perOwner.map((kind) => `${kind}:one` as const)]
const others = kinds.filter((account) => account !== 'equity:capital')
const isDebit = (account: string) => /^(asset|expense)/.test(account)
const capital = 1_000 * (others.filter((account) => !isDebit(account)).length - others.filter(isDebit).length)
/** Units that the entry of this test posts to an account. */
const postedTo = (account: string) => (account === 'equity:capital' ? capital : isDebit(account) ? 1_000 : -1_000)

let fixture: TestDatabase
beforeAll(async () => {
  fixture = await openTestDatabase()
  const postings = others.map((account) =>
    isDebit(account)
      ? ({ debit: account, credit: 'equity:capital', assetId, units: 1_000n } as const)
      : ({ debit: 'equity:capital', credit: account, assetId, units: 1_000n } as const),
  )
  const entry = journalEntry('one-of-each', 'test', null, postings)
  await createStore(fixture.database, payeeMacs).ledger.post(entry)
})
afterAll(() => fixture.close())

const findFaults = () => findLedgerFaults(fixture.database)

test('a ledger that was only posted to has no fault', async () => {
  expect(await findFaults()).toEqual([])
})

describe('the check of the tests finds', () => {
  for (const account of kinds)
    test.each([-1, 1])(`a balance of ${account} that was changed by %i`, async (units) => {
      const change = (by: number) =>
        tamper(fixture.database, 'balances', [
          'update balances set units = units + $2 where account = $1',
          [account, by],
        ])
      await change(units)
      const found = await findFaults()
      await change(-units)
      expect(found).toEqual([
        `the balances of ${assetId} sum to ${units}`,
        `the balance of ${account} ${assetId} is ${postedTo(account) + units}, its postings sum to ${postedTo(account)}`,
      ])
    })

  test('two balances that were changed by opposite amounts', async () => {
    const change = (units: number) =>
      tamper(
        fixture.database,
        'balances',
        ["update balances set units = units + $1 where account = 'asset:wallet'", [units]],
        ["update balances set units = units - $1 where account = 'income:dust'", [units]],
      )
    await change(5)
    const found = await findFaults()
    await change(-5)
    expect(found).toEqual([
      `the balance of asset:wallet ${assetId} is 1005, its postings sum to 1000`,
      `the balance of income:dust ${assetId} is -1005, its postings sum to -1000`,
    ])
  })

  test('a posting that is missing, and a balance that is missing', async () => {
    await tamper(fixture.database, 'postings', ["delete from postings where credit = 'income:spread'"])
    await tamper(fixture.database, 'balances', ["delete from balances where account = 'liability:unclaimed'"])
    expect((await findFaults()).toSorted()).toEqual([
      `the balance of equity:capital ${assetId} is ${capital}, its postings sum to ${capital - 1_000}`,
      `the balance of income:spread ${assetId} is -1000, its postings sum to 0`,
      `the balance of liability:unclaimed ${assetId} is 0, its postings sum to -1000`,
      `the balances of ${assetId} sum to 1000`,
    ])
  })
})
