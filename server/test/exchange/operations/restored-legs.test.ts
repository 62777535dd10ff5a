import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createCompareJournal } from '../../../src/exchange/operations/compare-signing-journal.ts'
import { createReconcile } from '../../../src/exchange/operations/reconcile.ts'
import { restoreSignedPayouts } from '../../../src/exchange/operations/restore-signed-payouts.ts'
import type { PayoutRelease, ReleasedTransaction, SignIntent } from '../../../src/exchange/ports/signer.ts'
import { present } from '../../../src/lib/assert.ts'
import { ltc } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from '../private/private-money-path.ts'
import { createReleasedJournal } from './released-journal.ts'

/*
 * The database was restored from a backup that has the customer's deposit and lacks the payment that it led to. The payment is on
 * the chain and in the signer's journal, with an amount of the rate at that time.
 */

const FEE = 1_000n
const RELEASED_UNITS = 495_000_000n

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
let innerAddress: string
let innerIndex: number
beforeEach(async () => {
  fixture = await startPrivateMoneyPath()
})
afterEach(async () => {
  await fixture.expectBalanced()
  await fixture.close()
})

const setPaused = (networks: readonly string[]) =>
  fixture.books.replace({ pauses: { networks: new Set(networks), assets: new Set() } })

/** Creates an exchange and pays its deposit, which is credited and not converted: everything is paused after a restore. */
async function createPaid(options: Parameters<typeof fixture.createExchange>[0]): Promise<Exchange> {
  const exchange = await fixture.createExchange(options)
  setPaused(['btc', 'eth', 'ltc'])
  await fixture.store.pauses.pause('payouts:ltc', 'restore', 'operator')
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(3)
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'exchanging', payout: null })
  const [row] = await fixture.database.query<{ index: string }>(
    'select key_index as index from deposit_targets where exchange_id = $1',
    [exchange.id],
  )
  // Other exchanges took the indexes between, which the database has lost.
  innerIndex = Number(row?.index) + 250
  innerAddress = fixture.fakes.ltc.chain.addresses.deposit(innerIndex).address
  return exchange
}

/** The payment of the lost part of the database. It is in the next block, and its journal is compared with the database. */
async function sendForgotten(exchange: Exchange, address: string): Promise<string> {
  const { deposit } = await fixture.readExecution(exchange)
  const payoutId = fixture.signer.payoutId(await fixture.store.signingJournal.readPayoutOrigin(deposit.id, 0))
  const [coin] = await fixture.database.query<{ outpoint: string; units: string }>(
    "select outpoint, units from coins where network = 'ltc' and branch = 'hot'",
  )
  const { outpoint, units } = present(coin, 'the funding of the wallet')
  const from = { branch: 'hot', index: ltc.network.hotIndex } as const
  const intent: SignIntent = {
    ...{ family: 'bitcoin', network: 'ltc', inputs: [{ outpoint, units: BigInt(units), path: from }] },
    pays: [{ payoutId, address, memo: null, asset: ltc.asset, units: RELEASED_UNITS }],
    change: { path: { branch: 'change', index: 5_000 }, units: BigInt(units) - FEE - RELEASED_UNITS },
  }
  const signed = await fixture.signer.sign(intent)
  const transaction: ReleasedTransaction = {
    ...{ ...signed, network: 'ltc', intent, feeUnits: FEE, conflictKey: outpoint, from },
    wallet: fixture.fakes.ltc.chain.addresses.hot(),
  }
  await fixture.signer.release(transaction)
  await fixture.fakes.ltc.chain.sender.broadcast(signed.raw)
  const release: PayoutRelease = {
    ...{ payoutId, network: 'ltc', txHash: signed.txHash, assetId: ltc.asset.id, address, memo: null },
    ...{ units: RELEASED_UNITS, at: new Date() },
  }
  const compare = createCompareJournal({
    store: fixture.store,
    log: fixture.dependencies.log,
    areNewConfirmed: false,
    changeAddress: (_network, index) => fixture.fakes.ltc.chain.addresses.change(index),
    journal: createReleasedJournal([release], [transaction]),
  })
  expect(await compare('all')).toBe(false)
  return payoutId
}

