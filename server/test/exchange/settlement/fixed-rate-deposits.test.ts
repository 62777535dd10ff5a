import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { journalEntry } from '../../../src/core/domain/ledger/journal.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 10n * COIN, eth: 100n * ETHER })
})
afterAll(() => path.close())

const QUOTED = COIN / 25n
/** 0.04 BTC for 0.96 ether: 4 % less than the market gives, so that the fixed rate is the worse one. */
const create = (maxUnits = 0n) =>
  path.createExchange({ flow: 'fixed-rate', fromUnits: QUOTED, toUnits: (96n * ETHER) / 100n, maxUnits })
const pay = (exchange: Exchange, units: bigint) => path.fakes.btc.pay(exchange.deposit.address, units)
const readRates = async (exchange: Exchange) => (await path.listExecutions(exchange)).map(({ rateKind }) => rateKind)

// M18: a test payment, or a stranger's dust, used up the fixed rate.
describe('M18: the first deposit that can execute at a fixed rate gets it', () => {
  test('after a test payment that was refunded', async () => {
    const exchange = await create()
    pay(exchange, 5_000n)
    await path.mineBlocks(6)
    expect(await path.readStatus(exchange)).toBe('refunded')
    pay(exchange, QUOTED)
    await path.mineBlocks(5)
    expect(await readRates(exchange)).toEqual([null, 'fixed'])
    expect((await path.readExecution(exchange, 1)).dueUnits).toBe(exchange.toUnits)
    await path.expectBalanced()
  })

  test('beside dust in the same block', async () => {
    const exchange = await create()
    pay(exchange, 5_000n)
    pay(exchange, QUOTED)
    await path.mineBlocks(5)
    expect(await readRates(exchange)).toEqual([null, 'fixed'])
  })

  test('beside an earlier one that cannot, and still confirms', async () => {
    const exchange = await create()
    pay(exchange, 5_000n)
    await path.mineBlocks(1)
    await path.database.query('update deposits set required_confirmations = 50 where exchange_id = $1', [exchange.id])
    pay(exchange, QUOTED)
    await path.mineBlocks(5)
    expect(await readRates(exchange)).toEqual([null, 'fixed'])
  })

  test('not a second one, while the first still confirms', async () => {
    const exchange = await create()
    const first = pay(exchange, QUOTED / 2n)
    await path.mineBlocks(1)
    const requireConfirmations = (count: number) =>
      path.database.query('update deposits set required_confirmations = $2 where exchange_id = $1 and tx_hash = $3', [
        exchange.id,
        count,
        first,
      ])
    await requireConfirmations(50)
    pay(exchange, QUOTED)
    await path.mineBlocks(5)
    expect(await readRates(exchange)).toEqual([null, 'floating'])
    await requireConfirmations(2)
    await path.mineBlocks(1)
    expect(await readRates(exchange)).toEqual(['worse', 'floating'])
  })

  test('not a second one in the same block', async () => {
    const exchange = await create()
    pay(exchange, QUOTED / 2n)
    pay(exchange, QUOTED)
    await path.mineBlocks(5)
    expect(await readRates(exchange)).toEqual(['worse', 'floating'])
  })
})

// M19: an overpayment was refused because the reserve was promised to the same customer.
test('M19: counts what is reserved for an exchange as available to it', async () => {
  const { reserves } = path.books.current()
  const exchange = await create()
  path.books.replace({ reserves: { ...reserves, available: new Map([['eth@eth', ETHER / 10n]]) } })
  pay(exchange, (QUOTED * 102n) / 100n)
  await path.mineBlocks(5)
  path.books.replace({ reserves })
  const { rateKind, dueUnits } = await path.readExecution(exchange)
  expect(rateKind).toBe('mixed')
  // 2 % of 0.04 BTC at 25 ether for one, less the spread: the quoted amount and nearly 0.02 ether.
  expect(dueUnits).toBeGreaterThan(exchange.toUnits + (19n * ETHER) / 1_000n)
  expect(dueUnits).toBeLessThan(exchange.toUnits + (20n * ETHER) / 1_000n)
})

test.each([
  // Above its maximum it would be refunded at once, and within it after a wait.
  ['above', 0n],
  ['within', COIN],
])(
  'pays a fixed rate from its own reserve, although the wallet lacks a unit beside it: %s the maximum',
  async (_where, maxUnits) => {
    const exchange = await create(maxUnits)
    const [assetId, other] = ['eth@eth', 'all that is not promised'] as const
    const stock = (await path.store.inventory.available()).get(assetId) ?? 0n
    await path.store.transaction(async (tx) => {
      expect(await tx.inventory.reserve(other, assetId, stock, exchange.id, null)).toBe(true)
      const fee = { debit: 'expense:network-fee', credit: 'asset:wallet', assetId, units: 1n } as const
      await tx.ledger.post(journalEntry(`test:fee:${exchange.id}`, 'network fee', null, [fee]))
    })
    pay(exchange, QUOTED)
    await path.mineBlocks(5)
    expect(await path.readExecution(exchange)).toMatchObject({ rateKind: 'fixed', dueUnits: exchange.toUnits })
    expect(await path.listPayouts(exchange)).toMatchObject([
      { purpose: 'payout', state: expect.not.stringMatching('void') },
    ])
    await path.store.inventory.release(other)
  },
)
