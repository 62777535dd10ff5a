import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.ts'
import { createStore } from '../../../src/adapters/postgres/exchange/store.ts'
import { type Asset, nativeId } from '../../../src/core/domain/asset.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createCompareJournal } from '../../../src/exchange/operations/compare-signing-journal.ts'
import { createReconcile } from '../../../src/exchange/operations/reconcile.ts'
import { restoreSignedPayouts } from '../../../src/exchange/operations/restore-signed-payouts.ts'
import type { PayoutRelease, ReleasedTransaction, SignIntent } from '../../../src/exchange/ports/signer.ts'
import type { KeyPath } from '../../../src/exchange/ports/spend.ts'
import type { AppendRules } from '../../../src/exchange/ports/store/chain-log.ts'
import { assert, present } from '../../../src/lib/assert.ts'
import { timeOrderedId } from '../../../src/lib/id.ts'
import { payeeMacs } from '../../payee-macs.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'
import { createReleasedJournal } from './released-journal.ts'

/*
 * The database was restored from a backup that lacks the newest sweeps and gas supplies. Their transactions are on the chain and
 * in the signer's journal.
 */

type Forgotten = Readonly<{ release: PayoutRelease; transaction: ReleasedTransaction }>

const TOKENS = 500_000_000n
const GAS_PRICE = 10n
const FEE = 21_000n * GAS_PRICE

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeEach(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterEach(async () => {
  await fixture.expectBalanced()
  await fixture.close()
})

/** An exchange whose deposit is credited and whose recipient is paid. */
async function createPaid(from: typeof usdt, units: bigint): Promise<Exchange> {
  const exchange = await fixture.createExchange({ from, to: btc, fromUnits: units })
  fixture.payDeposit(exchange, units)
  await fixture.mineBlocks(8)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  return exchange
}

async function keyOf(exchange: Exchange): Promise<KeyPath> {
  const [row] = await fixture.database.query<{ index: string }>(
    'select key_index as index from deposit_targets where exchange_id = $1',
    [exchange.id],
  )
  return { branch: 'deposit', index: Number(row?.index) }
}

/** A transaction that the signer released and the database does not have. It is in the next block. */
async function sendForgotten(
  from: KeyPath,
  to: string,
  asset: Asset,
  units: bigint,
  payoutId = timeOrderedId(),
): Promise<Forgotten> {
  const { addresses, sender } = fixture.fakes.eth.chain
  const wallet = from.branch === 'hot' ? addresses.hot() : addresses.deposit(from.index).address
  const [lane] = await fixture.database.query<{ next: string }>(
    "select next from nonce_lanes where network = 'eth' and address = $1",
    [wallet],
  )
  const nonce = Number(lane?.next ?? 0)
  const intent: SignIntent = {
    family: 'evm',
    network: 'eth',
    chainId: 1,
    from,
    nonce,
    pay: { payoutId, address: to, memo: null, asset, units },
    gasLimit: 21_000n,
    maxFeePerGas: GAS_PRICE,
    maxPriorityFeePerGas: 1n,
  }
  const signed = await fixture.signer.sign(intent)
  const rest = { network: 'eth', feeUnits: FEE, conflictKey: `${wallet}:${nonce}`, wallet, from }
  await sender.broadcast(signed.raw)
  return {
    transaction: { ...signed, ...rest, intent },
    release: {
      payoutId,
      network: 'eth',
      txHash: signed.txHash,
      assetId: asset.id,
      address: to,
      memo: null,
      units,
      at: new Date(),
    },
  }
}

const hot: KeyPath = { branch: 'hot', index: eth.network.hotIndex }
const supplyGas = (exchange: Exchange, units = ETHER / 100n) =>
  sendForgotten(hot, exchange.deposit.address, eth.asset, units)
const sweep = async (exchange: Exchange, asset: Asset, units: bigint) =>
  sendForgotten(await keyOf(exchange), fixture.fakes.eth.chain.addresses.hot(), asset, units)

/** The same transaction under another nonce, released some milliseconds later. */
function another({ release, transaction }: Forgotten, txHash: string, laterMs: number, payoutId: string): Forgotten {
  const { intent } = transaction
  assert(intent.family === 'evm', 'a transaction with a nonce')
  const nonce = intent.nonce + 100 + laterMs
  return {
    transaction: {
      ...{ ...transaction, txHash, conflictKey: `${transaction.wallet}:${nonce}` },
      intent: { ...intent, nonce, pay: { ...intent.pay, payoutId } },
    },
    release: { ...release, payoutId, txHash, at: new Date(release.at.getTime() + laterMs) },
  }
}

/** A worker with this journal starts. Payouts are held from then on. */
async function compareJournal(forgotten: readonly Forgotten[]): Promise<void> {
  const releases = forgotten.map(({ release }) => release)
  const compare = createCompareJournal({
    store: fixture.store,
    log: fixture.dependencies.log,
    areNewConfirmed: false,
    changeAddress: () => null,
    journal: createReleasedJournal(
      releases,
      forgotten.map(({ transaction }) => transaction),
    ),
  })
  expect(await compare('all')).toBe(false)
}

async function importAll(pageSize?: number): Promise<readonly (string | null)[]> {
  const outcomes = await restoreSignedPayouts(fixture.store, pageSize)
  return outcomes.map(({ outcome, why }) => (outcome === 'imported' ? null : why))
}

/** As `swapyard signer release` and `swapyard resume` do. */
async function releaseAndResume(): Promise<void> {
  await fixture.store.transaction(async (tx) => {
    await tx.signingJournal.beginGeneration({ skipsIndexes: true })
    for (const { scope } of await tx.pauses.list()) await tx.pauses.resume(scope)
  })
  await fixture.clearHolds()
}

/** Differences between the ledger and the wallet on the chain, by asset. */
async function findDifferences(): Promise<readonly string[]> {
  const found: string[] = []
  const reconcile = createReconcile({
    ...fixture.dependencies,
    addressesEveryMs: 0,
    onDifference: (asset, units) => {
      if (units !== 0n) found.push(`${asset} ${units}`)
    },
  })
  await reconcile(fixture.fakes.eth.chain)
  return found
}
const balanceOf = (account: 'asset:deposits' | 'asset:wallet', { id }: Asset) =>
  fixture.store.ledger.balance(account, id)
const listFundings = () =>
  fixture.database.query(
    "select 1 from deposits where network = 'eth' and exchange_id is null and asset_id = 'usdt@eth'",
  )

const rules: AppendRules = {
  assetOf: (contract) => (contract === null ? eth.asset : null),
  requirements: () => ({ confirmations: 2, tag: null }),
  inFlightBlocks: 8,
  areFundingsUnclaimed: false,
  fundingConfirmations: 2,
  keepBlocks: 50,
  tracksUtxos: false,
}

describe('transactions of ours that a restored database lacks', () => {
  test('are no deposits and no fundings, and are imported as the gas supply and the sweep that they are', async () => {
    const exchange = await createPaid(usdt, TOKENS)
    const forgotten = [await supplyGas(exchange), await sweep(exchange, usdt.asset, TOKENS)]
    await compareJournal(forgotten)
    await fixture.mineBlocks(6)
    expect(await fixture.listExecutions(exchange)).toHaveLength(1)
    expect(await listFundings()).toEqual([])
    expect(await fixture.listAlarmKinds()).not.toContain('intrusion')
    expect((await fixture.store.pauses.list()).map(({ scope }) => scope)).not.toContain('payouts:eth')
    expect(await importAll()).toEqual([null, null])
    await fixture.mineBlocks(6)
    expect(await balanceOf('asset:deposits', usdt.asset)).toBe(0n)
    expect(await balanceOf('asset:wallet', usdt.asset)).toBe(TOKENS)
    expect(await findDifferences()).toEqual([])
    await releaseAndResume()
    // Both wallets continue with the next nonce, and the earlier deposit is not swept again.
    fixture.payDeposit(exchange, TOKENS)
    await fixture.mineBlocks(10)
    for (let n = 0; n < 3; n++) {
      await fixture.services.sweep(fixture.fakes.eth.chain)
      await fixture.mineBlocks(4)
    }
    expect(await balanceOf('asset:wallet', usdt.asset)).toBe(2n * TOKENS)
    expect(fixture.fakes.eth.balanceOf(fixture.fakes.eth.chain.addresses.hot(), usdt.asset.contract)).toBe(2n * TOKENS)
    expect(await findDifferences()).toEqual([])
  })

  test('are reversed if a watcher had credited them before the journal of another worker was compared', async () => {
    const exchange = await createPaid(usdt, TOKENS)
    await fixture.store.pauses.pause('all', 'restore', 'operator')
    const forgotten = [await supplyGas(exchange), await sweep(exchange, usdt.asset, TOKENS)]
    await fixture.mineBlocks(10)
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'refunding', reason: 'WRONG_ASSET' })
    expect(await listFundings()).toHaveLength(1)
    expect(await balanceOf('asset:wallet', usdt.asset)).toBe(TOKENS)
    await compareJournal(forgotten)
    await fixture.mineBlocks(2)
    expect(await fixture.readExecution(exchange, 1)).toMatchObject({ status: 'verifying', reason: 'DEPOSIT_VANISHED' })
    expect(await balanceOf('asset:wallet', usdt.asset)).toBe(0n)
    expect(await importAll()).toEqual([null, null])
    await releaseAndResume()
    await fixture.mineBlocks(10)
    expect(await balanceOf('asset:wallet', usdt.asset)).toBe(TOKENS)
    expect(await findDifferences()).toEqual([])
    expect(fixture.fakes.eth.listPayments(exchange.refund?.address ?? '')).toEqual([])
    expect((await fixture.listPayouts(exchange)).filter(({ purpose }) => purpose === 'refund')).toMatchObject([
      { state: 'void' },
    ])
  })

  test('are imported with the deposits that a sweep took, not with one that arrived later', async () => {
    const exchange = await createPaid(eth, ETHER)
    const forgotten = [await sweep(exchange, eth.asset, ETHER - FEE)]
    await compareJournal(forgotten)
    fixture.payDeposit(exchange, 2n * ETHER)
    await fixture.mineBlocks(8)
    expect(await importAll()).toEqual([null])
    await fixture.mineBlocks(6)
    expect(await balanceOf('asset:deposits', eth.asset)).toBe(2n * ETHER)
    expect(await findDifferences()).toEqual([])
    expect(fixture.fakes.eth.balanceOf(exchange.deposit.address, null)).toBe(2n * ETHER)
  })

  test('wait while the deposits of a sweep are not credited, or add up to another amount', async () => {
    const exchange = await createPaid(usdt, TOKENS)
    await compareJournal([await sweep(exchange, usdt.asset, TOKENS - 1n)])
    await fixture.mineBlocks(4)
    expect(await importAll()).toEqual([expect.stringContaining('are not credited in the database')])
    expect(await fixture.database.query("select 1 from payouts where purpose = 'sweep'")).toEqual([])
    expect(await listFundings()).toEqual([])
  })

  test('that pay a queued payout otherwise name what differs', async () => {
    const id = await fixture.insertPayout('eth', ETHER, 'customer', 'withdrawal')
    await fixture.store.pauses.pause('all', 'restore', 'operator')
    await compareJournal([await sendForgotten(hot, 'another', eth.asset, ETHER, id)])
    expect(await importAll()).toEqual([
      `payout ${id} differs in address: the database has customer, the signer released another`,
    ])
  })

  test('are no attempts of another transaction that uses their nonce since, although their own payout is void', async () => {
    await fixture.insertPayout('eth', ETHER, 'before the backup', 'withdrawal')
    await fixture.mineBlocks(4)
    const id = await fixture.insertPayout('eth', ETHER, 'customer', 'withdrawal')
    await fixture.store.pauses.pause('all', 'restore', 'operator')
    await compareJournal([await sendForgotten(hot, 'customer', eth.asset, ETHER, id)])
    fixture.fakes.eth.mine()
    expect(await fixture.store.payouts.void(id)).toBe(true)
    await fixture.insertPayout('eth', ETHER / 2n, 'another', 'withdrawal')
    await releaseAndResume()
    await fixture.services.dispatch('eth')
    expect(await importAll()).toEqual(['another transaction uses its nonce or its inputs'])
    await fixture.mineBlocks(eth.network.finalityBlocks + 6)
    expect(fixture.fakes.eth.listPayments('customer')).toHaveLength(1)
    expect(fixture.fakes.eth.listPayments('another')).toHaveLength(1)
  })

  test('are all looked at, however many wait before them', async () => {
    const exchange = await createPaid(usdt, TOKENS)
    const swept = await sweep(exchange, usdt.asset, TOKENS)
    const waiting = Array.from({ length: 3 }, (_, n) => another(swept, `0xwaits${n}`, n - 10, randomUUID()))
    await compareJournal([...waiting, swept])
    const waits = expect.stringContaining('is not queued in the database yet')
    expect(await importAll(2)).toEqual([waits, waits, waits, null])
    expect(await importAll(2)).toEqual([waits, waits, waits])
  })

  test('wait if the signer released their payout again, however many are between the two', async () => {
    const id = await fixture.insertPayout('eth', ETHER, 'customer', 'withdrawal')
    await fixture.store.pauses.pause('all', 'restore', 'operator')
    const first = await sendForgotten(hot, 'customer', eth.asset, ETHER, id)
    const between = [1, 2].map((n) => another(first, `0xwaits${n}`, n, randomUUID()))
    const all = [first, ...between, another(first, '0xagain', 3, id)]
    await compareJournal(all)
    const waits = expect.stringContaining('is not queued in the database yet')
    const why = 'the signer released a later transaction of its payouts'
    // A comparison records all releases before it stores their transactions.
    await fixture.database.query("delete from forgotten_transactions where tx_hash = '0xagain'")
    expect(await importAll(2)).toEqual([why, waits, waits])
    await compareJournal(all)
    expect(await importAll(2)).toEqual([why, waits, waits, null])
    // The later one is imported by now.
    expect(await importAll(2)).toEqual([why, waits, waits])
  })

  test('are no deposits either if their block is recorded while the journal is compared', async () => {
    const exchange = await createPaid(usdt, TOKENS)
    const forgotten = [await supplyGas(exchange)]
    fixture.fakes.eth.mine()
    const { reader } = fixture.fakes.eth.chain
    const block = present(await reader.block((await reader.head()).height), 'the newest block')
    let comparing: Promise<void> | undefined
    await createStore(fixture.another(4), payeeMacs).transaction(async (tx) => {
      expect(await tx.chainLog.append('eth', block, rules)).toBe(true)
      comparing = compareJournal(forgotten)
      await until('the comparison waits for the block', async () => {
        const waiting = await fixture.database.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
        return waiting.length > 0
      })
    })
    await comparing
    expect(
      await fixture.database.query('select block_height from deposits where asset_id = $1 and exchange_id = $2', [
        nativeId(eth.network),
        exchange.id,
      ]),
    ).toEqual([{ block_height: null }])
  })
})
