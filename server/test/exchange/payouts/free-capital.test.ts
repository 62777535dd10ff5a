import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PATIENCE } from '../../../../test/support/patience.ts'
import { createMaxFees } from '../../../src/app/max-fees.ts'
import type { AssetId } from '../../../src/core/domain/asset.ts'
import { freeCapitalOf } from '../../../src/exchange/domain/free-capital.ts'
import { usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperateBalances, type PayOutResult } from '../../../src/exchange/operations/operate-balances.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const note = { actor: 'anna', reason: 'the wallet holds too much' }
const maxFeesOf = createMaxFees('sandbox')
const GWEI = 10n ** 9n
/** The highest fee rate of Ethereum that workers accept, and gas of a transfer with a margin of 20 %. */
const CAP = 1_000n * GWEI
const PAYOUT_FEE = 25_200n * CAP
const TOKEN_FEE = 78_000n * CAP
const USDT = 10n ** 6n

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let treasury: ReturnType<typeof createOperateBalances>
beforeEach(async () => {
  fixture = await startMoneyPath({ settings: { coldAddresses: ['eth:cold', 'btc:cold'] } })
  treasury = createOperateBalances(fixture.store, maxFeesOf)
  await fixture.fundWallets({ btc: 10n * COIN, eth: 100n * ETHER })
  fixture.fakes.eth.behaviour.feeRate = CAP
})
afterEach(async () => {
  await fixture.expectBalanced()
  await fixture.close()
})

const networkOf = (assetId: AssetId) => (assetId === 'btc@btc' ? 'btc' : 'eth')
const toCold = (assetId: AssetId) =>
  ({ assetId, network: networkOf(assetId), destination: { address: 'cold', memo: null } }) as const
const readFree = async (assetId: AssetId) => {
  const fees = maxFeesOf(networkOf(assetId))
  return freeCapitalOf(assetId, await fixture.store.inventory.capital(assetId, fees), fees).units
}
const withdraw = (assetId: AssetId, units: bigint, key = 'all') =>
  treasury.withdraw({ ...toCold(assetId), units }, key, note)
const ceiling = (units: bigint, key: string) => treasury.withdrawAbove(toCold('eth@eth'), units, key, note)
const readState = async (payoutId: string) =>
  (await fixture.database.query<{ state: string }>('select state from payouts where id = $1', [payoutId]))[0]?.state
/** 0.2 BTC for 4.8 ether: 4 % less than the market gives. */
const promise = () =>
  fixture.createExchange({ flow: 'fixed-rate', fromUnits: COIN / 5n, toUnits: (48n * ETHER) / 10n, maxUnits: COIN })

describe('all free capital is withdrawn', () => {
  test.each([
    ['eth@eth', 100n * ETHER - PAYOUT_FEE],
    // At most 2 184 satoshi a vbyte: 209 of a payment with two inputs, and 68 of the only output.
    ['btc@btc', 10n * COIN - 2_184n * (209n + 68n)],
  ] as const)('and signed, in %s: the wallet keeps its network fee', async (assetId, units) => {
    expect(await readFree(assetId)).toBe(units)
    const { payoutId } = await withdraw(assetId, units)
    await fixture.mineBlocks(5)
    expect(await readState(payoutId)).toBe('confirmed')
  })

  test.each([
    ['after the withdrawal has paid its fee', 5],
    ['while the withdrawal is queued', 0],
  ])('and an open fixed rate is paid, %s', async (_when, blocks) => {
    const exchange = await promise()
    const free = await readFree('eth@eth')
    expect(free).toBe(100n * ETHER - (48n * ETHER) / 10n - 2n * PAYOUT_FEE)
    await withdraw('eth@eth', free)
    await fixture.mineBlocks(blocks)
    fixture.payDeposit(exchange, COIN / 5n)
    await fixture.mineBlocks(9)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect(await fixture.readExecution(exchange)).toMatchObject({ rateKind: 'fixed', dueUnits: exchange.toUnits })
    expect(await fixture.store.inventory.listOverpromised()).toEqual([])
  })

  test('and queued payouts of a token are signed: the native coin keeps their fees', async () => {
    fixture.fakes.eth.pay('eth-hot', 500n * USDT, { contract: usdt.asset.contract })
    await fixture.mineBlocks(3)
    await fixture.store.pauses.pause('payouts:eth', 'so that it waits', 'the test')
    const payoutId = await fixture.insertPayout('eth', 400n * USDT, 'a partner', 'withdrawal', 'usdt@eth')
    expect(await readFree('eth@eth')).toBe(100n * ETHER - PAYOUT_FEE - TOKEN_FEE)
    const own = await withdraw('eth@eth', await readFree('eth@eth'))
    await fixture.store.pauses.resume('payouts:eth')
    await fixture.mineBlocks(5)
    expect([await readState(own.payoutId), await readState(payoutId)]).toEqual(['confirmed', 'confirmed'])
  })

  test('one unit more is refused, with what is kept for fees', async () => {
    const free = await readFree('eth@eth')
    await expect(withdraw('eth@eth', free + 1n)).rejects.toThrow(
      `cannot be paid out; it keeps ${PAYOUT_FEE} units of eth@eth for network fees`,
    )
  })
})

