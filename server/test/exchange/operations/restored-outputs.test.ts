import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { btc } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createCompareJournal } from '../../../src/exchange/operations/compare-signing-journal.ts'
import { createReconcile } from '../../../src/exchange/operations/reconcile.ts'
import { requestRescan } from '../../../src/exchange/operations/request-rescan.ts'
import { restoreSignedPayouts } from '../../../src/exchange/operations/restore-signed-payouts.ts'
import type { PayoutRelease, ReleasedTransaction, SignIntent } from '../../../src/exchange/ports/signer.ts'
import type { Utxo } from '../../../src/exchange/ports/spend.ts'
import { present } from '../../../src/lib/assert.ts'
import { timeOrderedId } from '../../../src/lib/id.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'
import { createReleasedJournal } from './released-journal.ts'

/*
 * The database was restored from a backup that lacks the newest transactions of the bitcoin wallet, and with them the addresses
 * of their change. They are on the chain and in the signer's journal.
 */

type Paid = Readonly<{ payoutId: string; address: string; units: bigint }>

const FEE = 1_000n
const CHANGE_INDEX = 5_000

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let hot: string
beforeEach(async () => {
  fixture = await startMoneyPath()
  hot = fixture.fakes.btc.chain.addresses.hot()
  await fixture.fundWallets({ btc: 10n * COIN, eth: 100n * ETHER })
  await fixture.store.pauses.pause('all', 'restore', 'operator')
})
afterEach(async () => {
  await fixture.expectBalanced()
  await fixture.close()
})

/** The only output of the wallet that the database has. */
async function readFunding(): Promise<Utxo> {
  const [row] = await fixture.database.query<{ outpoint: string; units: string }>(
    "select outpoint, units from coins where network = 'btc' and branch = 'hot'",
  )
  const { outpoint, units } = present(row, 'the funding of the wallet')
  return { outpoint, units: BigInt(units), path: { branch: 'hot', index: btc.network.hotIndex } }
}

/** Pays from these outputs by a transaction that the database does not have. */
async function signForgotten(
  paid: readonly Paid[],
  inputs: readonly [Utxo, ...Utxo[]],
  changeIndex = CHANGE_INDEX,
): Promise<ReleasedTransaction> {
  const [{ outpoint, path: from }] = inputs
  const sumOf = (all: readonly Readonly<{ units: bigint }>[]) => all.reduce((sum, { units }) => sum + units, 0n)
  const intent: SignIntent = {
    ...{ family: 'bitcoin', network: 'btc', inputs },
    pays: paid.map((one) => ({ ...one, memo: null, asset: btc.asset })),
    change: { path: { branch: 'change', index: changeIndex }, units: sumOf(inputs) - FEE - sumOf(paid) },
  }
  const signed = await fixture.signer.sign(intent)
  return { ...signed, network: 'btc', intent, feeUnits: FEE, conflictKey: outpoint, wallet: hot, from }
}

/** It is in the next block. */
async function sendForgotten(
  paid: readonly Paid[],
  input?: Utxo,
  changeIndex = CHANGE_INDEX,
): Promise<ReleasedTransaction> {
  const transaction = await signForgotten(paid, [input ?? (await readFunding())], changeIndex)
  await fixture.fakes.btc.chain.sender.broadcast(transaction.raw)
  return transaction
}

const releasesOf = (transactions: readonly ReleasedTransaction[]) =>
  transactions.flatMap(({ network, txHash, intent }, n) =>
    (intent.family === 'evm' ? [] : intent.pays).map(({ payoutId, address, units }): PayoutRelease => {
      return { payoutId, address, units, network, txHash, assetId: btc.asset.id, memo: null, at: new Date(n) }
    }),
  )

/** A worker with this journal starts. */
async function compareJournal(transactions: readonly ReleasedTransaction[]): Promise<void> {
  const compare = createCompareJournal({
    store: fixture.store,
    log: fixture.dependencies.log,
    areNewConfirmed: false,
    changeAddress: (_network, index) => fixture.fakes.btc.chain.addresses.change(index),
    journal: createReleasedJournal(releasesOf(transactions), transactions),
  })
  expect(await compare('all')).toBe(false)
}

/** Difference between the wallet on the chain and the ledger. */
async function readDifference(): Promise<bigint | null> {
  let found: bigint | null = null
  const onDifference = (_asset: unknown, units: bigint) => {
    found = units
  }
  await createReconcile({ ...fixture.dependencies, addressesEveryMs: 0, onDifference })(fixture.fakes.btc.chain)
  return found
}
/** Unspent change. */
const listChange = () =>
  fixture.database.query(
    "select units, key_index from coins where network = 'btc' and branch = 'change' and spent_by is null",
  )
/** A withdrawal that the database has queued. */
const queuePayout = async (): Promise<Paid> => {
  const payoutId = await fixture.insertPayout('btc', COIN, 'customer', 'withdrawal')
  return { payoutId, address: 'customer', units: COIN }
}
const importAll = async () => (await restoreSignedPayouts(fixture.store)).map(({ why }) => why)

