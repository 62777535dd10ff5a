import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tamper } from '../../../../test/support/tamper.ts'
import type { Database, Sql } from '../../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { btc } from '../../../src/exchange/domain/pricing.fixture.ts'
import type { AppendRules } from '../../../src/exchange/ports/store/chain-log.ts'
import { partnerId } from '../../exchange/money-path.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

/** Enough rows for the planner to prefer an index to a sequential scan. */
const ROWS = 20_000
/** Tables that grow with the business: a query per exchange or block must not scan them sequentially. */
const GROWING = [
  'exchanges',
  'exchange_checks',
  'deposit_targets',
  'deposits',
  'executions',
  'payouts',
  'transactions',
  'attempts',
  'coins',
  'events',
  'journal',
  'postings',
]

let app: TestDatabase
let exchangeId = ''
const queries: { text: string; values: readonly unknown[] }[] = []

beforeAll(async () => {
  app = await openTestDatabase()
  const { database } = app
  await database.query(
    `insert into exchanges (id, partner_id, type, flow, from_currency, from_network, to_currency, to_network, legs, from_units, to_units, recipient_address, partner_fee_bps, status, created_at, expires_at)
     select gen_random_uuid(), case when n % 2 = 0 then $1::uuid else gen_random_uuid() end, 'standard', 'standard', 'btc', 'btc', 'eth', 'eth', $2, 1, 1, 'r', 0,
       case when n % 10 = 0 then 'pending' else 'finished' end, now() - n * interval '1 minute', now() from generate_series(1, $3::int) n`,
    [partnerId, JSON.stringify([{ from: btc.asset, to: btc.asset }]), ROWS],
  )
  await database.query(
    "insert into events (exchange_id, event, status) select id, 'status', s from exchanges, unnest(array['pending', status]) s",
  )
  await database.query(
    "insert into exchange_checks select id, now() + interval '1 hour' from exchanges where status = 'pending'",
  )
  await database.query(
    "insert into deposit_targets (exchange_id, leg, network, address, memo, key_index) select id, 0, 'btc', 'address-' || row_number() over (), '', row_number() over () from exchanges",
  )
  await database.query(
    "insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, block_height, block_hash, required_confirmations, status, credited_units, credits, swept_by) select 'btc', key_index || ':0', key_index, exchange_id, 0, address, key_index, 'btc@btc', 5, key_index, 'h', 2, 'credited', 5, 1, gen_random_uuid() from deposit_targets",
  )
  await database.query(
    "insert into executions (id, exchange_id, deposit_id, leg, payin_hash, status) select gen_random_uuid(), exchange_id, id, 0, tx_hash, 'finished' from deposits",
  )
  await database.query(
    "insert into transactions (id, network, wallet, branch, key_index, conflict_key, resources, state) select gen_random_uuid(), 'eth', 'hot', 'hot', 0, id, '{}', 'final' from deposits",
  )
  await database.query(
    "insert into attempts (transaction_id, conflict_key, network, tx_hash, raw, intent, fee_units, state, block_height, block_hash) select id, conflict_key, 'eth', conflict_key, 'raw', '{}', 1, 'confirmed', conflict_key::bigint, 'h' from transactions",
  )
  await database.query(
    "insert into payouts (id, exchange_id, execution_id, deposit_id, leg, purpose, network, asset_id, address, units, state, transaction_id) select gen_random_uuid(), x.exchange_id, x.id, x.deposit_id, 0, 'payout', 'eth', 'eth@eth', 'r', 1, 'confirmed', t.id from executions x join transactions t on t.conflict_key = x.deposit_id::text",
  )
  await database.query(
    "insert into coins (network, outpoint, address, branch, key_index, units, block_height, block_hash, deposit_id, spent_by, spent_height) select 'btc', identity, address, 'deposit', key_index, 5, block_height, 'h', id, case when id % 10 <> 0 then 'x' end, case when id % 10 <> 0 then block_height end from deposits",
  )
  await database.query(
    "insert into journal (id, event, exchange_id) select 'deposit:' || id || ':credit:1', 'deposit', exchange_id from deposits",
  )
  await database.query("insert into cursors values ('btc', 1000000, 'h'), ('eth', 1000000, 'h')")
  await database.query("insert into blocks (network, height, hash, parent_hash) values ('btc', 1000000, 'h', 'g')")
  await tamper(database, 'balances', ["insert into balances values ('asset:wallet', 'eth@eth', 5)"])
  await database.query('analyze')
  const [row] = await database.query<{ id: string }>('select exchange_id as id from executions limit 1')
  exchangeId = row?.id ?? ''
})
afterAll(() => app.close())

