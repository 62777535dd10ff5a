import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tamper } from '../../../../test/support/tamper.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import type { AssetId } from '../../../src/core/domain/asset.ts'
import { type Account, chart } from '../../../src/core/domain/ledger/chart.ts'
import { createCheckLedger } from '../../../src/exchange/operations/check-ledger.ts'
import type { Store } from '../../../src/exchange/ports/store/store.ts'
import { createLog } from '../../../src/lib/log.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

/** One account of every kind in the chart. */
const kinds: readonly Account[] = [...chart.single, ...chart.perOwner.map((kind) => `${kind}:one` as const)]
const isDebit = (account: Account) => /^(asset|expense):/.test(account)
const debits = kinds.filter(isDebit)
const credits = kinds.filter((account) => !isDebit(account))
const asset: AssetId = 'btc@btc'
const log = createLog({ level: 'silent', pretty: false })

let fixture: TestDatabase
let store: Store
beforeAll(async () => {
  fixture = await openTestDatabase()
  store = createStore(fixture.database, payeeMacs)
  const postings = credits.map((credit, at) => ({
    debit: debits[at % debits.length] ?? 'asset:wallet',
    credit,
    assetId: asset,
    units: 1_000n,
  }))
  await store.ledger.post({ id: 'one-of-each', event: 'test', exchangeId: null, postings })
})
afterAll(() => fixture.close())

const change = (account: string, units: number) =>
  tamper(fixture.database, 'balances', ['update balances set units = units + $2 where account = $1', [account, units]])
const faults = () => store.reconciliation.ledgerFaults(100)

describe('the ledger check', () => {
  test('finds nothing in a ledger that was only posted to', async () => {
    expect(await faults()).toEqual([])
  })

  for (const account of kinds)
    for (const units of [-1, 1])
      test(`finds a balance of ${account} that was changed by ${units}`, async () => {
        await change(account, units)
        const found = await faults()
        await change(account, -units)
        expect(found).toEqual([
          { kind: 'sum', assetId: asset, units: BigInt(units) },
          expect.objectContaining({ kind: 'balance', account, assetId: asset }),
        ])
        const [, balance] = found
        if (balance?.kind !== 'balance') throw new Error('the second fault is of one balance')
        expect(balance.stored - balance.posted).toBe(BigInt(units))
      })

  test('finds two balances that were changed by opposite amounts, although the sum is still zero', async () => {
    await change('liability:unclaimed', -5)
    await change('equity:capital', 5)
    const found = await faults()
    await change('liability:unclaimed', 5)
    await change('equity:capital', -5)
    expect(found).toEqual([
      { kind: 'balance', assetId: asset, account: 'equity:capital', stored: -995n, posted: -1_000n },
      { kind: 'balance', assetId: asset, account: 'liability:unclaimed', stored: -1_005n, posted: -1_000n },
    ])
  })

  test('finds a balance that is missing, and one that no posting made', async () => {
    await tamper(
      fixture.database,
      'balances',
      ["delete from balances where account = 'income:dust'"],
      ["insert into balances (account, asset_id, units) values ('income:other', $1, -1000)", [asset]],
    )
    const found = await faults()
    await tamper(
      fixture.database,
      'balances',
      ["delete from balances where account = 'income:other'"],
      ["insert into balances (account, asset_id, units) values ('income:dust', $1, -1000)", [asset]],
    )
    expect(found).toEqual([
      { kind: 'balance', assetId: asset, account: 'income:dust', stored: 0n, posted: -1_000n },
      { kind: 'balance', assetId: asset, account: 'income:other', stored: -1_000n, posted: 0n },
    ])
    expect(await faults()).toEqual([])
  })
})

describe('the worker that finds a fault', () => {
  const counts: number[] = []
  const check = () => createCheckLedger({ store, log, onFaults: (count) => counts.push(count) })()
  beforeEach(() => counts.splice(0))

  test('raises an alarm with the account and the amounts, and pauses all payouts until the operator resumes them', async () => {
    await check()
    expect([counts, await store.alarms.list(10), await store.pauses.list()]).toEqual([[0], [], []])
    await change('liability:partner:one', 40)
    await check()
    expect(counts).toEqual([0, 2])
    expect(await store.alarms.list(10)).toEqual([
      expect.objectContaining({
        subject: 'ledger:faults',
        detail: {
          faults: [
            'the balances of btc@btc sum to 40, not to 0',
            'liability:partner:one holds -960 of btc@btc, and its postings sum to -1000',
          ],
        },
      }),
    ])
    expect(await store.pauses.list()).toEqual([{ scope: 'payouts:all', reason: 'the ledger is inconsistent' }])
    await change('liability:partner:one', -40)
    await check()
    expect(await store.alarms.list(10)).toEqual([])
    expect(await store.pauses.list()).toHaveLength(1)
  })
})