test('the change of a payment that a restored database lacks is recorded, and ledger and wallet agree after the import', async () => {
  await compareJournal([await sendForgotten([await queuePayout()])])
  await fixture.mineBlocks(6)
  expect(await listChange()).toEqual([{ units: String(9n * COIN - FEE), key_index: String(CHANGE_INDEX) }])
  expect(await importAll()).toEqual([null])
  await fixture.mineBlocks(6)
  expect(await readDifference()).toBe(0n)
  expect(fixture.fakes.btc.listPayments('customer')).toHaveLength(1)
})

test('the change of a payment that an earlier version stored for import without its change is recorded', async () => {
  const transactions = [await sendForgotten([await queuePayout()])]
  await fixture.store.transaction(async (tx) => {
    await tx.signingJournal.recordMissing(releasesOf(transactions))
    await tx.signingJournal.storeForImport(transactions)
  })
  await compareJournal(transactions)
  await fixture.mineBlocks(6)
  expect(await listChange()).toEqual([{ units: String(9n * COIN - FEE), key_index: String(CHANGE_INDEX) }])
})

test('change whose block was recorded before the journal was compared is recorded, and spent, when the blocks are read again', async () => {
  const first = await sendForgotten([await queuePayout()])
  fixture.fakes.btc.mine()
  const path = { branch: 'change', index: CHANGE_INDEX } as const
  const change = { outpoint: `${first.txHash}:1`, units: 9n * COIN - FEE, path }
  const second = await sendForgotten([await queuePayout()], change, CHANGE_INDEX + 1)
  await fixture.mineBlocks(btc.network.finalityBlocks + 2)
  await compareJournal([first, second])
  expect(await listChange()).toEqual([])
  const to = ((await fixture.store.chainLog.cursor('btc'))?.height ?? 0) - btc.network.finalityBlocks + 1
  await requestRescan(fixture.store, btc.network, { from: to - 3, to }, { actor: 'anna', reason: 'a restored backup' })
  while (await fixture.services.rescan(fixture.fakes.btc.chain));
  expect(await listChange()).toEqual([{ units: String(8n * COIN - 2n * FEE), key_index: String(CHANGE_INDEX + 1) }])
  expect(await importAll()).toEqual([null, null])
  await fixture.mineBlocks(6)
  expect(await readDifference()).toBe(0n)
})

test('a split of the wallet is imported with its network fee', async () => {
  const paid = [2n, 3n].map((coins) => ({ payoutId: timeOrderedId(), address: hot, units: coins * COIN }))
  await compareJournal([await sendForgotten(paid)])
  await fixture.mineBlocks(6)
  expect(await importAll()).toEqual([null])
  await fixture.mineBlocks(6)
  expect(
    await fixture.database.query('select purpose, state from payouts where id = any($1)', [
      paid.map(({ payoutId }) => payoutId),
    ]),
  ).toEqual([1, 2].map(() => ({ purpose: 'split', state: 'confirmed' })))
  expect(await readDifference()).toBe(0n)
  expect(await fixture.readWalletUnits('btc@btc')).toBe(10n * COIN - FEE)
})

test('a split whose transaction also pays a payout that is not queued waits with it, and is not signed again', async () => {
  const unknown = randomUUID()
  const paid = [
    { payoutId: timeOrderedId(), address: hot, units: 2n * COIN },
    { payoutId: unknown, address: 'customer', units: COIN },
  ]
  await compareJournal([await sendForgotten(paid)])
  await fixture.mineBlocks(6)
  expect(await importAll()).toEqual([`payout ${unknown} is not queued in the database yet`])
  expect(await fixture.database.query("select 1 from payouts where purpose = 'split'")).toEqual([])
})

test('an output that only a replaced attempt of an imported transaction would have spent can be spent again', async () => {
  const [paid, first] = [[await queuePayout()], await readFunding()]
  fixture.fakes.btc.pay(hot, 2n * COIN)
  await fixture.mineBlocks(3)
  const [row] = await fixture.database.query<{ outpoint: string }>(
    "select outpoint from coins where network = 'btc' and branch = 'hot' and outpoint <> $1",
    [first.outpoint],
  )
  const second: Utxo = { ...first, outpoint: present(row, 'the second output').outpoint, units: 2n * COIN }
  const mined = await sendForgotten(paid, first)
  await compareJournal([mined, await signForgotten(paid, [first, second])])
  await fixture.mineBlocks(2)
  expect(await importAll()).toEqual([null, null])
  await fixture.mineBlocks(btc.network.finalityBlocks + 6)
  expect(await fixture.database.query('select state from transactions')).toEqual([{ state: 'final' }])
  expect(
    await fixture.database.query('select spent_by, reserved_by from coins where outpoint = $1', [second.outpoint]),
  ).toEqual([{ spent_by: null, reserved_by: null }])
})
