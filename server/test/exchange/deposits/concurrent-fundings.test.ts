import { afterEach, beforeEach, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { fundingEntry } from '../../../src/core/domain/ledger/entries.ts'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import { present } from '../../../src/lib/assert.ts'
import { COIN, startMoneyPath } from '../money-path.ts'

/* Two watchers of one network credit the same transfer to the hot wallet (I-27). */

const NETWORK = 'btc'
const ASSET = 'btc@btc'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeEach(async () => {
  fixture = await startMoneyPath()
  const { fakes, services } = fixture
  fakes.btc.pay(fakes.btc.chain.addresses.hot(), COIN)
  fakes.btc.mine(3)
  await services.record(fakes.btc.chain)
})
afterEach(async () => {
  await fixture.expectBalanced()
  await fixture.close()
})

type FundingRow = Readonly<{ id: string; status: string; credits: number; credited_units: string | null }>
const readFunding = async (): Promise<FundingRow> =>
  present(
    (await fixture.database.query<FundingRow>('select id, status, credits, credited_units from deposits'))[0],
    'the transfer',
  )

/** A watcher whose nodes state this amount once `answer` is called. `asked` resolves when it has read the rows. */
function startSlowWatcher(units: bigint) {
  const { fakes, services } = fixture
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<bigint>()
  const receivedUnits = () => {
    asked.resolve()
    return answered.promise
  }
  const chain = { ...fakes.btc.chain, reader: { ...fakes.btc.chain.reader, receivedUnits } }
  return { asked: asked.promise, done: services.fund(chain), answer: () => answered.resolve(units) }
}

const countWaiting = async () =>
  (
    await fixture.database.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length

test('a funding that was credited and reversed while a watcher asked its nodes is credited under its next number', async () => {
  const { store, fakes, services, readWalletUnits } = fixture
  const watcher = startSlowWatcher(COIN)
  await watcher.asked
  await services.fund(fakes.btc.chain)
  expect(await readFunding()).toMatchObject({ status: 'credited', credits: 1 })

  // The other watcher rolls the block back, and appends the same one again.
  const head = present(await store.chainLog.cursor(NETWORK), 'the newest block')
  expect(await store.transaction((tx) => tx.chainLog.rewind(NETWORK, 0, head))).toBe(true)
  await services.fund(fakes.btc.chain)
  expect(await readFunding()).toMatchObject({ status: 'reversed', credits: 1 })
  expect(await readWalletUnits(ASSET)).toBe(0n)
  await createRecordBlocks(fixture.dependencies)(fakes.btc.chain)
  expect(await readFunding()).toMatchObject({ status: 'seen', credits: 1 })

  watcher.answer()
  await watcher.done
  await services.fund(fakes.btc.chain)
  expect(await readFunding()).toMatchObject({ status: 'credited', credits: 2, credited_units: String(COIN) })
  expect(await readWalletUnits(ASSET)).toBe(COIN)
})

test('a watcher whose nodes state other units leaves a funding as another one has credited it', async () => {
  const { store, readWalletUnits } = fixture
  const { id } = await readFunding()
  const watcher = startSlowWatcher(COIN / 2n)
  await watcher.asked
  await store.transaction(async (tx) => {
    expect(await tx.wallets.findFunding(id)).toMatchObject({ id, status: 'seen' })
    watcher.answer()
    await expect.poll(countWaiting, PATIENCE).toBe(1)
    await tx.chainLog.saveDeposit({ id, status: 'credited', creditedUnits: COIN, credits: 1, isBookedAsLoss: false })
    await tx.ledger.post(fundingEntry(id, 1, ASSET, COIN))
  })
  await watcher.done
  expect(await readFunding()).toMatchObject({ status: 'credited', credits: 1, credited_units: String(COIN) })
  expect(await readWalletUnits(ASSET)).toBe(COIN)
})
