import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { defaultSpreads, emptyBook } from '../../../src/core/domain/book.ts'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import type { ExchangeStatus } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import type { ScannedBlock, Transfer } from '../../../src/exchange/ports/chain.ts'
import type { AppendRules } from '../../../src/exchange/ports/store/chain-log.ts'
import { createBookSnapshot } from '../../../src/exchange/quotes/book-snapshot.ts'
import { createLog } from '../../../src/lib/log.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'
import { createFakeChain } from '../fake-chain.ts'
import { created, executionsOf, newExchange } from '../money-path.ts'

let app: TestDatabase
let store: ReturnType<typeof createStore>
let another: ReturnType<typeof createStore>
beforeAll(async () => {
  app = await openTestDatabase()
  store = createStore(app.database)
  another = createStore(app.another(4))
  await store.wallets.registerHotAddress('btc', 'btc-hot', 0)
})
afterAll(() => app.close())

const rules: AppendRules = {
  assetOf: (contract) => (contract === null ? btc.asset : null),
  requirements: () => ({ confirmations: 2, tag: null }),
  usesMemos: false,
  fundingConfirmations: 2,
  keepBlocks: 50,
  tracksUtxos: true,
}

/** Every block its own, unless a test says what it is made of. */
const block = (
  height: number,
  fork = 'a',
  transfers: readonly Transfer[] = [],
  transactions: ScannedBlock['transactions'] = [],
): ScannedBlock => ({
  height,
  hash: `${fork}${height}`,
  parentHash: `${fork}${height - 1}`,
  time: height,
  transfers,
  transactions: [
    ...transactions,
    ...transfers
      .filter(({ txHash }) => !transactions.some((one) => one.txHash === txHash))
      .map(({ txHash }) => ({ txHash, sender: null, nonce: null, spends: [] })),
  ],
})
const transfer = (address: string, txHash: string, vout = 0, units = 5n): Transfer => ({
  identity: `${txHash}:${vout}`,
  txHash,
  address,
  memo: null,
  contract: null,
  units,
  sender: null,
})
const append = (one: ScannedBlock, on = store) => on.transaction((tx) => tx.chainLog.append('btc', one, rules))
const rewind = (height: number, from: ScannedBlock, on = store) =>
  on.transaction((tx) => tx.chainLog.rewind('btc', height, from))
const deposits = () =>
  app.database.query<{ identity: string; block_hash: string | null; status: string; exchange_id: string | null }>(
    'select identity, block_hash, status, exchange_id from deposits order by id',
  )
const woken = async () =>
  (await app.database.query<{ key: string }>('delete from graphile_worker._private_jobs returning key'))
    .map(({ key }) => key)
    .sort()
const order = async () => created((await store.exchanges.create([newExchange()]))[0])

beforeEach(async () => {
  // Each test starts with nothing; the guards of what is append-only look away for it.
  const tables = ['journal', 'postings']
  const guards = (state: 'disable' | 'enable') =>
    tables.map((table) => `alter table ${table} ${state} trigger user`).join('; ')
  await app.database.query(
    `${guards('disable')}; truncate exchanges, deposits, coins, cursors, blocks, alarms, pauses cascade; ${guards('enable')}`,
  )
  await woken()
  await store.chainLog.begin('btc', block(0))
})