const importAll = async () => (await restoreSignedPayouts(fixture.store)).map(({ why }) => why)

/** As `swapyard signer release` and `swapyard resume` do. */
async function releaseAndResume(): Promise<void> {
  await fixture.store.transaction(async (tx) => {
    await tx.signingJournal.beginGeneration({ skipsIndexes: true })
    for (const { scope } of await tx.pauses.list()) await tx.pauses.resume(scope)
  })
  setPaused([])
  await fixture.clearHolds()
}

async function mineAndRescan(blocks: number): Promise<void> {
  for (let n = 0; n < blocks; n++) {
    await fixture.mineBlocks(1)
    while (await fixture.services.rescan(fixture.fakes.ltc.chain));
  }
}

/** Difference between the litecoin wallet on the chain and the ledger. */
async function readDifference(): Promise<bigint | null> {
  let found: bigint | null = null
  const onDifference = (_asset: unknown, units: bigint) => {
    found = units
  }
  await createReconcile({ ...fixture.dependencies, addressesEveryMs: 0, onDifference })(fixture.fakes.ltc.chain)
  return found
}

test.each(['before the hold is released', 'after it'])(
  'the payment between the legs is imported %s, and its deposit pays the recipient once',
  async (time) => {
    const exchange = await createPaid({ via: ltc, plan })
    const payoutId = await sendForgotten(exchange, innerAddress)
    // The watcher reads its block while nothing says that the address is ours.
    await fixture.mineBlocks(6)
    if (time === 'after it') await releaseAndResume()
    setPaused([])
    await fixture.mineBlocks(1)
    expect(await fixture.listPayouts(exchange)).toMatchObject([
      { id: payoutId, state: 'reserved', address: innerAddress, units: RELEASED_UNITS.toString() },
    ])
    expect(await importAll()).toEqual([null])
    if (time !== 'after it') await releaseAndResume()
    await mineAndRescan(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    const [first, second] = await fixture.listExecutions(exchange)
    expect([first?.sentUnits, second?.receivedUnits]).toEqual([RELEASED_UNITS, RELEASED_UNITS])
    expect(fixture.fakes.ltc.listPayments(innerAddress)).toHaveLength(1)
    expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
    expect(await readDifference()).toBe(0n)
    expect(await fixture.listAlarmKinds()).not.toContain('next-leg')
  },
)

test('a payment between the legs whose address is not found is held, and nothing is paid again', async () => {
  const exchange = await createPaid({ via: ltc, plan })
  await sendForgotten(exchange, fixture.fakes.ltc.chain.addresses.deposit(innerIndex + 20_000).address)
  await fixture.mineBlocks(6)
  await releaseAndResume()
  await fixture.mineBlocks(2)
  expect(await importAll()).toEqual([expect.stringContaining('differs in address')])
  await fixture.mineBlocks(6)
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'RELEASED' }])
  expect(await fixture.listAlarmKinds()).toEqual(expect.arrayContaining(['held', 'payout']))
  expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toEqual([])
})

test('the payment of a floating exchange to its recipient is imported, although its rate has changed', async () => {
  const exchange = await createPaid({ from: btc, to: ltc })
  const recipient = exchange.recipient?.address ?? ''
  await sendForgotten(exchange, recipient)
  await fixture.mineBlocks(6)
  setPaused([])
  await fixture.mineBlocks(1)
  expect(await importAll()).toEqual([null])
  await releaseAndResume()
  await mineAndRescan(6)
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'finished', sentUnits: RELEASED_UNITS })
  expect(fixture.fakes.ltc.listPayments(recipient)).toHaveLength(1)
  expect(await readDifference()).toBe(0n)
})

test('a payment in the journal to another address than the recipient changes nothing', async () => {
  const exchange = await createPaid({ from: btc, to: ltc })
  await sendForgotten(exchange, 'another')
  setPaused([])
  await fixture.mineBlocks(2)
  const [payout] = await fixture.listPayouts(exchange)
  expect(payout).toMatchObject({ state: 'reserved', address: exchange.recipient?.address })
  expect(BigInt(payout?.units ?? 0)).not.toBe(RELEASED_UNITS)
  expect(await importAll()).toEqual([expect.stringContaining('differs in address')])
})
