import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutputStore } from '../../../src/adapters/postgres/exchange/outputs.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { defaultSpreads, emptyBook } from '../../../src/core/domain/book.ts'
import { fundingEntry } from '../../../src/core/domain/ledger/entries.ts'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import type { Exchange, ExchangeStatus } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import type { ScannedBlock, Transfer } from '../../../src/exchange/ports/chain.ts'
import type { AppendRules } from '../../../src/exchange/ports/store/chain-log.ts'
import { createBookSnapshot } from '../../../src/exchange/quotes/book-snapshot.ts'
import { guardDefaults, requiredConfirmations, tierUsd } from '../../../src/exchange/settings.ts'
import { present } from '../../../src/lib/assert.ts'
import { createLog } from '../../../src/lib/log.ts'
import { openTestDatabase, type TestDatabase } from '../../adapters/postgres/database.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { createFakeChain } from '../fake-chain.ts'
import { ETHER, type ExchangeOptions, listExecutions, makeNewExchange, requireCreated } from '../money-path.ts'

let app: TestDatabase
let store: ReturnType<typeof createStore>
let secondStore: ReturnType<typeof createStore>
beforeAll(async () => {
  app = await openTestDatabase()
  store = createStore(app.database, payeeMacs)
  secondStore = createStore(app.another(4), payeeMacs)
  await store.wallets.registerHotAddress('btc', 'btc-hot', 0)
  await store.wallets.registerAssets(['eth@eth'])
  await store.ledger.post(fundingEntry('1', 1, 'eth@eth', 1_000n * ETHER))
})
afterAll(() => app.close())

const rules: AppendRules = {
  assetOf: (contract) => (contract === null ? btc.asset : null),
  requirements: () => ({ confirmations: 2, tag: null }),
  inFlightBlocks: 8,
  areFundingsUnclaimed: false,
  fundingConfirmations: 2,
  keepBlocks: 50,
  tracksUtxos: true,
}