/** The database, with its queries recorded. */
function recordQueries(database: Database): Database {
  const record =
    (sql: Sql): Sql['query'] =>
    (text, values, name) => {
      queries.push({ text, values: values ?? [] })
      return sql.query(text, values, name)
    }
  return {
    ...database,
    query: record(database),
    transaction: (work) => database.transaction((tx) => work({ ...tx, query: record(tx) })),
  }
}

const rules: AppendRules = {
  assetOf: () => btc.asset,
  requirements: () => ({ confirmations: 2, tag: null }),
  inFlightBlocks: 8,
  areFundingsUnclaimed: false,
  fundingConfirmations: 2,
  keepBlocks: 50,
  tracksUtxos: true,
}
const transfers = Array.from({ length: 200 }, (_, n) => ({
  identity: `new-${n}:0`,
  txHash: `new-${n}`,
  address: n % 50 === 0 ? `address-${n + 1}` : `stranger-${n}`,
  memo: null,
  contract: null,
  units: 5n,
  sender: null,
}))
const block = {
  height: 1_000_001,
  hash: 'i',
  parentHash: 'h',
  time: 0,
  transfers,
  transactions: transfers.map(({ txHash }, n) => ({ txHash, sender: null, nonce: null, spends: [`${n + 1}:0`] })),
}

type Store = ReturnType<typeof createStore>

/** Runs statements in a transaction that is rolled back. Fails if one of them fails. */
async function runAndRollBack(store: Store, work: Parameters<Store['transaction']>[0]): Promise<void> {
  const rollback = new Error('rolled back')
  const run = store.transaction(async (tx) => {
    await work(tx)
    throw rollback
  })
  await expect(run).rejects.toBe(rollback)
}

/** Appends a block once without recording its queries. */
async function appendUnrecorded(store: Store): Promise<void> {
  await runAndRollBack(store, (tx) => tx.chainLog.append('btc', block, rules))
  queries.length = 0
}

/** Tables whose rows change often. */
const CHANGING = ['balances', 'nonce_lanes', 'orders', 'outflows', 'reservations', 'sightings', 'sweep_candidates']

// M25: autovacuum waited for a fifth of tables that keep every row.
test('M25: growing tables are vacuumed long before a fifth of them has changed', async () => {
  const rows = await app.database.query<{ relname: string }>(
    `select relname from pg_class where relname = any($1::text[]) and coalesce(array_to_string(reloptions, ' '), '')
       !~ 'autovacuum_vacuum_(insert_)?scale_factor=0.0[12]'`,
    [[...GROWING, ...CHANGING]],
  )
  expect(rows).toEqual([])
})

// M25: each worker counted all open exchanges every 5 s.
test('M25: one process of two counts the open exchanges', async () => {
  const stores = [
    createStore(recordQueries(app.database), payeeMacs),
    createStore(recordQueries(app.another(2)), payeeMacs),
  ]
  queries.length = 0
  for (const store of stores) expect([...(await store.reconciliation.openByStatus())]).toEqual([['pending', ROWS / 10]])
  expect(queries.filter(({ text }) => text.includes('from exchanges'))).toHaveLength(1)
  await app.database.query("update turns set at = at - interval '5 seconds'")
  await stores[1]?.reconciliation.openByStatus()
  expect(queries.filter(({ text }) => text.includes('from exchanges'))).toHaveLength(2)
})