describe('blocks', () => {
  test('are appended in order, and only once', async () => {
    expect(await append(block(2))).toBe(false)
    expect(await Promise.all([append(block(1)), append(block(1), another)])).toEqual(
      expect.arrayContaining([true, false]),
    )
    expect(await append(block(2, 'b'))).toBe(false)
    expect(await store.chainLog.cursor('btc')).toEqual({ height: 1, hash: 'a1' })
    expect(await store.chainLog.blockHash('btc', 1)).toBe('a1')
  })

  test('bring what is ours and nothing else, and wake whom it concerns', async () => {
    const exchange = await order()
    const { address } = exchange.deposit
    await append(
      block(1, 'a', [
        transfer(address, 't1', 0),
        transfer(address, 't1', 1),
        transfer('a stranger', 't2'),
        transfer('btc-hot', 't3'),
      ]),
    )
    expect(await deposits()).toMatchObject([
      { identity: 't1:0', exchange_id: exchange.id },
      { identity: 't1:1', exchange_id: exchange.id },
      { identity: 't3:0', exchange_id: null },
    ])
    expect(await woken()).toEqual([`exchange:${exchange.id}`])
    await append(block(2))
    expect(await woken()).toEqual([`exchange:${exchange.id}`])
    expect(await app.database.query("select 1 from coins where network = 'btc'")).toHaveLength(3)
  })

  test('show at once what they bring, before anybody has stepped it', async () => {
    const exchange = await order()
    const { id, partnerId } = exchange
    const answered = async () => (await store.exchanges.find(partnerId, id))?.exchange.status
    const listed = async (status: ExchangeStatus) => {
      const rows = await store.exchanges.list({ partnerId, status }, null, 10, 0)
      expect(await store.exchanges.count({ partnerId, status })).toBe(rows.length)
      return rows.map((row) => [row.exchange.status, ...row.executions.map((execution) => execution.status)])
    }
    expect([await answered(), await listed('pending'), await listed('confirming')]).toEqual([
      'pending',
      [['pending']],
      [],
    ])
    await append(block(1, 'a', [transfer(exchange.deposit.address, 't1')]))
    expect([await answered(), await listed('pending'), await listed('confirming')]).toEqual([
      'confirming',
      [],
      [['confirming', 'confirming']],
    ])
  })

  test('D41 a one-time key that is paid twice is one deposit and one coin, and an alarm', async () => {
    const exchange = await order()
    const key = 'ab'.repeat(32)
    const paid = (txHash: string, units: bigint) => ({
      ...transfer(exchange.deposit.address, txHash, 0, units),
      identity: key,
    })
    await append(block(1, 'a', [paid('k1', 5n)]))
    await append(block(2, 'a', [paid('k2', 500n)]))
    expect(await deposits()).toEqual([
      expect.objectContaining({ identity: key, block_hash: 'a1', status: 'seen', exchange_id: exchange.id }),
    ])
    expect(await executionsOf(app.database, exchange)).toHaveLength(1)
    const coins = await app.database.query("select outpoint, units::text, block_hash from coins where network = 'btc'")
    expect(coins).toEqual([{ outpoint: key, units: '5', block_hash: 'a1' }])
    const alarms = await app.database.query<{ subject: string }>('select subject from alarms')
    expect(alarms.map(({ subject }) => subject)).toEqual([`burnt:btc:k2:${key}`])
  })

  test('D42 what its sender has locked waits for as many confirmations as the lock has blocks', async () => {
    const { deposit } = await order()
    const locks = [{}, { lockConfirmations: 1 }, { lockConfirmations: 4_000 }].map((lock, vout) => ({
      ...transfer(deposit.address, 'l1', vout),
      ...lock,
    }))
    await append(block(1, 'a', locks))
    const rows = await app.database.query<{ required: number }>(
      'select required_confirmations as required from deposits order by identity',
    )
    expect(rows.map(({ required }) => required)).toEqual([2, 2, 4_000])
    // Mined again in another block, which is further from where the lock ends.
    await rewind(0, block(1, 'a'))
    const again = locks.map((lock, vout) => (vout === 2 ? { ...lock, lockConfirmations: 4_001 } : lock))
    expect(await append({ ...block(1, 'b', again), parentHash: 'a0' })).toBe(true)
    const moved = await app.database.query<{ required: number }>(
      'select required_confirmations as required from deposits order by identity',
    )
    expect(moved.map(({ required }) => required)).toEqual([2, 2, 4_001])
  })

  test('name a coin by what the chain will call it when it is spent', async () => {
    const { deposit } = await order()
    const named: AppendRules = {
      ...rules,
      outpoint: ({ identity }, path) => `image of ${identity} at ${path.branch}/${path.index}`,
    }
    const paid = transfer(deposit.address, 'n1')
    await store.transaction((tx) => tx.chainLog.append('btc', block(1, 'a', [paid]), named))
    const [coin] = await app.database.query<{ outpoint: string }>('select outpoint from coins')
    expect(coin?.outpoint).toMatch(/^image of n1:0 at deposit\/\d+$/)
    const spending = { txHash: 'n2', sender: null, nonce: null, spends: [coin?.outpoint ?? ''] }
    await store.transaction((tx) => tx.chainLog.append('btc', block(2, 'a', [], [spending]), named))
    expect(await app.database.query('select spent_by from coins')).toEqual([{ spent_by: 'n2' }])
  })

  test('that are taken back leave nothing, and bring the same rows again', async () => {
    const exchange = await order()
    const paid = [transfer(exchange.deposit.address, 'u1')]
    for (const one of [block(1), block(2), block(3, 'a', paid), block(4)]) expect(await append(one)).toBe(true)
    await woken()
    expect(await rewind(2, block(4))).toBe(true)
    expect(await deposits()).toContainEqual(expect.objectContaining({ identity: 'u1:0', block_hash: null }))
    expect(await woken()).toEqual([`exchange:${exchange.id}`])
    expect((await store.chainLog.cursor('btc'))?.height).toBe(2)
    const before = (await deposits()).length
    await append({ ...block(3, 'c', paid), parentHash: 'a2' })
    expect(await deposits()).toContainEqual(
      expect.objectContaining({ identity: 'u1:0', block_hash: 'c3', status: 'seen' }),
    )
    expect((await deposits()).length).toBe(before)
    const views = await executionsOf(app.database, exchange)
    expect(views).toHaveLength(1)
  })

  test('are taken back by the watcher that knows them, and not by one who is late', async () => {
    await append(block(1))
    await append(block(2))
    expect(await rewind(0, block(1))).toBe(false)
    expect((await store.chainLog.cursor('btc'))?.height).toBe(2)
    const both = await Promise.all([rewind(1, block(2)), rewind(1, block(2), another)])
    expect(both.filter(Boolean)).toHaveLength(1)
  })

  test('scanned again from their beginning change nothing', async () => {
    const exchange = await order()
    const chain = [
      block(1, 'a', [transfer(exchange.deposit.address, 'v1')]),
      block(2, 'a', [transfer('btc-hot', 'v2')]),
      block(3, 'a', [], [{ txHash: 'v3', sender: null, nonce: null, spends: ['v2:0'] }]),
    ]
    for (const one of chain) await append(one)
    const look = async () => [
      await deposits(),
      await app.database.query(
        'select network, outpoint, address, branch, key_index, units, block_height, spent_by, spent_height, deposit_id from coins order by outpoint',
      ),
      (await executionsOf(app.database, exchange)).map(({ id, status }) => ({ id, status })),
    ]
    const before = await look()
    await rewind(0, block(3))
    for (const one of chain) await append(one)
    expect(await look()).toEqual(before)
  })

  test('that spend a coin of ours in the block that brought it leave it spent; a transaction that we did not sign stops the payouts', async () => {
    await append(
      block(
        1,
        'a',
        [transfer('btc-hot', 'w1')],
        [
          { txHash: 'w1', sender: null, nonce: null, spends: [] },
          { txHash: 'thief', sender: null, nonce: null, spends: ['w1:0'] },
        ],
      ),
    )
    expect(await app.database.query("select spent_by from coins where outpoint = 'w1:0'")).toEqual([
      { spent_by: 'thief' },
    ])
    expect((await store.alarms.list(10)).map(({ subject }) => subject)).toEqual(['intrusion:btc:thief'])
    expect(await store.pauses.list()).toMatchObject([{ scope: 'payouts:btc' }])
  })

  test('are kept for as long as they may be asked for', async () => {
    for (let height = 1; height <= 60; height++) await append(block(height))
    expect(await store.chainLog.blockHash('btc', 9)).toBeNull()
    expect(await store.chainLog.blockHash('btc', 10)).toBe('a10')
  })

  test('are begun by one watcher', async () => {
    const begun = await Promise.all([store.chainLog.begin('eth', block(7)), another.chainLog.begin('eth', block(9))])
    expect(begun.filter(Boolean)).toHaveLength(1)
    expect(await store.transaction((tx) => tx.chainLog.append('ltc', block(1), rules))).toBe(false)
  })
})