/** A block whose hash is fork and height. Transfers without a transaction in `transactions` get one. */
const makeBlock = (
  height: number,
  fork = 'a',
  transfers: readonly Transfer[] = [],
  transactions: ScannedBlock['transactions'] = [],
): ScannedBlock => ({
  height,
  hash: `${fork}${height}`,
  parentHash: `${fork}${height - 1}`,
  // In the future: what counts is when the store records it.
  time: Math.floor(Date.now() / 1_000) + 60 + height,
  transfers,
  transactions: [
    ...transactions,
    ...transfers
      .filter(({ txHash }) => !transactions.some((one) => one.txHash === txHash))
      .map(({ txHash }) => ({ txHash, sender: null, nonce: null, spends: [] })),
  ],
})
const makeTransfer = (address: string, txHash: string, vout = 0, units = 5n): Transfer => ({
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
const readDeposits = () =>
  app.database.query<{ identity: string; block_hash: string | null; status: string; exchange_id: string | null }>(
    'select identity, block_hash, status, exchange_id from deposits order by id',
  )
const takeJobKeys = async () =>
  (await app.database.query<{ key: string }>('delete from graphile_worker._private_jobs returning key'))
    .map(({ key }) => key)
    .sort()
const createExchange = async (options: ExchangeOptions = {}) =>
  requireCreated((await store.exchanges.create([makeNewExchange(options)]))[0])

beforeEach(async () => {
  // Each test starts with empty tables. Append-only tables can be truncated only while their triggers are disabled.
  const tables = ['journal', 'postings']
  const switchTriggers = (state: 'disable' | 'enable') =>
    tables.map((table) => `alter table ${table} ${state} trigger user`).join('; ')
  await app.database.query(
    `${switchTriggers('disable')}; truncate exchanges, deposits, strays, coins, cursors, blocks, alarms, pauses cascade; ${switchTriggers('enable')}`,
  )
  await takeJobKeys()
  await store.chainLog.begin('btc', makeBlock(0))
})

describe('recorded blocks', () => {
  test('are appended in order, each once', async () => {
    expect(await append(makeBlock(2))).toBe(false)
    expect(await Promise.all([append(makeBlock(1)), append(makeBlock(1), secondStore)])).toEqual(
      expect.arrayContaining([true, false]),
    )
    expect(await append(makeBlock(2, 'b'))).toBe(false)
    expect(await store.chainLog.cursor('btc')).toEqual({ height: 1, hash: 'a1' })
    expect(await store.chainLog.blockHash('btc', 1)).toBe('a1')
  })

  test('add transfers to our addresses only, and queue a job for their exchange', async () => {
    const exchange = await createExchange()
    const { address } = exchange.deposit
    await append(
      makeBlock(1, 'a', [
        makeTransfer(address, 't1', 0),
        makeTransfer(address, 't1', 1),
        makeTransfer('a stranger', 't2'),
        makeTransfer('btc-hot', 't3'),
      ]),
    )
    expect(await readDeposits()).toMatchObject([
      { identity: 't1:0', exchange_id: exchange.id },
      { identity: 't1:1', exchange_id: exchange.id },
      { identity: 't3:0', exchange_id: null },
    ])
    expect(await takeJobKeys()).toEqual([`exchange:${exchange.id}`])
    await append(makeBlock(2))
    expect(await takeJobKeys()).toEqual([`exchange:${exchange.id}`])
    expect(await app.database.query("select 1 from coins where network = 'btc'")).toHaveLength(3)
  })

  test('M5: with 20,000 transfers of an unlisted token add one row per address and one alarm, and lose no deposit', async () => {
    const exchange = await createExchange()
    const { address } = exchange.deposit
    const strays = Array.from({ length: 20_000 }, (_, n) => ({
      ...makeTransfer(n % 2 === 0 ? address : 'btc-hot', 'spam', n, 3n),
      contract: n < 19_000 ? '0xspam' : '0xother',
    }))
    await append(makeBlock(1, 'a', [...strays, makeTransfer(address, 't1')]))
    await append(makeBlock(2, 'a', strays.slice(0, 4)))
    expect(await readDeposits()).toMatchObject([{ identity: 't1:0', exchange_id: exchange.id }])
    const rows = await app.database.query(
      'select contract, address, transfers::int, units::int, last_height::int from strays order by 1, 2',
    )
    expect(rows).toEqual([
      { contract: '0xother', address, transfers: 500, units: 1_500, last_height: 1 },
      { contract: '0xother', address: 'btc-hot', transfers: 500, units: 1_500, last_height: 1 },
      { contract: '0xspam', address, transfers: 9_502, units: 28_506, last_height: 2 },
      { contract: '0xspam', address: 'btc-hot', transfers: 9_502, units: 28_506, last_height: 2 },
    ])
    const alarms = await app.database.query<{ subject: string }>('select subject from alarms order by 1')
    expect(alarms.map(({ subject }) => subject)).toEqual(['stray:btc'])
  })

  test('M5: with transfers of 5,000 unlisted contracts add at most 1,001 rows and one alarm', async () => {
    const exchange = await createExchange()
    const { address } = exchange.deposit
    const strays = Array.from({ length: 5_000 }, (_, n) => ({
      ...makeTransfer(address, 'spam', n, 3n),
      contract: `0x${n.toString().padStart(4, '0')}`,
    }))
    await append(makeBlock(1, 'a', [...strays.slice(0, 2_500), makeTransfer(address, 't1')]))
    await append(makeBlock(2, 'a', strays))
    expect(await readDeposits()).toMatchObject([{ identity: 't1:0', exchange_id: exchange.id }])
    const rows = await app.database.query<{ contract: string; transfers: number; units: number }>(
      'select contract, transfers::int, units::int from strays order by contract',
    )
    expect(rows).toHaveLength(1_001)
    expect(rows.slice(0, 1_000)).toEqual(
      strays.slice(0, 1_000).map(({ contract }) => ({ contract, transfers: 2, units: 6 })),
    )
    // 2,500 + 5,000 transfers, without the 2 × 1,000 of the first contracts.
    expect(rows[1_000]).toEqual({ contract: 'other contracts', transfers: 5_500, units: 0 })
    const alarms = await app.database.query<{ subject: string }>('select subject from alarms')
    expect(alarms.map(({ subject }) => subject)).toEqual(['stray:btc'])
  })

  test('M15: ask for the depth of what a partner has in flight together: splitting does not defeat the tiers', async () => {
    const mine = [await createExchange(), await createExchange()]
    const other = requireCreated((await store.exchanges.create([makeNewExchange({ partnerId: randomUUID() })]))[0])
    // One unit is one dollar. Tiers of 2 confirmations: ×1 up to $1,000, ×2 up to $50,000, ×4 above; ten times that in flight.
    const tiered: AppendRules = {
      ...rules,
      requirements: (_asset, units, inFlight) => {
        const usd = (sum: bigint) => sum * 10n ** 12n
        const total = inFlight.reduce((sum, one) => sum + one.units, 0n)
        return { confirmations: requiredConfirmations(2, 100, tierUsd(usd(units), usd(total), 10)), tag: null }
      },
    }
    const append = (one: ScannedBlock) => store.transaction((tx) => tx.chainLog.append('btc', one, tiered))
    const pay = (count: number, txHash: string) =>
      Array.from({ length: count }, (_, n) => makeTransfer(mine[n % 2]?.deposit.address ?? '', txHash, n, 999n))
    const readDepths = async (txHash: string) =>
      (
        await app.database.query<{ depth: number }>(
          'select distinct required_confirmations as depth from deposits where tx_hash = $1 order by 1',
          [txHash],
        )
      ).map(({ depth }) => depth)
    // 10 × $999 are below $10,000; 10 more in the next block are above it; 1,000 in one block are above $500,000.
    await append(makeBlock(1, 'a', pay(10, 't1')))
    await append(makeBlock(2, 'a', [...pay(10, 't2'), makeTransfer(other.deposit.address, 't3', 0, 999n)]))
    await append(makeBlock(3, 'a', pay(1_000, 't4')))
    expect(await Promise.all(['t1', 't2', 't3', 't4'].map(readDepths))).toEqual([[2], [4], [2], [8]])
    // Eight blocks later nothing of this is in flight.
    for (let height = 4; height < 11; height++) await append(makeBlock(height))
    await append(makeBlock(11, 'a', pay(1, 't5')))
    expect(await readDepths('t5')).toEqual([2])
  })

  test('M5: with thousands of deposits keep each of them, in the order of the block', async () => {
    const exchange = await createExchange()
    const transfers = Array.from({ length: 5_500 }, (_, n) => makeTransfer(exchange.deposit.address, 't1', n))
    await append(makeBlock(1, 'a', transfers))
    expect((await readDeposits()).map(({ identity }) => identity)).toEqual(transfers.map(({ identity }) => identity))
    const [opened] = await app.database.query<{ executions: string; events: string; coins: string }>(
      `select (select count(*) from executions) as executions, (select count(*) from coins) as coins,
         (select count(*) from events where event = 'deposit seen') as events`,
    )
    expect(opened).toEqual({ executions: '5500', events: '5500', coins: '5500' })
  })

  // M5: three statements per transfer, one after the other: a block of thousands took minutes.
  describe('in statements of the database', () => {
    const countStatements = async (block: ScannedBlock) => {
      let statements = 0
      const counting: typeof app.database = {
        ...app.database,
        transaction: (work) =>
          app.database.transaction((tx) =>
            work({
              ...tx,
              query: (text, values, name) => {
                statements++
                return tx.query(text, values, name)
              },
            }),
          ),
      }
      await append(block, createStore(counting, payeeMacs))
      return statements
    }

    test('M5: take as few for thousands of deposits as for two', async () => {
      const { deposit } = await createExchange()
      const makeDeposits = (height: number, deposits: number) =>
        makeBlock(
          height,
          'a',
          Array.from({ length: deposits }, (_, n) => makeTransfer(deposit.address, `t${height}`, n)),
        )
      const ofTwo = await countStatements(makeDeposits(1, 2))
      expect(ofTwo).toBeGreaterThan(5)
      expect(await countStatements(makeDeposits(2, 3_000))).toBe(ofTwo)
    })

    test('T56: take nine, without begin and commit, if no transfer is ours (docs/guides/operate.md)', async () => {
      const transfers = [makeTransfer('a stranger', 't1'), makeTransfer('another', 't2')]
      expect(await countStatements(makeBlock(1, 'a', transfers))).toBe(9)
    })
  })

  test('change the visible status of an exchange before its first step', async () => {
    const exchange = await createExchange()
    const { id, partnerId } = exchange
    const findStatus = async () => (await store.exchanges.find(partnerId, id))?.exchange.status
    const listStatuses = async (status: ExchangeStatus) => {
      const rows = await store.exchanges.list({ partnerId, status }, null, 10, 0)
      expect(await store.exchanges.count({ partnerId, status })).toBe(rows.length)
      return rows.map((row) => [row.exchange.status, ...row.executions.map((execution) => execution.status)])
    }
    expect([await findStatus(), await listStatuses('pending'), await listStatuses('confirming')]).toEqual([
      'pending',
      [['pending']],
      [],
    ])
    await append(makeBlock(1, 'a', [makeTransfer(exchange.deposit.address, 't1')]))
    expect([await findStatus(), await listStatuses('pending'), await listStatuses('confirming')]).toEqual([
      'confirming',
      [],
      [['confirming', 'confirming']],
    ])
  })

  test('record a one-time key that is paid twice as one deposit and one UTXO, with an alarm (D41)', async () => {
    const exchange = await createExchange()
    const key = 'ab'.repeat(32)
    const payKey = (txHash: string, units: bigint) => ({
      ...makeTransfer(exchange.deposit.address, txHash, 0, units),
      identity: key,
    })
    await append(makeBlock(1, 'a', [payKey('k1', 5n)]))
    await append(makeBlock(2, 'a', [payKey('k2', 500n)]))
    expect(await readDeposits()).toEqual([
      expect.objectContaining({ identity: key, block_hash: 'a1', status: 'seen', exchange_id: exchange.id }),
      // What the larger output has in addition: no deposit of the exchange, and credited only by a release.
      { identity: `${key}:k2`, block_hash: 'a2', status: 'rejected', exchange_id: null },
    ])
    expect(await listExecutions(app.database, exchange)).toHaveLength(1)
    const utxos = await app.database.query("select outpoint, units::text, block_hash from coins where network = 'btc'")
    expect(utxos).toEqual([{ outpoint: key, units: '5', block_hash: 'a1' }])
    const alarms = await app.database.query<{ subject: string }>('select subject from alarms')
    expect(alarms.map(({ subject }) => subject)).toEqual([`burnt:btc:k2:${key}`])
  })

  // The wallet program knows the larger output, whose units are in no account.
  test.each([
    ['is not spent by payouts if the second payment is larger', 6n, 0n],
    ['is spent if the second payment is not larger', 5n, 5n],
  ])('D41: the output of a one-time key that one block pays twice %s', async (_title, units, freeUnits) => {
    const { database } = app
    const key = 'cd'.repeat(32)
    const payKey = (txHash: string, paid: bigint) => ({ ...makeTransfer('btc-hot', txHash, 0, paid), identity: key })
    await append(makeBlock(1, 'a', [payKey('k1', 5n), payKey('k2', units)]))
    await database.query("update deposits set status = 'credited', credited_units = units")
    expect(await createOutputStore(database).freeUnits('btc')).toBe(freeUnits)
    const isQuarantined = freeUnits === 0n
    const alarm = await store.alarms.find(`burnt:btc:k2:${key}`)
    expect(alarm?.detail['quarantined']).toBe(isQuarantined ? key : undefined)
    expect(await store.transaction((tx) => tx.transactions.releaseQuarantined('btc', key))).toBe(isQuarantined)
    expect(await createOutputStore(database).freeUnits('btc')).toBe(5n)
  })

  describe('D41: a one-time key that was paid again with more', () => {
    const key = 'ef'.repeat(32)
    const note = { actor: 'anna', reason: 'the second has its confirmations' }
    const payKey = (txHash: string, paid: bigint) => ({ ...makeTransfer('btc-hot', txHash, 0, paid), identity: key })
    const readPosition = async () => {
      const positions = await store.reconciliation.positions('btc', 'btc@btc')
      const { utxoUnits, low, high } = present(positions[0], 'the position of bitcoin')
      return { utxoUnits, low, high }
    }
    const readUnclaimed = async () => -(await store.ledger.balance('liability:unclaimed', 'btc@btc'))
    let operate: ReturnType<typeof createOperatePayouts>
    let heldBefore: bigint
    beforeEach(async () => {
      operate = createOperatePayouts(store)
      heldBefore = await store.ledger.balance('asset:wallet', 'btc@btc')
      await append(makeBlock(1, 'a', [payKey('k1', 5n)]))
      const [row] = await app.database.query<{ id: string }>(
        "update deposits set status = 'credited', credited_units = units, credits = 1 returning id",
      )
      await store.ledger.post(fundingEntry(row?.id ?? '', 1, 'btc@btc', 5n))
      await append(makeBlock(2, 'a', [payKey('k2', 12n)]))
    })

    test('is released once the larger payment is confirmed: the rest is unclaimed, and ledger and wallet agree', async () => {
      await append(makeBlock(3, 'a', [payKey('k3', 9n)]))
      expect(await operate.releaseInput('btc', key, note)).toMatchObject({ assetId: 'btc@btc', units: 7n })
      const held = heldBefore + 12n
      expect(await readPosition()).toEqual({ utxoUnits: 12n, low: held, high: held })
      expect(await createOutputStore(app.database).freeUnits('btc')).toBe(12n)
      const [{ depositId } = { depositId: '' }] = await store.operator.listUnclaimed(10)
      const unclaimedBefore = await readUnclaimed()
      expect(await operate.claim(depositId, note)).toMatchObject({ units: 7n })
      expect(unclaimedBefore - (await readUnclaimed())).toBe(7n)
      expect(await store.operator.listUnclaimed(10)).toEqual([])
    })

    test('stays in quarantine while the larger payment has too few confirmations, or a transaction spends one of the two', async () => {
      await expect(operate.releaseInput('btc', key, note)).rejects.toThrow('too few confirmations')
      await append(makeBlock(3))
      const id = randomUUID()
      await app.database.query(
        `insert into transactions (id, network, wallet, branch, key_index, conflict_key, resources)
         values ($1, 'btc', 'btc-hot', 'hot', 0, $2, '{}')`,
        [id, key],
      )
      await app.database.query('update coins set reserved_by = $1', [id])
      await expect(operate.releaseInput('btc', key, note)).rejects.toThrow('a transaction of ours spends output')
      expect(await createOutputStore(app.database).freeUnits('btc')).toBe(0n)
      expect(await store.operator.listUnclaimed(10)).toEqual([])
    })

    test('is released with the recorded units if the larger payment has left the chain, and with more if it returns', async () => {
      await rewind(1, makeBlock(2))
      expect(await operate.releaseInput('btc', key, note)).toBeNull()
      expect(await createOutputStore(app.database).freeUnits('btc')).toBe(5n)
      await append({ ...makeBlock(2, 'b', [payKey('k2', 12n)]), parentHash: 'a1' })
      expect(await createOutputStore(app.database).freeUnits('btc')).toBe(0n)
      await append(makeBlock(3, 'b'))
      expect(await operate.releaseInput('btc', key, note)).toMatchObject({ units: 7n })
    })
  })

  test('require as many confirmations of a locked output as its lock has blocks (D42)', async () => {
    const { deposit } = await createExchange()
    const locks = [{}, { lockConfirmations: 1 }, { lockConfirmations: 4_000 }].map((lock, vout) => ({
      ...makeTransfer(deposit.address, 'l1', vout),
      ...lock,
    }))
    await append(makeBlock(1, 'a', locks))
    const rows = await app.database.query<{ required: number }>(
      'select required_confirmations as required from deposits order by identity',
    )
    expect(rows.map(({ required }) => required)).toEqual([2, 2, 4_000])
    // Mined again in another block, with more blocks until the lock ends.
    await rewind(0, makeBlock(1, 'a'))
    const minedAgain = locks.map((lock, vout) => (vout === 2 ? { ...lock, lockConfirmations: 4_001 } : lock))
    expect(await append({ ...makeBlock(1, 'b', minedAgain), parentHash: 'a0' })).toBe(true)
    const updatedRows = await app.database.query<{ required: number }>(
      'select required_confirmations as required from deposits order by identity',
    )
    expect(updatedRows.map(({ required }) => required)).toEqual([2, 2, 4_001])
  })

  test('store a UTXO under the id that its spending transaction will name', async () => {
    const { deposit } = await createExchange()
    const rulesWithImages: AppendRules = {
      ...rules,
      outpoint: ({ identity }, path) => `image of ${identity} at ${path.branch}/${path.index}`,
    }
    const payment = makeTransfer(deposit.address, 'n1')
    await store.transaction((tx) => tx.chainLog.append('btc', makeBlock(1, 'a', [payment]), rulesWithImages))
    const [utxo] = await app.database.query<{ outpoint: string }>('select outpoint from coins')
    expect(utxo?.outpoint).toMatch(/^image of n1:0 at deposit\/\d+$/)
    const spending = { txHash: 'n2', sender: null, nonce: null, spends: [utxo?.outpoint ?? ''] }
    await store.transaction((tx) => tx.chainLog.append('btc', makeBlock(2, 'a', [], [spending]), rulesWithImages))
    expect(await app.database.query('select spent_by from coins')).toEqual([{ spent_by: 'n2' }])
  })

  test('lose their deposits when they are rewound; new blocks fill the same rows again', async () => {
    const exchange = await createExchange()
    const payments = [makeTransfer(exchange.deposit.address, 'u1')]
    for (const one of [makeBlock(1), makeBlock(2), makeBlock(3, 'a', payments), makeBlock(4)])
      expect(await append(one)).toBe(true)
    await takeJobKeys()
    expect(await rewind(2, makeBlock(4))).toBe(true)
    expect(await readDeposits()).toContainEqual(expect.objectContaining({ identity: 'u1:0', block_hash: null }))
    expect(await takeJobKeys()).toEqual([`exchange:${exchange.id}`])
    expect((await store.chainLog.cursor('btc'))?.height).toBe(2)
    const countBefore = (await readDeposits()).length
    await append({ ...makeBlock(3, 'c', payments), parentHash: 'a2' })
    expect(await readDeposits()).toContainEqual(
      expect.objectContaining({ identity: 'u1:0', block_hash: 'c3', status: 'seen' }),
    )
    expect((await readDeposits()).length).toBe(countBefore)
    const executions = await listExecutions(app.database, exchange)
    expect(executions).toHaveLength(1)
  })

  test('are rewound once, by a watcher that expects the current head', async () => {
    await append(makeBlock(1))
    await append(makeBlock(2))
    expect(await rewind(0, makeBlock(1))).toBe(false)
    expect((await store.chainLog.cursor('btc'))?.height).toBe(2)
    const outcomes = await Promise.all([rewind(1, makeBlock(2)), rewind(1, makeBlock(2), secondStore)])
    expect(outcomes.filter(Boolean)).toHaveLength(1)
  })

  test('give the same rows when they are rewound and recorded again', async () => {
    const exchange = await createExchange()
    const chain = [
      makeBlock(1, 'a', [makeTransfer(exchange.deposit.address, 'v1')]),
      makeBlock(2, 'a', [makeTransfer('btc-hot', 'v2')]),
      makeBlock(3, 'a', [], [{ txHash: 'v3', sender: null, nonce: null, spends: ['v2:0'] }]),
    ]
    for (const one of chain) await append(one)
    const readState = async () => [
      await readDeposits(),
      await app.database.query(
        'select network, outpoint, address, branch, key_index, units, block_height, spent_by, spent_height, deposit_id from coins order by outpoint',
      ),
      (await listExecutions(app.database, exchange)).map(({ id, status }) => ({ id, status })),
    ]
    const stateBefore = await readState()
    await rewind(0, makeBlock(3))
    for (const one of chain) await append(one)
    expect(await readState()).toEqual(stateBefore)
  })

  test('mark a UTXO as spent by a transaction of the same block; a spend that we did not sign pauses the payouts', async () => {
    await append(
      makeBlock(
        1,
        'a',
        [makeTransfer('btc-hot', 'w1')],
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

  test('M23: raise the alarm and pause the payouts while a signature is in progress for longer than a lock may', async () => {
    const mayCommit = Promise.withResolvers<void>()
    const hasRead = Promise.withResolvers<void>()
    const signing = secondStore.transaction(async (tx) => {
      await tx.pauses.active(['payouts:btc'])
      hasRead.resolve()
      await mayCommit.promise
    })
    await hasRead.promise
    try {
      await append(makeBlock(1, 'a', [makeTransfer('btc-hot', 'w1')]))
      const theft = { txHash: 'thief', sender: null, nonce: null, spends: ['w1:0'] }
      expect(await append(makeBlock(2, 'a', [], [theft]))).toBe(true)
      expect((await store.alarms.list(10)).map(({ subject }) => subject)).toEqual(['intrusion:btc:thief'])
      expect(await store.pauses.list()).toMatchObject([{ scope: 'payouts:btc' }])
    } finally {
      mayCommit.resolve()
      await signing
    }
  })

  test('spend a UTXO by a transaction that a signer released and a restored database lacks, without a pause', async () => {
    await app.database.query(
      `insert into forgotten_payouts (network, tx_hash, payout_id, asset_id, address, units, released_at)
       values ('btc', 'released', 'lost', 'btc@btc', 'customer', 5, clock_timestamp())`,
    )
    const released = { txHash: 'released', sender: 'btc-hot', nonce: 0, spends: ['w1:0'] }
    await append(makeBlock(1, 'a', [makeTransfer('btc-hot', 'w1')]))
    await append(makeBlock(2, 'a', [], [released]))
    expect(await app.database.query("select spent_by from coins where outpoint = 'w1:0'")).toEqual([
      { spent_by: 'released' },
    ])
    expect(await store.alarms.list(10)).toEqual([])
    expect(await store.pauses.list()).toEqual([])
  })

  test('are stored for the newest 50 heights', async () => {
    for (let height = 1; height <= 60; height++) await append(makeBlock(height))
    expect(await store.chainLog.blockHash('btc', 9)).toBeNull()
    expect(await store.chainLog.blockHash('btc', 10)).toBe('a10')
  })

  test('start once for concurrent watchers, and are not appended before the start', async () => {
    const outcomes = await Promise.all([
      store.chainLog.begin('eth', makeBlock(7)),
      secondStore.chainLog.begin('eth', makeBlock(9)),
    ])
    expect(outcomes.filter(Boolean)).toHaveLength(1)
    expect(await store.transaction((tx) => tx.chainLog.append('ltc', makeBlock(1), rules))).toBe(false)
  })
})

describe('an unconfirmed payment', () => {
  const fixedRate = () => createExchange({ flow: 'fixed-rate', fromUnits: 5n })
  const firm = { stopsClock: true, spends: ['input:0'], seenAt: null }

  test('sets the first-seen time of its deposit, at any position of any block', async () => {
    const exchange = await fixedRate()
    const { address } = exchange.deposit
    await store.chainLog.recordSightings('btc', [{ txHash: 'x1', address, memo: null, units: 5n }])
    expect(await store.chainLog.listSightingsToInspect('btc', 10)).toEqual(['x1'])
    await store.chainLog.recordInspection('btc', 'x1', firm)
    expect(await store.chainLog.listSightingsToInspect('btc', 10)).toEqual([])
    expect((await store.steps.load(exchange.id))?.sighted).toBe(true)
    await app.database.query("update sightings set first_seen_at = first_seen_at - interval '10 minutes'")
    const [sighting] = await app.database.query<{ at: Date }>(
      "select first_seen_at as at from sightings where tx_hash = 'x1'",
    )
    await append(makeBlock(1, 'a', [makeTransfer(address, 'x1', 4)]))
    expect((await store.steps.load(exchange.id))?.sighted).toBe(false)
    await rewind(0, makeBlock(1))
    // The same log at another position of another block, which is another identity in an account family.
    await append({ ...makeBlock(1, 'd', [makeTransfer(address, 'x1', 9)]), parentHash: 'a0' })
    const times = (await listExecutions(app.database, exchange)).map(({ deposit }) => deposit.firstSeenAt)
    expect(times).toEqual([sighting?.at, sighting?.at])
  })

  /** Shifts the time at which a sighting began; returns it. */
  const sightEarlier = async (txHash: string) => {
    const [row] = await app.database.query<{ at: Date }>(
      `update sightings set first_seen_at = first_seen_at - interval '10 minutes' where tx_hash = $1 returning first_seen_at as at`,
      [txHash],
    )
    return row?.at ?? new Date(0)
  }
  /** A payment of 5 units that left the mempool again; the time at which it was first seen. */
  const sightAndLose = async ({ deposit: { address } }: Exchange, txHash: string) => {
    await store.chainLog.recordSightings('btc', [{ txHash, address, memo: null, units: 5n }])
    const at = await sightEarlier(txHash)
    await store.chainLog.recordInspection('btc', txHash, firm)
    await store.chainLog.recordLookup('btc', txHash, true)
    return at
  }
  const wasSeenAt = async (exchange: Exchange, at: Date) => {
    const [execution] = await listExecutions(app.database, exchange)
    return execution?.deposit.firstSeenAt.getTime() === at.getTime()
  }

  // M1: a payment that its sender can still replace, or that no block will take soon, was an option without a time limit.
  test('M1: does not stop the clock if a node says that it can be replaced, or that it pays too little', async () => {
    const exchange = await fixedRate()
    const { address } = exchange.deposit
    await store.chainLog.recordSightings('btc', [{ txHash: 'x1', address, memo: null, units: 5n }])
    const at = await sightEarlier('x1')
    await store.chainLog.recordInspection('btc', 'x1', { ...firm, stopsClock: false })
    await append(makeBlock(1, 'a', [makeTransfer(address, 'x1')]))
    expect(await wasSeenAt(exchange, at)).toBe(false)
  })

  test.each([
    ['keeps its time for a replacement with the same output', 5n, ['other:1', 'input:0'], true],
    ['loses its time to a replacement with another output', 4n, ['input:0'], false],
    ['loses its time to another payment', 5n, ['other:1'], false],
  ])('%s', async (_, units, spends, isKept) => {
    const exchange = await fixedRate()
    const { address } = exchange.deposit
    const at = await sightAndLose(exchange, 'x1')
    const replacement = { txHash: 'x2', sender: null, nonce: null, spends }
    await append(makeBlock(1, 'a', [makeTransfer(address, 'x2', 0, units)], [replacement]))
    expect(await wasSeenAt(exchange, at)).toBe(isKept)
  })

  test('that left the mempool and comes back has a new time', async () => {
    const exchange = await fixedRate()
    const transfer = { txHash: 'x1', address: exchange.deposit.address, memo: null, units: 5n }
    const at = await sightAndLose(exchange, 'x1')
    await store.chainLog.recordSightings('btc', [transfer])
    await store.chainLog.recordInspection('btc', 'x1', firm)
    await append(makeBlock(1, 'a', [makeTransfer(transfer.address, 'x1')]))
    expect(await wasSeenAt(exchange, at)).toBe(false)
  })

  test('M1: loses its time if it left the mempool and is mined later', async () => {
    const exchange = await fixedRate()
    const { address } = exchange.deposit
    const at = await sightAndLose(exchange, 'x1')
    await append(makeBlock(1, 'a', [makeTransfer(address, 'x1')]))
    expect(await wasSeenAt(exchange, at)).toBe(false)
  })

  test('is deleted 30 days after its end, not while it is unconfirmed', async () => {
    const { address } = (await fixedRate()).deposit
    await store.chainLog.recordSightings(
      'btc',
      ['ended', 'recent', 'unconfirmed'].map((txHash) => ({ txHash, address, memo: null, units: 5n })),
    )
    await app.database.query(
      "update sightings set gone_at = clock_timestamp() - interval '29 days' where tx_hash = 'recent'",
    )
    await app.database.query(
      "update sightings set gone_at = clock_timestamp() - interval '31 days' where tx_hash = 'ended'",
    )
    await app.database.query("update sightings set first_seen_at = clock_timestamp() - interval '90 days'")
    await store.jobs.deleteExpired()
    const left = await app.database.query<{ tx_hash: string }>('select tx_hash from sightings order by 1')
    expect(left.map(({ tx_hash }) => tx_hash)).toEqual(['recent', 'unconfirmed'])
  })

  // M16: after an outage of ours, customers who paid in time lost their rate.
  test('M16: is in time by the time of its block, although the watcher reads the block later', async () => {
    const exchange = await fixedRate()
    const before = Math.floor(Date.now() / 1_000) - 600
    await append({ ...makeBlock(1, 'a', [makeTransfer(exchange.deposit.address, 'x1')]), time: before })
    const [execution] = await listExecutions(app.database, exchange)
    // Blocks state whole seconds.
    expect(execution?.deposit.firstSeenAt).toEqual(new Date((before + 1) * 1_000))
    expect(execution?.deposit.includedAt).toEqual(new Date((before + 1) * 1_000))
  })

  // M16: what reached the nodes during an outage was late, although its customer had paid in time.
  describe('M16: that we saw after the lock of its fixed rate', () => {
    /** An exchange whose lock ended so many minutes ago, with a payment that we see now. Its inclusion time is 30 minutes. */
    const sightLate = async (minutes: number) => {
      const exchange = await fixedRate()
      const [row] = await app.database.query<{ until: Date }>(
        `update exchanges set fixed_inclusion_ms = 1800000, fixed_until = clock_timestamp() - $2 * interval '1 minute'
         where id = $1 returning fixed_until as until`,
        [exchange.id, minutes],
      )
      await store.chainLog.recordSightings('btc', [
        { txHash: 'x1', address: exchange.deposit.address, memo: null, units: 5n },
      ])
      return { exchange, until: present(row, 'the exchange').until }
    }

    test('has the time at which the nodes saw it', async () => {
      const { exchange, until } = await sightLate(29)
      const seenAt = new Date(until.getTime() - 1_000)
      await store.chainLog.recordInspection('btc', 'x1', { ...firm, seenAt })
      await append(makeBlock(1, 'a', [makeTransfer(exchange.deposit.address, 'x1')]))
      expect(await wasSeenAt(exchange, seenAt)).toBe(true)
    })

    test('is not asked about when no time would help', async () => {
      await sightLate(31)
      expect(await store.chainLog.listSightingsToInspect('btc', 10)).toEqual([])
    })
  })

  test('keeps the time at which we saw it within the lock, whatever the clock of a node says', async () => {
    const exchange = await fixedRate()
    const { address } = exchange.deposit
    await store.chainLog.recordSightings('btc', [{ txHash: 'x1', address, memo: null, units: 5n }])
    const at = await sightEarlier('x1')
    await store.chainLog.recordInspection('btc', 'x1', { ...firm, seenAt: new Date(at.getTime() - 60_000) })
    await append(makeBlock(1, 'a', [makeTransfer(address, 'x1')]))
    expect(await wasSeenAt(exchange, at)).toBe(true)
  })

  test('is hidden while no node has it, and shown again when a node has it', async () => {
    const exchange = await createExchange()
    const recordSighting = () =>
      store.chainLog.recordSightings('btc', [
        { txHash: 'y1', address: exchange.deposit.address, memo: null, units: 5n },
      ])
    await recordSighting()
    await store.chainLog.recordLookup('btc', 'y1', true)
    expect((await store.steps.load(exchange.id))?.sighted).toBe(false)
    await recordSighting()
    expect((await store.steps.load(exchange.id))?.sighted).toBe(true)
  })
})

describe('watchers of one network (I-27)', () => {
  test('record the chain once, through reorganisations, a lagging node and a stale head', async () => {
    const fake = createFakeChain(eth.network)
    const books = createBookSnapshot(emptyBook(defaultSpreads))
    const dependencies = {
      books,
      assetOf: () => eth.asset,
      assetById: () => eth.asset,
      priceKeyOf: () => 'eth',
      settings: { fundingsAreCapital: true, guards: guardDefaults },
      log: createLog({ level: 'silent', pretty: false }),
    }
    const watchers = [store, secondStore, store].map((one) => createRecordBlocks({ ...dependencies, store: one }))
    fake.mine(12)
    const exchange = requireCreated((await store.exchanges.create([makeNewExchange({ from: eth, to: btc })]))[0])
    const runAll = () => Promise.all(watchers.map((record) => record(fake.chain)))
    await runAll()
    for (let n = 0; n < 20; n++) {
      if (n % 3 === 0) fake.pay(exchange.deposit.address, BigInt(n + 1))
      fake.mine(n % 4)
      if (n % 5 === 4) fake.reorg(1 + (n % 3))
      await runAll()
    }
    await runAll()
    const head = await fake.chain.reader.head()
    expect(await store.chainLog.cursor('eth')).toEqual(head)
    const minedIdentities = fake
      .listPayments(exchange.deposit.address)
      .map(({ identity }) => identity)
      .sort()
    const deposits = await app.database.query<{ identity: string }>(
      'select identity from deposits where exchange_id = $1 and block_hash is not null',
      [exchange.id],
    )
    expect(deposits.map(({ identity }) => identity).sort()).toEqual(minedIdentities)
    // A lagging node lowers the common head. Recorded blocks stay.
    const lowerBlock = await fake.chain.reader.block(head.height - 3)
    const lagging = {
      ...fake.chain,
      reader: {
        ...fake.chain.reader,
        head: async () => ({ height: head.height - 3, hash: lowerBlock?.hash ?? '' }),
        agrees: async ({ height }: { height: number }) => height <= head.height - 3,
      },
    }
    await Promise.all(watchers.map((record) => record(lagging)))
    expect(await store.chainLog.cursor('eth')).toEqual(head)
    // A head that was read before a reorganisation. The current blocks decide.
    const stale = {
      ...fake.chain,
      reader: { ...fake.chain.reader, head: async () => ({ height: head.height, hash: 'orphaned' }) },
    }
    await Promise.all(watchers.map((record) => record(stale)))
    expect(await store.chainLog.cursor('eth')).toEqual(head)
  })
})