test('no query per exchange or block scans a growing table sequentially', async () => {
  const store = createStore(recordQueries(app.database), payeeMacs)
  await appendUnrecorded(store)
  const id = randomUUID()
  await store.exchanges.find(partnerId, exchangeId)
  await store.exchanges.list({ partnerId }, null, 100, 0)
  await store.exchanges.list({ partnerId, status: 'pending' }, { createdAt: new Date(), id: exchangeId }, 100, 0)
  await store.exchanges.list({ partnerId, externalId: 'order-1' }, null, 100, 0)
  await store.exchanges.report({ partnerId, from: null, to: null }, null, 501)
  const place = { createdAt: new Date(), id: exchangeId }
  await store.exchanges.report({ partnerId, from: new Date(0), to: new Date() }, place, 501)
  await store.exchanges.count({ partnerId })
  await store.exchanges.countOpen(partnerId, 100)
  await store.exchanges.findRepeated(partnerId, 'key')
  await store.jobs.leaseDue(100)
  await store.wallets.listFundings('btc', 100)
  await store.wallets.releaseSweptRests('eth')
  await store.wallets.listSweepable('eth', 2, 20)
  await store.reconciliation.positions('eth', 'eth@eth')
  await store.reconciliation.openExchanges('btc', null, 200)
  await store.reconciliation.openExchanges('btc', exchangeId, 200)
  await store.reconciliation.depositTargets('btc', [exchangeId])
  await store.transactions.unpaidFees('eth', 'hot')
  await store.payouts.queue('eth', 1)
  await runAndRollBack(store, async (tx) => {
    await tx.steps.load(exchangeId)
    await tx.steps.load(exchangeId, { leg: 0, depositId: '7' })
    await tx.steps.summarize(exchangeId)
    await tx.steps.isRateUsed(exchangeId, { leg: 0, depositId: '7' }, 'btc@btc')
    await tx.operator.listHeldExecutions(exchangeId, null, 50)
    await tx.operator.findPayout(id)
    await tx.operator.findSpentDeposit('7')
    await tx.operator.listUnclaimed(50)
    await tx.operator.findUnclaimed('7')
    await tx.operator.findUnclaimedDeposit('7')
    await tx.operator.setConflictingTxHash(id, 'a hash')
    await tx.operator.addFundingTransaction(id, 'raw')
    await tx.reversedPayouts.lockExchangeOf(id)
    await tx.payouts.find([id])
    await tx.ledger.unreserved(exchangeId, 'btc@btc')
    await tx.signingJournal.readPayoutOrigin('7', 0)
    await tx.wallets.sweptUnits(id)
    await tx.chainLog.recordSightings('btc', [{ txHash: 'seen', address: 'address-7', memo: null, units: 7n }])
    await tx.payouts.queue('eth', 50)
    await tx.payouts.listByTransaction(id)
    await tx.payouts.requeue(id, null)
    await tx.transactions.load(id)
    const depths = { others: 2, own: 1 }
    await tx.transactions.listSpendable('btc', depths, 500)
    await tx.transactions.listSmall('btc', depths, { min: 1n, max: 10n }, 200)
    await tx.transactions.reserveOwnOutput(id, 'an outpoint')
    await tx.outputs.countUseful('btc', 1n)
    await tx.outputs.freeUnits('btc')
    await tx.outputs.isPlanned('btc', 1_000)
    await tx.outputs.voidOverdueConsolidations('btc', 1_000)
    await tx.chainLog.append('btc', block, rules)
    await tx.chainLog.rewind('btc', 1_000_000, block)
  })
  expect(queries.length).toBeGreaterThan(30)
  const scans: string[] = []
  for (const { text, values } of queries.filter(
    ({ text: one }) => /^\s*(with|select|insert|update|delete)/i.test(one) && !/add_job|advisory/.test(one),
  )) {
    const plan = await app.database.query<Record<string, string>>(`explain ${text}`, values)
    const lines = plan.flatMap((row) => Object.values(row))
    for (const line of lines) {
      const table = /Seq Scan on (\w+)/.exec(line)?.[1] ?? ''
      if (GROWING.includes(table)) scans.push(`${line.trim()}: ${text.replace(/\s+/g, ' ').slice(0, 120)}`)
    }
  }
  expect(scans).toEqual([])
})
