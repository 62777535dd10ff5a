import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())

test('ten thousand coins of dust do not stand before the coins that pay', async () => {
  // Older than every coin that is worth something, and more than one look takes.
  await fixture.database.query(
    `insert into coins (network, outpoint, address, branch, key_index, units, block_height, block_hash)
     select 'btc', 'dust' || n || ':0', 'd', 'deposit', 1, 600, 0, 'h' from generate_series(1, 10000) n`,
  )
  const exchange = await fixture.order({ from: eth, to: btc, fromUnits: ETHER })
  fixture.fakes.eth.pay(exchange.deposit.address, ETHER)
  await fixture.blocks(6)
  expect(await fixture.status(exchange)).toBe('finished')
  expect(fixture.fakes.btc.paidTo(exchange.recipient?.address ?? '')).toHaveLength(1)
  const spent = await fixture.database.query(
    "select 1 from coins where outpoint like 'dust%' and reserved_by is not null",
  )
  expect(spent).toEqual([])
})

/** Counted deposits at an exchange's address, as deep as anything; the n-th is worth n more than `units`. */
async function arrived({ id, deposit }: Exchange, name: string, count: number, units: bigint): Promise<void> {
  await fixture.database.query(
    `insert into deposits (network, identity, tx_hash, exchange_id, leg, address, key_index, asset_id, units, block_height, block_hash,
       required_confirmations, status, credited_units, credits)
     select 'eth', $2 || n, $2 || n, $1, 0, $3, 7, 'eth@eth', $4::numeric + n, 1, 'h', 2, 'credited', $4::numeric + n, 1
     from generate_series(1, $5::int) n`,
    [id, name, deposit.address, units, count],
  )
}

test('one sweep takes the hundred largest deposits of an address, and no dust', async () => {
  const deep = Array.from({ length: 12 }, () => fixture.fakes.eth.mine())
  expect(deep).toHaveLength(12)
  await fixture.watch()
  const exchange = await fixture.order({ from: eth, to: btc, fromUnits: ETHER })
  await arrived(exchange, 'dust', 10_000, 5n)
  await arrived(exchange, 'meant', 250, ETHER / 100n)
  const sweeps = () =>
    fixture.database.query<{ deposits: number; least: string; most: string; units: string; sum: string }>(
      `select count(*)::int as deposits, min(d.units) as least, max(d.units) as most, p.units, sum(d.units) as sum
       from payouts p join deposits d on d.swept_by = p.id where p.purpose = 'sweep' and d.exchange_id = $1 group by p.id order by p.created_at`,
      [exchange.id],
    )
  const at = (n: bigint) => (ETHER / 100n + n).toString()
  await fixture.services.sweep(fixture.fakes.eth.chain)
  expect(await sweeps()).toMatchObject([{ deposits: 100, least: at(151n), most: at(250n) }])
  await fixture.services.sweep(fixture.fakes.eth.chain)
  await fixture.services.sweep(fixture.fakes.eth.chain)
  // Nothing is left that is worth its own transfer.
  await fixture.services.sweep(fixture.fakes.eth.chain)
  const planned = await sweeps()
  expect(planned.map(({ deposits, least }) => [deposits, least])).toEqual([
    [100, at(151n)],
    [100, at(51n)],
    [50, at(1n)],
  ])
  // What arrives is what was counted, less what the transfer may cost.
  for (const { units, sum } of planned) {
    expect(BigInt(units)).toBeLessThan(BigInt(sum))
    expect(BigInt(sum) - BigInt(units)).toBeLessThan(ETHER / 100n)
  }
})
