import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database, Sql } from '../../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { presentStatus } from '../../../src/exchange/api/present.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { createStepExchange } from '../../../src/exchange/settlement/step-exchange.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/** Closed long ago, and held by the screening until a person looks. */
const CLOSED = 20_000
const HELD = 1_000
const SMALL = COIN / 200n
/** Executions that one transaction, and that one step, goes through at most. */
const WINDOW = 50
const STEP = 200

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
/** Rows that each transaction of the measured store has read, triggers and all. */
const reads: number[] = []

const READ = `select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::int as rows
  from pg_stat_xact_user_tables where schemaname = 'public'`

/**
 * Counts what is read; a statement outside of a transaction is one of its own. On connections of its own: triggers and
 * foreign keys keep the plans that they made when the tables were small.
 */
function counting(): Database {
  const database = fixture.another(2)
  const transaction: Database['transaction'] = (work) =>
    database.transaction(async (tx) => {
      const rows = async (sql: Sql) => (await sql.query<{ rows: number }>(READ))[0]?.rows ?? 0
      // A table of a few pages is read whole because that is cheap: what is asked here is what it costs when it has grown.
      await tx.query('set local enable_seqscan = off')
      const before = await rows(tx)
      const result = await work(tx)
      reads.push((await rows(tx)) - before)
      return result
    })
  return {
    ...database,
    transaction,
    query: (text, values, name) => transaction((tx) => tx.query(text, values, name)),
  }
}

/** Credited deposits with their results. The ledger has no entry for them. */
async function flood({ id, deposit }: Exchange, count: number, status: string, reason: string): Promise<void> {
  await fixture.database.query(
    `with arrived as (
       insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, block_height, block_hash,
         required_confirmations, status, credited_units, credits)
       select 'btc', $3::text || $1::text || n || ':0', $3 || $1 || n, $1::text::uuid, 0, $2, 0, 'btc@btc', 5, 1, 'h', 2, 'credited', 5, 1
       from generate_series(1, $5::int) n returning id, tx_hash)
     insert into executions (id, exchange_id, deposit_id, leg, payin_hash, status, reason)
     select gen_random_uuid(), $1::text::uuid, id, 0, tx_hash, $3, $4 from arrived order by id`,
    [id, deposit.address, status, reason, count],
  )
}

/** What is read while it is done: the transaction that reads most. */
async function mostRead(work: () => Promise<unknown>): Promise<number> {
  reads.length = 0
  await work()
  return Math.max(...reads)
}

let small: Exchange
let flooded: Exchange
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
  small = await fixture.order()
  flooded = await fixture.order()
  await flood(small, WINDOW, 'verifying', 'SCREENING')
  await flood(flooded, CLOSED, 'failed', 'DUST')
  await flood(flooded, HELD, 'verifying', 'SCREENING')
})
afterAll(() => fixture.close())

const jobs = async (exchange: Exchange) =>
  (
    await fixture.database.query<{ key: string }>(
      'delete from graphile_worker._private_jobs where key = $1 returning key',
      [`exchange:${exchange.id}`],
    )
  ).map(({ key }) => key)

describe('an exchange that got more deposits than anybody can want', () => {
  test('is stepped in windows that read no more than fifty deposits do, and the pass ends', async () => {
    const shared = createStepExchange({ ...fixture.shared, store: createStore(counting()) })
    for (const statistics of ['old', 'new']) {
      if (statistics === 'new') await fixture.database.query('analyze')
      const fifty = await mostRead(() => shared(small.id))
      expect(await mostRead(() => shared(flooded.id))).toBeLessThan(fifty * 1.5)
      let steps = 1
      for (; (await jobs(flooded)).length > 0; steps++) await shared(flooded.id)
      // An empty window may end it.
      expect(steps).toBeLessThanOrEqual(HELD / STEP + 1)
    }
    expect(await fixture.status(flooded)).toBe('verifying')
  })

  test('is answered with its latest hundred, in their order', async () => {
    const store = createStore(counting())
    const read = await mostRead(() => store.exchanges.find(flooded.partnerId, flooded.id))
    expect(read).toBeLessThan(500)
    expect(await mostRead(() => store.exchanges.list({ partnerId: flooded.partnerId }, null, 100, 0))).toBeLessThan(600)
    const view = await store.exchanges.find(flooded.partnerId, flooded.id)
    if (!view) throw new Error('it is there')
    const latest = (await fixture.executions(flooded)).slice(-100).map(({ payinHash }) => payinHash)
    expect(view.executions.map(({ payinHash }) => payinHash)).toEqual(latest)
    const answer = JSON.stringify(presentStatus(view, { requiresMemo: () => false, assetOf: () => null }))
    expect(answer.length).toBeLessThan(50_000)
  })

  test('still exchanges a deposit that is meant, and notices one that leaves the chain', async () => {
    fixture.deposit(flooded, SMALL)
    const [orphaned] = await fixture.database.query<{ id: string }>(
      `update deposits set block_height = null, block_hash = null, orphaned_at = clock_timestamp()
       where id = (select deposit_id from executions where exchange_id = $1 and status = 'failed' order by deposit_id offset 15000 limit 1) returning id`,
      [flooded.id],
    )
    const status = async () => (await fixture.executions(flooded)).at(-1)?.status
    for (let n = 0; n < 30 && (await status()) !== 'finished'; n++) await fixture.blocks(1)
    expect(await status()).toBe('finished')
    expect(fixture.fakes.eth.paidTo(flooded.recipient?.address ?? '')).toHaveLength(1)
    expect(await fixture.database.query('select status, lost from deposits where id = $1', [orphaned?.id])).toEqual([
      { status: 'reversed', lost: true },
    ])
    // Others are held: it stays open.
    expect(await fixture.status(flooded)).toBe('verifying')
  })

  test('costs no more for each refund that waits in the queue', async () => {
    const refunded = await fixture.order()
    const step = createStepExchange({ ...fixture.shared, store: createStore(counting()) })
    const costs: number[] = []
    for (let n = 0; n < 4; n++) {
      for (let m = 0; m < WINDOW; m++) fixture.deposit(refunded, 2_900n)
      fixture.fakes.btc.mine()
      await fixture.watch()
      fixture.fakes.btc.mine()
      await fixture.watch()
      costs.push(await mostRead(() => step(refunded.id)))
    }
    expect((await fixture.payouts(refunded)).length).toBe(4 * WINDOW)
    expect(costs.at(-1)).toBeLessThan((costs[0] ?? 0) * 1.5)
    await fixture.balanced()
  })

  test('has each of its deposits decided by name', async () => {
    const operate = createOperateExchanges(fixture.store)
    const word = { actor: 'anna', reason: 'looked at' }
    await expect(operate.decide(flooded.id, 'fail', null, word)).rejects.toThrow(/several deposits.*and perhaps more/s)
    const name = `verifying${flooded.id}${HELD}`
    expect(await operate.decide(flooded.id, 'fail', name, word)).toMatchObject({ txHash: name })
  })
})