describe('a payment that is seen before its block', () => {
  test('is the time of its deposit, wherever in whichever block it stands', async () => {
    const exchange = await order()
    const { address } = exchange.deposit
    await store.chainLog.recordSightings('btc', [{ txHash: 'x1', address, memo: null }])
    expect((await store.steps.load(exchange.id))?.sighted).toBe(true)
    await app.database.query("update sightings set first_seen_at = first_seen_at - interval '10 minutes'")
    const [seen] = await app.database.query<{ at: Date }>(
      "select first_seen_at as at from sightings where tx_hash = 'x1'",
    )
    await append(block(1, 'a', [transfer(address, 'x1', 4)]))
    expect((await store.steps.load(exchange.id))?.sighted).toBe(false)
    await rewind(0, block(1))
    // As a log it stands at another place of another block (an account family's identity).
    await append({ ...block(1, 'd', [transfer(address, 'x1', 9)]), parentHash: 'a0' })
    const times = (await executionsOf(app.database, exchange)).map(({ deposit }) => deposit.firstSeenAt)
    expect(times).toEqual([seen?.at, seen?.at])
  })

  test('is forgotten when no node knows it, and seen again when one does', async () => {
    const exchange = await order()
    const sight = () =>
      store.chainLog.recordSightings('btc', [{ txHash: 'y1', address: exchange.deposit.address, memo: null }])
    await sight()
    await store.chainLog.recordLookup('btc', 'y1', true)
    expect((await store.steps.load(exchange.id))?.sighted).toBe(false)
    await sight()
    expect((await store.steps.load(exchange.id))?.sighted).toBe(true)
  })
})