test('the fee of a converted deposit is kept once, although it has an order and a payout', async () => {
  await fixture.queuePayout()
  const position = await fixture.store.inventory.capital('eth@eth', maxFeesOf('eth'))
  expect([position.nativePayouts, position.tokenPayouts]).toEqual([1n, 0n])
})

test('a token is not withdrawn while the native coin lacks the fee, and is once it has it', async () => {
  fixture.fakes.eth.pay('eth-hot', 500n * USDT, { contract: usdt.asset.contract })
  await fixture.mineBlocks(3)
  await withdraw('eth@eth', await readFree('eth@eth'))
  await fixture.mineBlocks(5)
  // 21 000 gas of the 25 200 that were kept are spent.
  const missing = TOKEN_FEE - 4_200n * CAP
  expect(await readFree('usdt@eth')).toBe(0n)
  await expect(withdraw('usdt@eth', USDT, 'usdt')).rejects.toThrow(
    `the wallet lacks ${missing} units of eth@eth of the ${TOKEN_FEE} units of eth@eth that its network fees can need`,
  )
  await fixture.fundWallets({ eth: missing })
  expect(await readFree('usdt@eth')).toBe(500n * USDT)
  const { payoutId } = await withdraw('usdt@eth', 500n * USDT, 'usdt')
  await fixture.mineBlocks(5)
  expect(await readState(payoutId)).toBe('confirmed')
})

describe('a withdrawal that is not signed', () => {
  test.each([
    ['ceiling', () => ceiling(40n * ETHER, 'week-20')],
    ['withdrawal', () => withdraw('eth@eth', 60n * ETHER, 'week-20')],
  ])('counts as withdrawn for a ceiling after a %s', async (_what, first) => {
    await fixture.store.pauses.pause('payouts:eth', 'so that it waits', 'the test')
    await first()
    await expect(ceiling(40n * ETHER, 'week-21')).rejects.toThrow('nothing above the ceiling')
    expect(await ceiling(30n * ETHER, 'week-22')).toMatchObject({ units: 10n * ETHER })
    await fixture.store.pauses.resume('payouts:eth')
    await fixture.mineBlocks(6)
    const left = await fixture.readWalletUnits('eth@eth')
    expect(left).toBe(30n * ETHER - 2n * 21_000n * CAP)
  })

  test.each([
    ['withdrawals', () => withdraw('eth@eth', 60n * ETHER, 'one key')],
    ['ceilings', () => ceiling(40n * ETHER, 'one key')],
  ])('is answered to concurrent %s with its key', async (_what, call) => {
    const countWaiting = async () =>
      (
        await fixture.database.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).length
    let calls: Promise<readonly PayOutResult[]> = Promise.resolve([])
    await fixture.database.transaction(async (tx) => {
      await tx.query("select 1 from inventory where asset_id = 'eth@eth' for update")
      calls = Promise.all([call(), call()])
      await expect.poll(countWaiting, PATIENCE).toBe(2)
    })
    const [first, second] = await calls
    expect(second?.payoutId).toBe(first?.payoutId)
    expect([first?.repeated, second?.repeated].toSorted()).toEqual([false, true])
    expect(await fixture.database.query("select 1 from payouts where purpose = 'withdrawal'")).toHaveLength(1)
  })
})
