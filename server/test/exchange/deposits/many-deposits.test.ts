import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database, Sql } from '../../../src/adapters/postgres/core/database.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { presentStatus } from '../../../src/exchange/api/present.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { createStepExchange } from '../../../src/exchange/settlement/step-exchange.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/** Numbers of deposits: executions that failed, and executions that are held by the screening. */
const CLOSED = 20_000
const HELD = 1_000
const SMALL = COIN / 200n
/** Limits: executions per transaction, and executions per step. */
const WINDOW = 50
const STEP = 200

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
/** Rows read by each transaction of the measured store, including those read by triggers. */
const reads: number[] = []

const READ = `select coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::int as rows
  from pg_stat_xact_user_tables where schemaname = 'public'`

/**
 * A database that adds the rows read by each transaction or single statement to `reads`. It needs new connections: the
 * others keep the plans that triggers and foreign keys made while the tables were small.
 */
function openCountingDatabase(): Database {
  const database = fixture.another(2)
  const transaction: Database['transaction'] = (work) =>
    database.transaction(async (tx) => {
      const countRows = async (sql: Sql) => (await sql.query<{ rows: number }>(READ))[0]?.rows ?? 0
      // The planner scans a small table sequentially. The test measures the plan of a large table.
      await tx.query('set local enable_seqscan = off')
      const rowsBefore = await countRows(tx)
      const result = await work(tx)
      reads.push((await countRows(tx)) - rowsBefore)
      return result
    })
  return {
    ...database,
    transaction,
    query: (text, values, name) => transaction((tx) => tx.query(text, values, name)),
  }
}

/** Inserts credited deposits with executions of this status. The ledger has no entry for them. */
async function insertDeposits({ id, deposit }: Exchange, count: number, status: string, reason: string): Promise<void> {
  await fixture.database.query(
    `with inserted as (
       insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, block_height, block_hash,
         required_confirmations, status, credited_units, credits)
       select 'btc', $3::text || $1::text || n || ':0', $3 || $1 || n, $1::text::uuid, 0, $2, 0, 'btc@btc', 5, 1, 'h', 2, 'credited', 5, 1
       from generate_series(1, $5::int) n returning id, tx_hash)
     insert into executions (id, exchange_id, deposit_id, leg, payin_hash, status, reason)
     select gen_random_uuid(), $1::text::uuid, id, 0, tx_hash, $3, $4 from inserted order by id`,
    [id, deposit.address, status, reason, count],
  )
}

/** The most rows that one transaction of this work reads. */
async function measureReads(work: () => Promise<unknown>): Promise<number> {
  reads.length = 0
  await work()
  return Math.max(...reads)
}

let small: Exchange
let flooded: Exchange
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
  small = await fixture.createExchange()
  flooded = await fixture.createExchange()
  await insertDeposits(small, WINDOW, 'verifying', 'SCREENING')
  await insertDeposits(flooded, CLOSED, 'failed', 'DUST')
  await insertDeposits(flooded, HELD, 'verifying', 'SCREENING')
})
afterAll(() => fixture.close())

const takeJobKeys = async (exchange: Exchange) =>
  (
    await fixture.database.query<{ key: string }>(
      'delete from graphile_worker._private_jobs where key = $1 returning key',
      [`exchange:${exchange.id}`],
    )
  ).map(({ key }) => key)