describe('watchers of one network (I-27)', () => {
  test('three at once, through reorganisations, a lagging node and a stale head, record what is there', async () => {
    const fake = createFakeChain(eth.network)
    const books = createBookSnapshot(emptyBook(defaultSpreads))
    const deps = {
      books,
      assetOf: () => eth.asset,
      assetById: () => eth.asset,
      priceKeyOf: () => 'eth',
      log: createLog({ level: 'silent', pretty: false }),
    }
    const watchers = [store, another, store].map((one) => createRecordBlocks({ ...deps, store: one }))
    fake.mine(12)
    const exchange = created((await store.exchanges.create([newExchange({ from: eth, to: btc })]))[0])
    const look = () => Promise.all(watchers.map((record) => record(fake.chain)))
    await look()
    for (let n = 0; n < 20; n++) {
      if (n % 3 === 0) fake.pay(exchange.deposit.address, BigInt(n + 1))
      fake.mine(n % 4)
      if (n % 5 === 4) fake.reorg(1 + (n % 3))
      await look()
    }
    await look()
    const head = await fake.chain.reader.head()
    expect(await store.chainLog.cursor('eth')).toEqual(head)
    const mined = fake
      .paidTo(exchange.deposit.address)
      .map(({ identity }) => identity)
      .sort()
    const recorded = await app.database.query<{ identity: string }>(
      'select identity from deposits where exchange_id = $1 and block_hash is not null',
      [exchange.id],
    )
    expect(recorded.map(({ identity }) => identity).sort()).toEqual(mined)
    // A node that is behind: the common head lies lower, and nothing is taken back for it.
    const lower = await fake.chain.reader.block(head.height - 3)
    const lagging = {
      ...fake.chain,
      reader: {
        ...fake.chain.reader,
        head: async () => ({ height: head.height - 3, hash: lower?.hash ?? '' }),
        agrees: async ({ height }: { height: number }) => height <= head.height - 3,
      },
    }
    await Promise.all(watchers.map((record) => record(lagging)))
    expect(await store.chainLog.cursor('eth')).toEqual(head)
    // A head that was read before a reorganisation: what is there now decides.
    const stale = {
      ...fake.chain,
      reader: { ...fake.chain.reader, head: async () => ({ height: head.height, hash: 'orphaned' }) },
    }
    await Promise.all(watchers.map((record) => record(stale)))
    expect(await store.chainLog.cursor('eth')).toEqual(head)
  })
})
