import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWalletStore } from '../../../src/adapters/postgres/exchange/wallets.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

test('a payout selects spendable outputs despite 10 000 older dust outputs', async () => {
  // Older than every other output, and more than one query returns.
  await fixture.database.query(
    `insert into coins (network, outpoint, address, branch, key_index, units, block_height, block_hash)
     select 'btc', 'dust' || n || ':0', 'd', 'deposit', 1, 600, 0, 'h' from generate_series(1, 10000) n`,
  )
  const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
  fixture.fakes.eth.pay(exchange.deposit.address, ETHER)
  await fixture.mineBlocks(6)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  expect(fixture.fakes.btc.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
  const reservedDust = await fixture.database.query(
    "select 1 from coins where outpoint like 'dust%' and reserved_by is not null",
  )
  expect(reservedDust).toEqual([])
})

/** Inserts final, credited deposits of the exchange. The n-th has n units more than `units`. */
async function insertDeposits({ id, deposit }: Exchange, name: string, count: number, units: bigint): Promise<void> {
  await fixture.database.query(
    `insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, block_height, block_hash,
       required_confirmations, status, credited_units, credits)
     select 'eth', $2 || n, $2 || n, $1, 0, $3, 7, 'eth@eth', $4::numeric + n, 1, 'h', 2, 'credited', $4::numeric + n, 1
     from generate_series(1, $5::int) n`,
    [id, name, deposit.address, units, count],
  )
}

test('a sweep takes the 100 largest deposits of an address, and no dust', async () => {
  const minedBlocks = Array.from({ length: 12 }, () => fixture.fakes.eth.mine())
  expect(minedBlocks).toHaveLength(12)
  await fixture.runWatchers()
  const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
  await insertDeposits(exchange, 'dust', 10_000, 5n)
  await insertDeposits(exchange, 'meant', 250, ETHER / 100n)
  // The rows name the key 7.
  for (const address of [exchange.deposit.address, 'eth-deposit-7']) fixture.fakes.eth.pay(address, 3n * ETHER)
  fixture.fakes.eth.mine()
  const listSweeps = () =>
    fixture.database.query<{ deposits: number; least: string; most: string; units: string; sum: string }>(
      `select count(*)::int as deposits, min(d.units) as least, max(d.units) as most, p.units, sum(d.units) as sum
       from payouts p join deposits d on d.swept_by = p.id where p.purpose = 'sweep' and d.exchange_id = $1 group by p.id order by p.created_at`,
      [exchange.id],
    )
  const unitsOf = (n: bigint) => (ETHER / 100n + n).toString()
  await fixture.services.sweep(fixture.fakes.eth.chain)
  expect(await listSweeps()).toMatchObject([{ deposits: 100, least: unitsOf(151n), most: unitsOf(250n) }])
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.services.sweep(fixture.fakes.eth.chain)
  // The other deposits are worth less than the fee of a sweep.
  await fixture.services.sweep(fixture.fakes.eth.chain)
  const sweeps = await listSweeps()
  expect(sweeps.map(({ deposits, least }) => [deposits, least])).toEqual([
    [100, unitsOf(151n)],
    [100, unitsOf(51n)],
    [50, unitsOf(1n)],
  ])
  // A sweep transfers the sum of its deposits less the fee limit.
  for (const { units, sum } of sweeps) {
    expect(BigInt(units)).toBeLessThan(BigInt(sum))
    expect(BigInt(sum) - BigInt(units)).toBeLessThan(ETHER / 100n)
  }
})

// M25: each run read all unswept deposits of the network. Those not worth a sweep stay for ever.
test('M25: a sweep run reads few of 20 000 dust deposits, and each of them once', async () => {
  const { database, fakes, services } = fixture
  const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })
  await database.query(
    `insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, block_height, block_hash,
       required_confirmations, status, credited_units, credits)
     select 'eth', 'many' || n, 'many' || n, $1, 0, 'dusty-' || n % 100, 8, 'eth@eth', 5, 1, 'h', 2, 'credited', 5, 1
     from generate_series(1, 20000) n`,
    [exchange.id],
  )
  await database.query('analyze deposits')
  const countReads = () =>
    database.transaction(async (tx) => {
      const readRows = async () => {
        const [row] = await tx.query<{ rows: number }>(
          "select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'deposits'",
        )
        return row?.rows ?? 0
      }
      // The counters of the connection include its earlier transactions.
      const before = await readRows()
      const due = await createWalletStore(tx).listSweepable('eth', 4, 20)
      return { addresses: due.length, rows: (await readRows()) - before }
    })
  // At most 20 new addresses and 20 that were postponed, with their 100 largest deposits.
  const first = await countReads()
  expect(first.addresses).toBeGreaterThanOrEqual(20)
  expect(first.rows).toBeLessThanOrEqual(first.addresses * 100)
  for (let n = 0; n < 6; n++) await services.sweep(fakes.eth.chain)
  expect(await countReads()).toEqual({ addresses: 0, rows: 0 })
  // A deposit that is worth a sweep is found among the dust of its address.
  await database.query("update deposits set credited_units = $1 where identity = 'many7'", [3n * ETHER])
  await database.query("update deposits set block_height = 2 where identity = 'many7'")
  expect((await countReads()).rows).toBeLessThanOrEqual(100)
  fakes.eth.pay('eth-deposit-8', 3n * ETHER)
  fakes.eth.pay('dusty-7', 3n * ETHER)
  fakes.eth.mine()
  await services.sweep(fakes.eth.chain)
  const swept = await database.query(
    "select d.identity from deposits d join payouts p on p.id = d.swept_by where d.address = 'dusty-7'",
  )
  expect(swept).toEqual([{ identity: 'many7' }])
})