describe('an exchange with 21 000 deposits', () => {
  test('reads about as many rows per transaction as an exchange with 50 deposits, and its pass ends', async () => {
    const step = createStepExchange({ ...fixture.dependencies, store: createStore(openCountingDatabase(), payeeMacs) })
    for (const statistics of ['old', 'new']) {
      if (statistics === 'new') await fixture.database.query('analyze')
      const readsOfFifty = await measureReads(() => step(small.id))
      expect(await measureReads(() => step(flooded.id))).toBeLessThan(readsOfFifty * 1.5)
      let steps = 1
      for (; (await takeJobKeys(flooded)).length > 0; steps++) await step(flooded.id)
      // The last window may be empty.
      expect(steps).toBeLessThanOrEqual(HELD / STEP + 1)
    }
    expect(await fixture.readStatus(flooded)).toBe('verifying')
  })

  test('returns its latest hundred executions, in their order', async () => {
    const store = createStore(openCountingDatabase(), payeeMacs)
    const rowsRead = await measureReads(() => store.exchanges.find(flooded.partnerId, flooded.id))
    expect(rowsRead).toBeLessThan(500)
    expect(await measureReads(() => store.exchanges.list({ partnerId: flooded.partnerId }, null, 100, 0))).toBeLessThan(
      600,
    )
    const view = await store.exchanges.find(flooded.partnerId, flooded.id)
    if (!view) throw new Error('the exchange is missing')
    const latest = (await fixture.listExecutions(flooded)).slice(-100).map(({ payinHash }) => payinHash)
    expect(view.executions.map(({ payinHash }) => payinHash)).toEqual(latest)
    const expectations = {
      confirmationsOf: () => null,
      secondsOf: () => null,
      secondsOfLeg: () => null,
      payerSecondsOf: () => null,
    }
    const response = JSON.stringify(
      presentStatus(view, {
        requiresMemo: () => false,
        chainIdOf: () => null,
        assetOf: () => null,
        trackingUrlOf: () => '',
        expectations,
      }),
    )
    expect(response.length).toBeLessThan(50_000)
  })

  test('pays a new deposit, and reverses a deposit that leaves the chain', async () => {
    fixture.payDeposit(flooded, SMALL)
    const [orphanedDeposit] = await fixture.database.query<{ id: string }>(
      `update deposits set block_height = null, block_hash = null, orphaned_at = clock_timestamp()
       where id = (select deposit_id from executions where exchange_id = $1 and status = 'failed' order by deposit_id offset 15000 limit 1) returning id`,
      [flooded.id],
    )
    const readLastStatus = async () => (await fixture.listExecutions(flooded)).at(-1)?.status
    for (let n = 0; n < 30 && (await readLastStatus()) !== 'finished'; n++) await fixture.mineBlocks(1)
    expect(await readLastStatus()).toBe('finished')
    expect(fixture.fakes.eth.listPayments(flooded.recipient?.address ?? '')).toHaveLength(1)
    expect(
      await fixture.database.query('select status, lost from deposits where id = $1', [orphanedDeposit?.id]),
    ).toEqual([{ status: 'reversed', lost: true }])
    // The exchange stays open because of the held executions.
    expect(await fixture.readStatus(flooded)).toBe('verifying')
  })

  test('reads no more rows per step while refunds wait in the queue', async () => {
    const exchange = await fixture.createExchange()
    const step = createStepExchange({ ...fixture.dependencies, store: createStore(openCountingDatabase(), payeeMacs) })
    const readsPerStep: number[] = []
    for (let n = 0; n < 4; n++) {
      for (let m = 0; m < WINDOW; m++) fixture.payDeposit(exchange, 2_900n)
      fixture.fakes.btc.mine()
      await fixture.runWatchers()
      fixture.fakes.btc.mine()
      await fixture.runWatchers()
      readsPerStep.push(await measureReads(() => step(exchange.id)))
    }
    expect((await fixture.listPayouts(exchange)).length).toBe(4 * WINDOW)
    expect(readsPerStep.at(-1)).toBeLessThan((readsPerStep[0] ?? 0) * 1.5)
    await fixture.expectBalanced()
  })

  test('requires the transaction hash of a deposit for a decision', async () => {
    const operate = createOperateExchanges(fixture.store)
    const note = { actor: 'anna', reason: 'looked at' }
    await expect(operate.decide(flooded.id, 'fail', null, note)).rejects.toThrow(/several deposits.*and perhaps more/s)
    const txHash = `verifying${flooded.id}${HELD}`
    expect(await operate.decide(flooded.id, 'fail', txHash, note)).toMatchObject({ txHash })
  })
})
