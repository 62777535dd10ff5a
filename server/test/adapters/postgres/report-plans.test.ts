import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../src/adapters/postgres/core/database.ts'
import { createReportStore } from '../../../src/adapters/postgres/exchange/reports.ts'
import type { ReportStore } from '../../../src/exchange/ports/store/reports.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { countRowsRead, type Recorded } from './rows-read.ts'
import { seedAdminRows } from './seed-admin-rows.ts'
import { POSTINGS_PER_EXCHANGE, seedLedgerRows } from './seed-ledger-rows.ts'

const ROWS = 1_000
/** A report may read every posting with its entry, exchange, payout and partner a few times, and no row for every other row. */
const READ_MAX = 10 * POSTINGS_PER_EXCHANGE * ROWS

let test_: TestDatabase
let reports: ReportStore
const queries: Recorded[] = []
beforeAll(async () => {
  test_ = await openTestDatabase()
  const { database } = test_
  await seedAdminRows(database, ROWS)
  await seedLedgerRows(database)
  const recording: Database = {
    ...database,
    transaction: (work, options) =>
      database.transaction(
        (tx) =>
          work({
            ...tx,
            query: (text, values, name) => {
              queries.push({ text, values: values ?? [] })
              return tx.query(text, values, name)
            },
          }),
        options,
      ),
  }
  reports = createReportStore(recording)
})
afterAll(() => test_.close())

const period = { from: new Date(0), to: new Date(Date.now() + 86_400_000) }

test.each<readonly [name: string, read: () => Promise<readonly unknown[]>]>([
  ['the trial balance', () => reports.trialBalance(period)],
  ...(['day', 'pair', 'partner', 'exchange'] as const).flatMap((grouping) => [
    [`revenue by ${grouping}`, () => reports.revenue(period, grouping, 10_000)] as const,
    [`costs by ${grouping}`, () => reports.costs(period, grouping, 10_000)] as const,
  ]),
])('%s reads each row a few times', async (_name, read) => {
  queries.length = 0
  expect((await read()).length).toBeGreaterThan(0)
  expect(queries).toHaveLength(1)
  expect(await countRowsRead(test_.database, queries)).toBeLessThan(READ_MAX)
})
